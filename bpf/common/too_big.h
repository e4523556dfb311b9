/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/* Answers to a client whose packet is longer than the MTU to the backend: ICMP "fragmentation needed" (RFC 792, 1191), ICMPv6
 * "packet too big" (RFC 4443, 8201).
 *
 * It comes from the address that the packet was sent to, the service's: the balancer's own may mean nothing to the client's
 * network, or be filtered on the way there, while the service's answers do arrive.
 *
 * IPv4 without DF is answered too. A router would fragment it; here one frame cannot become two, and the backend's program takes
 * no outer fragments. It is lost in any case, and its sender may heed the answer.
 *
 * The caller limits the rate of answers (RFC 1812, 4.3.2.8; RFC 4443, 2.4 f). No answer is longer than the packet that caused it. */
#pragma once

#include "common/outer.h"

#define ICMP_SIZE 8
#define FRAGMENTATION_NEEDED 0x03040000 /* type, code */
#define PACKET_TOO_BIG 0x02000000
#define INTERNETWORK_CONTROL 0xc0 /* as errors are sent: RFC 1812, 4.3.2.5 */

#define IPV4_QUOTE (576 - IPV4_SIZE - ICMP_SIZE)  /* RFC 1812, 4.3.2.3 */
#define IPV4_SHORT_QUOTE (60 + 8)                 /* RFC 792: the header and 8 bytes */
#define IPV6_QUOTE (1280 - IPV6_SIZE - ICMP_SIZE) /* RFC 4443, 2.4 c */

#define IPV4_LEAST_MTU 68 /* RFC 791 */
#define IPV6_LEAST_MTU 1280

/* Most bytes that one call of the helper may sum in older kernels. */
#define MAX_SUM 512

/* `size` is a constant, a multiple of 4. */
static __always_inline __u64 sum_of(void *at, __u32 size)
{
	__u64 sum = 0;

#pragma unroll
	for (__u32 done = 0; done < size; done += MAX_SUM) {
		__u32 left = size - done;

		sum = (__u32)bpf_csum_diff(NULL, 0, at + done, left < MAX_SUM ? left : MAX_SUM, sum);
	}
	return sum;
}

static __always_inline __u64 sum_of_address(const struct address *address)
{
	return (address->high >> 32) + (__u32)address->high + (address->low >> 32) + (__u32)address->low;
}

/* RFC 8200, 8.1. */
static __always_inline __u64 sum_of_pseudo_header(const struct outer *outer)
{
	return sum_of_address(&outer->source) + sum_of_address(&outer->destination) + bpf_htonl(outer->length) +
	       bpf_htonl(outer->protocol);
}

static __always_inline void write_icmp(__be32 *icmp, __u32 first, __u32 mtu, __u64 sum)
{
	sum += (__u64)bpf_htonl(first) + bpf_htonl(mtu);
	icmp[0] = bpf_htonl(first | bpf_ntohs(checksum(sum)));
	icmp[1] = bpf_htonl(mtu);
}

static __always_inline void swap_macs(__u16 *macs)
{
#pragma unroll
	for (int i = 0; i < ETH_ALEN / 2; i++) {
		__u16 destination = macs[i];

		macs[i] = macs[i + ETH_ALEN / 2];
		macs[i + ETH_ALEN / 2] = destination;
	}
}

/* `sum` is of the quote. */
static __always_inline void write_answer(void *ip, const struct packet *packet, bool v6, __u32 mtu, __u32 quote, __u64 sum)
{
	struct outer outer = {
		.source = packet->destination,
		.destination = packet->source,
		.length = ICMP_SIZE + quote,
		.protocol = v6 ? IPPROTO_ICMPV6 : IPPROTO_ICMP,
		.traffic_class = INTERNETWORK_CONTROL,
	};

	if (v6) {
		write_ipv6(ip, &outer);
		write_icmp(ip + IPV6_SIZE, PACKET_TOO_BIG, mtu, sum + sum_of_pseudo_header(&outer));
	} else {
		write_ipv4(ip, &outer);
		write_icmp(ip + IPV4_SIZE, FRAGMENTATION_NEEDED, mtu, sum);
	}
}

/* Quotes the first `quote` bytes. Inlined once for each family and quote. */
static __always_inline int answer(struct xdp_md *ctx, const struct packet *packet, bool v6, __u32 mtu, __u32 quote)
{
	const __u32 headers = (v6 ? IPV6_SIZE : IPV4_SIZE) + ICMP_SIZE;
	const __u32 size = link_size(packet);
	void *data = (void *)(long)ctx->data;
	void *end = end_of_frame(ctx);
	struct link link;
	__u64 sum;

	if (data + size + quote > end)
		return XDP_DROP;
	link = read_link(data, packet);
	sum = sum_of(data + size, quote);
	if (bpf_xdp_adjust_tail(ctx, -(int)(end - (data + size + quote))))
		return XDP_DROP;
	data = move_start(ctx, -(int)headers, size + headers);
	if (!data)
		return XDP_DROP;
	write_link(data, &link, bpf_htons(v6 ? ETH_P_IPV6 : ETH_P_IP));
	swap_macs(data);
	write_answer(data + size, packet, v6, mtu, quote, sum);
	return XDP_TX;
}

/* True for a unicast address that a host can have. */
static __always_inline bool one_host(const struct address *address, bool v6)
{
	const __u8 *bytes = (const __u8 *)address;

	if (v6)
		return address->high && bytes[0] != 0xff;
	return bytes[12] && bytes[12] != 127 && bytes[12] < 224;
}

/* True if an error may be sent about the packet: not about errors, later fragments, or sources that are no single host (RFC 1122, 3.2.2;
 * RFC 4443, 2.4 e). All ICMP that is sent to a backend is errors. */
static __always_inline bool may_report(const struct packet *packet)
{
	return !packet->later_fragment && packet->protocol != IPPROTO_ICMP && packet->protocol != IPPROTO_ICMPV6 &&
	       one_host(&packet->source, packet->v6);
}

static __always_inline int answer_v4(struct xdp_md *ctx, const struct packet *packet, __u32 mtu)
{
	if (mtu < IPV4_LEAST_MTU || packet->length < IPV4_LEAST_MTU)
		return XDP_DROP;
	if (packet->length < IPV4_QUOTE)
		return answer(ctx, packet, false, mtu, IPV4_SHORT_QUOTE);
	return answer(ctx, packet, false, mtu, IPV4_QUOTE);
}

/* No sender heeds less than the least (RFC 8201, 4), and none can help where that is too long still. */
static __always_inline int answer_v6(struct xdp_md *ctx, const struct packet *packet, __u32 mtu)
{
	if (packet->length <= IPV6_LEAST_MTU)
		return XDP_DROP;
	return answer(ctx, packet, true, mtu < IPV6_LEAST_MTU ? IPV6_LEAST_MTU : mtu, IPV6_QUOTE);
}

/* Turns a packet into the ICMP error that tells its sender the path's MTU, in bytes of IP: XDP_TX. XDP_DROP where no error may be
 * sent, or where `mtu` is 0: nothing fits. */
static __noinline __attribute__((unused)) int answer_too_big(struct xdp_md *ctx, const struct packet *packet, __u32 mtu)
{
	if (!mtu || !may_report(packet))
		return XDP_DROP;
	return packet->v6 ? answer_v6(ctx, packet, mtu) : answer_v4(ctx, packet, mtu);
}
