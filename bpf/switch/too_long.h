/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/* Packets that are longer than the MTU of their port, with the shim that MP-HULA adds: ICMP tells the sender what fits
 * (common/too_big.h). */
#pragma once

#include "common/too_big.h"
#include "switch/answer.h"

static __noinline int answer_too_long(frame *frame, const struct packet *packet, __u32 mtu)
{
	struct icmp_error error = too_big_error(packet, packet->v6, mtu);

	if (!packet->v6 && packet->length < IPV4_QUOTE)
		return FRAME_DROP;
	if (!packet->v6)
		return answer_frame(frame, packet, false, &error, IPV4_QUOTE);
	if (packet->length <= IPV6_LEAST_MTU)
		return FRAME_DROP;
	error.second = mtu < IPV6_LEAST_MTU ? IPV6_LEAST_MTU : mtu;
	return answer_frame(frame, packet, true, &error, IPV6_QUOTE);
}

/* Answers, or drops, a packet of which `mtu` bytes would have fitted. */
static __always_inline int too_long(frame *frame, const struct visit *visit, __u32 mtu)
{
	bool reports = !visit->shimmed && may_report(&visit->packet) && may_answer(ANSWER_TOO_LONG, visit->now);
	__u32 bytes = frame_bytes(frame);
	int verdict = reports ? answer_too_long(frame, &visit->packet, mtu) : FRAME_DROP;

	count_in(&verdicts, verdict == FRAME_DROP ? DROPPED_TOO_BIG : ANSWERED, bytes);
	return verdict;
}
