/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/* ICMP echo (RFC 792; RFC 4443, 4): a request becomes its reply where it lies, with the data that it has. One in
 * fragments becomes so fragment by fragment: only the first has a type, and the checksum in it is of all of them, of
 * which no other byte changes. */
#pragma once

#include "common/turn.h"

#define ECHO_REQUEST 8
#define ECHO_REPLY 0
#define ECHO_REQUEST_V6 128
#define ECHO_REPLY_V6 129
#define ECHO_SIZE 8
#define REPLY_TTL 64
#define MAX_ICMP_OFFSET 0x7fff /* where ICMP may start; the verifier follows offsets of 16 bits */

/* Sets the first byte of a word that a checksum covers. */
static __always_inline void set_first(__u8 *word, __u8 value, __u16 *check)
{
	__u16 old = *(__u16 *)word;

	word[0] = value;
	*check = checksum_update(*check, old, *(__u16 *)word);
}

/* A whole request, or a fragment of one. Of ICMP only echo is so long that it comes in fragments: errors are short. */
static __always_inline bool is_echo_request(struct xdp_md *ctx, const struct packet *packet)
{
	__u8 *icmp = (void *)(long)ctx->data + (packet->l4 & MAX_ICMP_OFFSET);

	if (packet->protocol != (packet->v6 ? IPPROTO_ICMPV6 : IPPROTO_ICMP))
		return false;
	if (packet->later_fragment)
		return true;
	return (void *)(icmp + ECHO_SIZE) <= end_of_frame(ctx) && icmp[0] == (packet->v6 ? ECHO_REQUEST_V6 : ECHO_REQUEST);
}

/* The reply goes as far as any packet of a host's, however far the request has come. False: the frame is as it was. */
static __always_inline bool turn_echo(struct xdp_md *ctx, const struct packet *packet, bool v6)
{
	void *data = (void *)(long)ctx->data;
	void *end = end_of_frame(ctx);
	void *ip = data + link_size(packet);
	void *icmp = data + (packet->l4 & MAX_ICMP_OFFSET);

	asm volatile("" : "+r"(icmp)); /* one pointer for check and writes: the verifier knows no sum of the same parts again */
	if (ip + (v6 ? IPV6_SIZE : IPV4_SIZE) > end)
		return false;
	if (!packet->later_fragment) {
		if (icmp + ECHO_SIZE > end)
			return false;
		set_first(icmp, v6 ? ECHO_REPLY_V6 : ECHO_REPLY, icmp + 2);
	}
	swap_macs(data);
	swap_addresses(ip, v6);
	if (v6)
		((__u8 *)ip)[7] = REPLY_TTL;
	else
		set_first(ip + 8, REPLY_TTL, ip + 10);
	return true;
}

/* Turns an echo request, or a fragment of one, into its reply. False: there is none to it, or the frame is too short;
 * the frame is as it was. */
static __always_inline bool answer_echo(struct xdp_md *ctx, const struct packet *packet)
{
	if (!one_host(&packet->source, packet->v6))
		return false;
	return packet->v6 ? turn_echo(ctx, packet, true) : turn_echo(ctx, packet, false);
}
