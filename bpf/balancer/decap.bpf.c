/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/* For backends: takes the outer headers off what balancers send, in place of the kernel's tunnel devices. The kernel
 * then sees the client's packet, for the service's address on lo.
 *
 * IPv4 and IPv6 in either (RFC 2003, 2473, 4213), and in UDP (GUE, variant 1). An outer packet with IP options, with
 * extension headers or in fragments is left as it is: balancers send none. A UDP checksum is not looked at: the inner
 * packet has its own.
 *
 * It needs no daemon: `ip link set dev DEVICE xdp obj decap.o sec xdp`, then `bpftool map update` on `own` and
 * `allowed`. */
#include "common/outer.h"
#include "include/count.h"
#include "include/decap_abi.h"

/* UDP, in network order; 0: no GUE. */
const volatile __be16 GUE_PORT = bpf_htons(6080);
/* Not 0: from anywhere, not from `allowed` alone. */
const volatile __u8 ANY_SOURCE = 0;

/* This backend's addresses that balancers send to. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 256);
	__type(key, struct address);
	__type(value, __u8);
} own SEC(".maps");

/* The balancers. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1024);
	__type(key, struct address);
	__type(value, __u8);
} allowed SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, DECAP_COUNTERS);
	__type(key, __u32);
	__type(value, struct count);
} decap_counts SEC(".maps");

#define IPV4_VERSION 0x45 /* without options */
#define FRAGMENT_BITS 0x3fff

#define ECN_MASK 3
#define ECN_CE 3
#define ECN_ECT0 2
#define ECN_ECT1 1

struct tunnel {
	struct packet outer;
	__be32 first;     /* word of the outer header */
	bool checksum_ok; /* its checksum */
};

/* Bytes of the outer IP header; as link_size, a constant in each branch. */
static __always_inline __u32 outer_size(const struct tunnel *tunnel)
{
	return tunnel->outer.v6 ? IPV6_SIZE : IPV4_SIZE;
}

static __always_inline bool may_be_tunnel(__u8 protocol)
{
	return protocol == IPPROTO_IPIP || protocol == IPPROTO_IPV6 || protocol == IPPROTO_UDP;
}

static __always_inline bool read_outer_v4(struct tunnel *tunnel, const __be32 *ip, const void *end)
{
	struct packet *outer = &tunnel->outer;

	if ((void *)ip + IPV4_SIZE > end || *(__u8 *)ip != IPV4_VERSION)
		return false;
	outer->protocol = bpf_ntohl(ip[2]) >> 16;
	if (!may_be_tunnel(outer->protocol))
		return false;
	tunnel->first = ip[0];
	tunnel->checksum_ok = fold((__u64)ip[0] + ip[1] + ip[2] + ip[3] + ip[4]) == 0xffff;
	outer->length = bpf_ntohl(ip[0]);
	outer->fragment = ip[1] & bpf_htonl(FRAGMENT_BITS);
	outer->source = mapped(ip[3]);
	outer->destination = mapped(ip[4]);
	return true;
}

static __always_inline bool read_outer_v6(struct tunnel *tunnel, const __be32 *ip, const void *end)
{
	struct packet *outer = &tunnel->outer;

	if ((void *)ip + IPV6_SIZE > end || *(__u8 *)ip >> 4 != 6)
		return false;
	outer->protocol = bpf_ntohl(ip[1]) >> 8;
	if (!may_be_tunnel(outer->protocol))
		return false;
	tunnel->first = ip[0];
	tunnel->checksum_ok = true;
	outer->v6 = true;
	outer->length = IPV6_SIZE + (bpf_ntohl(ip[1]) >> 16);
	outer->source = *(struct address *)(ip + 2);
	outer->destination = *(struct address *)(ip + 6);
	return true;
}

static __always_inline bool read_outer(struct xdp_md *ctx, struct tunnel *tunnel)
{
	void *data = (void *)(long)ctx->data;
	void *end = end_of_frame(ctx);
	__be16 type;

	if (data + LINK_READ + 2 > end)
		return false;
	tunnel->outer.l3 = ETH_HLEN;
	type = *(__be16 *)(data + 12);
	if (type == bpf_htons(ETH_P_8021Q)) {
		tunnel->outer.l3 += VLAN_SIZE;
		type = *(__be16 *)(data + 16);
	}
	if (type == bpf_htons(ETH_P_IP))
		return read_outer_v4(tunnel, data + link_size(&tunnel->outer), end);
	if (type == bpf_htons(ETH_P_IPV6))
		return read_outer_v6(tunnel, data + link_size(&tunnel->outer), end);
	return false;
}

/* True for the encapsulations that balancers use: IP in IP, or UDP to the port. The sender is checked elsewhere. */
static __always_inline bool is_tunnel(struct xdp_md *ctx, const struct tunnel *tunnel)
{
	__be16 *udp = (void *)(long)ctx->data + link_size(&tunnel->outer) + outer_size(tunnel);

	if (tunnel->outer.protocol != IPPROTO_UDP)
		return true;
	return GUE_PORT && (void *)udp + UDP_SIZE <= end_of_frame(ctx) && udp[1] == GUE_PORT;
}

/* True if `inner` is an IP header of a version that the outer header allows, and its packet fits in `most` bytes. */
static __always_inline bool inner_fits(const struct tunnel *tunnel, const __u8 *inner, __u32 most)
{
	const __be16 *words = (const __be16 *)inner;

	switch (*inner >> 4) {
	case 4:
		return tunnel->outer.protocol != IPPROTO_IPV6 && bpf_ntohs(words[1]) <= most;
	case 6:
		return tunnel->outer.protocol != IPPROTO_IPIP && IPV6_SIZE + bpf_ntohs(words[2]) <= most;
	default:
		return false;
	}
}

/* The inner header's ECN field from both: RFC 6040, figure 4. Negative: drop. */
static __always_inline int ecn_of(__u32 inner, __u32 outer)
{
	if (!inner)
		return outer == ECN_CE ? -1 : 0;
	if (outer == ECN_CE || (outer == ECN_ECT1 && inner == ECN_ECT0))
		return outer;
	return inner;
}

/* False: drop. */
static __always_inline bool propagate_ecn(const struct tunnel *tunnel, __be16 *inner)
{
	__u32 outer = traffic_class(tunnel->first, &tunnel->outer) & ECN_MASK;
	bool v4 = *(__u8 *)inner >> 4 == 4;
	__u32 shift = v4 ? 0 : 4;
	__u16 old = bpf_ntohs(inner[0]);
	int ecn = ecn_of(old >> shift & ECN_MASK, outer);
	__be16 changed;

	if (ecn < 0)
		return false;
	changed = bpf_htons((old & ~(ECN_MASK << shift)) | ecn << shift);
	if (changed == inner[0])
		return true;
	if (v4)
		inner[5] = checksum_update(inner[5], inner[0], changed);
	inner[0] = changed;
	return true;
}

/* The tunnel is for this machine, and from a balancer. */
static __always_inline enum decap_counter open_tunnel(struct xdp_md *ctx, const struct tunnel *tunnel)
{
	const __u32 strip = outer_size(tunnel) + (tunnel->outer.protocol == IPPROTO_UDP ? UDP_SIZE : 0);
	void *data = (void *)(long)ctx->data;
	void *inner = data + link_size(&tunnel->outer) + strip;
	struct link link;

	if (inner + IPV4_SIZE > end_of_frame(ctx) || tunnel->outer.length < strip + IPV4_SIZE)
		return DECAP_MALFORMED;
	if (!inner_fits(tunnel, inner, tunnel->outer.length - strip))
		return DECAP_MALFORMED;
	if (!propagate_ecn(tunnel, inner))
		return DECAP_ECN_DROPPED;
	link = read_link(data, &tunnel->outer);
	return decapsulate_to(ctx, strip, &link, inner) ? DECAP_MALFORMED : DECAP_DECAPSULATED;
}

static __always_inline enum decap_counter decapsulate(struct xdp_md *ctx)
{
	struct tunnel tunnel = {};

	if (!read_outer(ctx, &tunnel) || !is_tunnel(ctx, &tunnel))
		return DECAP_OTHER;
	if (!bpf_map_lookup_elem(&own, &tunnel.outer.destination))
		return DECAP_NOT_OWN;
	if (!ANY_SOURCE && !bpf_map_lookup_elem(&allowed, &tunnel.outer.source))
		return DECAP_NOT_ALLOWED;
	if (tunnel.outer.fragment)
		return DECAP_FRAGMENT;
	if (!tunnel.checksum_ok)
		return DECAP_MALFORMED;
	return open_tunnel(ctx, &tunnel);
}

static __always_inline void count_frame(__u32 outcome, __u32 bytes)
{
	struct count *count = bpf_map_lookup_elem(&decap_counts, &outcome);

	if (!count)
		return;
	count->packets += 1;
	count->bytes += bytes;
}

SEC("xdp")
int heddle_decap(struct xdp_md *ctx)
{
	__u32 bytes = ctx->data_end - ctx->data;
	enum decap_counter outcome = decapsulate(ctx);

	count_frame(outcome, bytes);
	return outcome == DECAP_ECN_DROPPED ? XDP_DROP : XDP_PASS;
}

char LICENSE[] SEC("license") = "GPL";
