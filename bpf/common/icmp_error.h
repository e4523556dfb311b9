/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/* ICMP errors (RFC 792, RFC 4443) about a packet, made of the packet itself.
 *
 * The caller limits the rate of answers (RFC 1812, 4.3.2.8; RFC 4443, 2.4 f). No answer quotes more than the packet
 * that caused it. */
#pragma once

#include "common/turn.h"

#define ICMP_SIZE 8
#define INTERNETWORK_CONTROL 0xc0 /* as errors are sent: RFC 1812, 4.3.2.5 */

#define IPV4_LEAST_QUOTE (IPV4_SIZE + 8)         /* RFC 792: the header without options, and 8 bytes */
#define IPV4_QUOTE (576 - IPV4_SIZE - ICMP_SIZE) /* RFC 1812, 4.3.2.3 */
#define IPV4_SHORT_QUOTE (60 + 8)                /* the same with the longest header */
#define IPV6_LEAST_QUOTE (IPV6_SIZE + 8)
#define IPV6_QUOTE (1280 - IPV6_SIZE - ICMP_SIZE) /* RFC 4443, 2.4 c */

/* Most bytes that one call of the helper may sum in older kernels. */
#define MAX_SUM 512

struct icmp_error {
	struct address source;
	__u32 first;  /* type and code, in the upper 16 bits */
	__u32 second; /* the header's second word */
};

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

static __always_inline void write_icmp(__be32 *icmp, const struct icmp_error *error, __u64 sum)
{
	sum += (__u64)bpf_htonl(error->first) + bpf_htonl(error->second);
	icmp[0] = bpf_htonl(error->first | bpf_ntohs(checksum(sum)));
	icmp[1] = bpf_htonl(error->second);
}

/* `sum` is of the quote. */
static __always_inline void write_error(void *ip, const struct packet *packet, bool v6, const struct icmp_error *error,
					__u32 quote, __u64 sum)
{
	struct outer outer = {
		.source = error->source,
		.destination = packet->source,
		.length = ICMP_SIZE + quote,
		.protocol = v6 ? IPPROTO_ICMPV6 : IPPROTO_ICMP,
		.traffic_class = INTERNETWORK_CONTROL,
	};

	if (v6) {
		write_ipv6(ip, &outer);
		write_icmp(ip + IPV6_SIZE, error, sum + sum_of_pseudo_header(&outer));
	} else {
		write_ipv4(ip, &outer);
		write_icmp(ip + IPV4_SIZE, error, sum);
	}
}

/* Quotes the first `quote` bytes. Inlined once for each family and quote. */
static __always_inline int answer(struct xdp_md *ctx, const struct packet *packet, bool v6, const struct icmp_error *error,
				  __u32 quote)
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
	write_error(data + size, packet, v6, error, quote, sum);
	return XDP_TX;
}

/* True if an error may be sent about the packet: not about errors, later fragments, or sources that are no single host
 * (RFC 1122, 3.2.2; RFC 4443, 2.4 e). Which ICMP is an error is for the caller to find out: none of it counts as
 * answerable here. */
static __always_inline bool may_report(const struct packet *packet)
{
	return !packet->later_fragment && !is_icmp(packet->protocol) && one_host(&packet->source, packet->v6);
}
