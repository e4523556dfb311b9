/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/* Answers to packets for ports at which nothing listens, as a host gives them: TCP resets (RFC 9293, 3.10.7.1), and
 * "port unreachable" for UDP (RFC 1122, 4.1.3.1; RFC 4443, 3.1). They come from the address that was asked. */
#pragma once

#include "common/icmp_error.h"
#include "common/options.h"

#define PORT_UNREACHABLE 0x03030000 /* type, code */
#define PORT_UNREACHABLE_V6 0x01040000

#define TCP_SIZE 20
#define TCP_OFFSET_5 0x50000000 /* a header without options */

/* The part of a reset that depends on the segment. */
struct reset {
	__u32 sequence;
	__u32 acknowledged;
	__u8 flags;
};

static __always_inline struct reset reset_of(const struct tcphdr *tcp, const struct packet *packet)
{
	__u32 headers = packet->l4 - packet->l3 + TCP_SIZE + packet->options;
	__u32 length = packet->length - headers + !!(packet->tcp_flags & TCP_SYN) + !!(packet->tcp_flags & TCP_FIN);

	if (packet->tcp_flags & TCP_ACK)
		return (struct reset){ .sequence = bpf_ntohl(tcp->ack_seq), .flags = TCP_RST };
	return (struct reset){ .acknowledged = bpf_ntohl(tcp->seq) + length, .flags = TCP_RST | TCP_ACK };
}

static __always_inline void write_reset(__be32 *tcp, const struct packet *packet, const struct reset *reset,
					const struct outer *outer)
{
	__u64 sum;

	tcp[0] = bpf_htonl((__u32)bpf_ntohs(packet->destination_port) << 16 | bpf_ntohs(packet->source_port));
	tcp[1] = bpf_htonl(reset->sequence);
	tcp[2] = bpf_htonl(reset->acknowledged);
	tcp[3] = bpf_htonl(TCP_OFFSET_5 | (__u32)reset->flags << 16);
	sum = (__u64)tcp[0] + tcp[1] + tcp[2] + tcp[3] + sum_of_pseudo_header(outer);
	tcp[4] = bpf_htonl((__u32)bpf_ntohs(checksum(sum)) << 16);
}

/* In place of the segment, whose headers are as long at least. */
static __always_inline int refuse_tcp(struct xdp_md *ctx, const struct packet *packet, bool v6)
{
	const __u32 ip_size = v6 ? IPV6_SIZE : IPV4_SIZE;
	struct outer outer = {
		.source = packet->destination,
		.destination = packet->source,
		.length = TCP_SIZE,
		.protocol = IPPROTO_TCP,
	};
	void *data = (void *)(long)ctx->data;
	void *end = end_of_frame(ctx);
	void *ip = data + link_size(packet);
	struct tcphdr *asked = data + (packet->l4 & MAX_TCP_OFFSET);
	struct reset reset;

	if (packet->tcp_flags & TCP_RST || (void *)(asked + 1) > end || ip + ip_size + TCP_SIZE > end)
		return XDP_DROP;
	reset = reset_of(asked, packet);
	swap_macs(data);
	if (v6)
		write_ipv6(ip, &outer);
	else
		write_ipv4(ip, &outer);
	write_reset(ip + ip_size, packet, &reset, &outer);
	return bpf_xdp_adjust_tail(ctx, -(int)(end - (ip + ip_size + TCP_SIZE))) ? XDP_DROP : XDP_TX;
}

/* Quotes what names the socket, and of a long IPv6 packet as much as fits (RFC 4443, 2.4 c). */
static __always_inline int refuse_udp(struct xdp_md *ctx, const struct packet *packet)
{
	struct icmp_error error = {
		.source = packet->destination,
		.first = packet->v6 ? PORT_UNREACHABLE_V6 : PORT_UNREACHABLE,
	};

	if (packet->v6 && packet->length < IPV6_QUOTE)
		return answer(ctx, packet, true, &error, IPV6_LEAST_QUOTE);
	if (packet->v6)
		return answer(ctx, packet, true, &error, IPV6_QUOTE);
	if (packet->length < IPV4_SHORT_QUOTE)
		return answer(ctx, packet, false, &error, IPV4_LEAST_QUOTE);
	return answer(ctx, packet, false, &error, IPV4_SHORT_QUOTE);
}

/* Turns a TCP or UDP packet into the refusal of it: XDP_TX. XDP_DROP where none may be sent: to a reset, a later
 * fragment, or a source that is no single host. */
static __noinline __attribute__((unused)) int refuse(struct xdp_md *ctx, const struct packet *packet)
{
	if (!may_report(packet))
		return XDP_DROP;
	if (packet->protocol == IPPROTO_UDP)
		return refuse_udp(ctx, packet);
	return packet->v6 ? refuse_tcp(ctx, packet, true) : refuse_tcp(ctx, packet, false);
}
