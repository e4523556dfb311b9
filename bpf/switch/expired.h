/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/* Packets whose TTL or hop limit ends here: ICMP "time exceeded" tells the sender (RFC 1812, 5.3.1; RFC 4443, 3.3),
 * from the address that the configuration gives this switch, so that traceroute shows it. */
#pragma once

#include "switch/answer.h"

#define ICMP_EXPIRED 0x0b000000 /* type, code: TTL exceeded in transit */
#define ICMPV6_EXPIRED 0x03000000
#define ICMP_ECHO_REQUEST 8
#define ICMPV6_ECHO_REQUEST 128
#define IPV4_LEAST_QUOTE (IPV4_SIZE + 8) /* a header without options, and 8 bytes (RFC 792) */
#define IPV6_LEAST_QUOTE (IPV6_SIZE + 8)

/* True for the query by which traceroute, too, looks for hops. Other ICMP may be an error, about which none is sent. */
static __always_inline bool is_echo_request(frame *frame, const struct packet *packet)
{
	__u8 type = 0;

	if (packet->later_fragment || frame_load(frame, packet->l4, &type, sizeof(type)))
		return false;
	return packet->v6 ? packet->protocol == IPPROTO_ICMPV6 && type == ICMPV6_ECHO_REQUEST
			  : packet->protocol == IPPROTO_ICMP && type == ICMP_ECHO_REQUEST;
}

static __always_inline bool may_report_expiry(frame *frame, const struct packet *packet)
{
	if (is_icmp(packet->protocol))
		return is_echo_request(frame, packet) && one_host(&packet->source, packet->v6);
	return may_report(packet);
}

/* Quotes of a few lengths, each not longer than the packet: the checksum of a quote whose length is no constant is not
 * for a program to sum. */
static __noinline int answer_expired(frame *frame, const struct packet *packet, const struct switch_config *to)
{
	struct icmp_error error = { .first = packet->v6 ? ICMPV6_EXPIRED : ICMP_EXPIRED };

	if (packet->v6) {
		error.source = to->answers_v6;
		if (packet->length >= IPV6_QUOTE)
			return answer_frame(frame, packet, true, &error, IPV6_QUOTE);
		return packet->length < IPV6_LEAST_QUOTE ? FRAME_DROP
							 : answer_frame(frame, packet, true, &error, IPV6_LEAST_QUOTE);
	}
	error.source = to->answers_v4;
	if (packet->length >= IPV4_QUOTE)
		return answer_frame(frame, packet, false, &error, IPV4_QUOTE);
	if (packet->length >= IPV4_SHORT_QUOTE)
		return answer_frame(frame, packet, false, &error, IPV4_SHORT_QUOTE);
	return packet->length < IPV4_LEAST_QUOTE ? FRAME_DROP : answer_frame(frame, packet, false, &error, IPV4_LEAST_QUOTE);
}

/* Answers, or drops, a packet that may not go further. */
static __always_inline int expired(frame *frame, const struct visit *visit, const struct switch_config *to)
{
	const struct packet *packet = &visit->packet;
	const struct address *own = packet->v6 ? &to->answers_v6 : &to->answers_v4;
	bool reports = own->low && !visit->shimmed && may_report_expiry(frame, packet) && may_answer(ANSWER_EXPIRED, visit->now);
	__u32 bytes = frame_bytes(frame);
	int verdict = reports ? answer_expired(frame, packet, to) : FRAME_DROP;

	count_in(&verdicts, verdict == FRAME_DROP ? DROPPED_TTL : TIME_EXCEEDED, bytes);
	return verdict;
}
