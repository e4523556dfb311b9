/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/* Outer headers: IP, or IP and UDP, put between a packet and its Ethernet header, and taken off again.
 *
 * The frame keeps its VLAN tag. The outer header takes the inner one's DSCP (RFC 2983, uniform model) and ECN (RFC
 * 6040, normal mode). UDP has no checksum, over IPv6 neither (RFC 6935, 6936): the inner packet carries its own. */
#pragma once

#include <linux/if_ether.h>
#include <linux/in.h>
#include <stddef.h>

#include <bpf/bpf_endian.h>

#include "common/checksum.h"
#include "common/native.h"
#include "common/packet.h"
#include "include/address.h"

#define VLAN_SIZE 4
#define VLAN_ID 0xfff /* in a tag; above it are priority and drop eligibility */
#define IPV4_SIZE 20
#define IPV6_SIZE 40
#define UDP_SIZE 8

#define OUTER_TTL 64
#define DONT_FRAGMENT 0x4000
#define FIRST_PORT 49152 /* of the dynamic ones, of which there are 2^14 (RFC 6335) */

/* ctx->data_end. As C, clang may keep the sum ctx + 4 for several reads of it, which the verifier refuses. */
static __always_inline void *end_of_frame(const struct xdp_md *ctx)
{
#ifdef __bpf__
	void *end;

	asm volatile("%0 = *(u32 *)(%1 + %2)" : "=r"(end) : "r"(ctx), "i"(offsetof(struct xdp_md, data_end)));
	return end;
#else
	return (void *)ctx->data_end;
#endif
}

struct outer {
	struct address source;
	struct address destination;
	__u32 flow;   /* a hash of the inner flow: UDP source port and flow label spread flows over paths by it (RFC 6438) */
	__u32 length; /* bytes behind the outer IP header */
	__u8 protocol;
	__u8 traffic_class;
};

static __always_inline __be32 ipv4_of(const struct address *address)
{
	return bpf_htonl((__u32)bpf_be64_to_cpu(address->low));
}

static __always_inline __u32 ip_size(const struct address *address)
{
	return is_ipv4(address) ? IPV4_SIZE : IPV6_SIZE;
}

/* In words, as are all headers here: a word is one store, and five of them are a checksum's sum. */
static __always_inline void write_ipv4(__be32 *ip, const struct outer *outer)
{
	__u32 ttl = OUTER_TTL << 24 | outer->protocol << 16;

	ip[0] = bpf_htonl(0x45000000 | outer->traffic_class << 16 | (IPV4_SIZE + outer->length));
	ip[1] = bpf_htonl(DONT_FRAGMENT);
	ip[3] = ipv4_of(&outer->source);
	ip[4] = ipv4_of(&outer->destination);
	__u16 check = checksum((__u64)ip[0] + ip[1] + bpf_htonl(ttl) + ip[3] + ip[4]);
	ip[2] = bpf_htonl(ttl | bpf_ntohs(check));
}

static __always_inline void write_ipv6(__be32 *ip, const struct outer *outer)
{
	struct address *addresses = (struct address *)(ip + 2);

	ip[0] = bpf_htonl(0x60000000 | outer->traffic_class << 20 | (outer->flow & 0xfffff));
	ip[1] = bpf_htonl(outer->length << 16 | outer->protocol << 8 | OUTER_TTL);
	addresses[0] = outer->source;
	addresses[1] = outer->destination;
}

static __always_inline void write_udp(__be32 *udp, const struct outer *outer, __be16 port)
{
	__u32 source = FIRST_PORT | (outer->flow & 0x3fff);

	udp[0] = bpf_htonl(source << 16 | bpf_ntohs(port));
	udp[1] = bpf_htonl(outer->length << 16);
}

/* The link header: all that precedes IP in a frame. */
struct link {
	__u64 macs; /* with `macs_end` both MAC addresses, as they lie there */
	__u32 macs_end;
	__be32 tag;
	__u32 size; /* with the tag and the EtherType: where IP begins */
};
#define LINK_READ 16

/* The VLAN id of a tag, or of what lies in its place in a frame without one: 0. */
static __always_inline __u32 vlan_of(__be32 tag)
{
	__u32 word = bpf_ntohl(tag);

	return word >> 16 == ETH_P_8021Q ? word & VLAN_ID : 0;
}

/* A constant in each branch, which is what the verifier can follow. */
static __always_inline __u32 link_size(const struct packet *packet)
{
	return packet->l3 == ETH_HLEN + VLAN_SIZE ? ETH_HLEN + VLAN_SIZE : ETH_HLEN;
}

/* At `data` are LINK_READ bytes at least. */
static __always_inline struct link read_link(const void *data, const struct packet *packet)
{
	return (struct link){
		.macs = *(const __u64 *)data,
		.macs_end = *(const __u32 *)(data + 8),
		.tag = *(const __be32 *)(data + 12),
		.size = link_size(packet),
	};
}

/* At `data` are `link->size` bytes at least. */
static __always_inline void write_link(void *data, const struct link *link, __be16 ethertype)
{
	*(__u64 *)data = link->macs;
	*(__u32 *)(data + 8) = link->macs_end;
	if (link->size != ETH_HLEN)
		*(__be32 *)(data + 12) = link->tag;
	*(__be16 *)(data + link->size - 2) = ethertype;
}

/* DSCP and ECN, out of the first word of an IP header. */
static __always_inline __u8 traffic_class(__be32 first, const struct packet *packet)
{
	return bpf_ntohl(first) >> (packet->v6 ? 20 : 16);
}

/* Moves the frame's start by `size` bytes. The new start, with `need` bytes behind it; or NULL, with the frame as it
 * was. */
static __always_inline void *move_start(struct xdp_md *ctx, int size, __u32 need)
{
	void *data;

	if (bpf_xdp_adjust_head(ctx, size))
		return NULL;
	data = (void *)(long)ctx->data;
	if (data + need > end_of_frame(ctx))
		return NULL; /* never: callers have seen that much, or have just added it */
	return data;
}

/* Takes off the `size` bytes between the link and the inner IP header, of which IPV4_SIZE bytes are there. 0; or
 * negative, with the frame as it was, where that is no IP header. */
static __always_inline int decapsulate_to(struct xdp_md *ctx, int size, const struct link *link, const __u8 *inner)
{
	__u8 version = *inner >> 4;
	void *data;

	if (version != 4 && version != 6)
		return -1;
	data = move_start(ctx, size, link->size + IPV4_SIZE);
	if (!data)
		return -1;
	write_link(data, link, bpf_htons(version == 4 ? ETH_P_IP : ETH_P_IPV6));
	return 0;
}
