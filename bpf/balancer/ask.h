/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/* The order in which other balancers are asked about a token or a flow that is not known here.
 *
 * First and second have the same entries, unless one of them has only just come: then the other one, or the one that
 * was the first before, has them. So those that were heard lately are asked first, and the next one only after a reply
 * that knows nothing. A query says who was asked, and so does the reply: this balancer keeps no state. */
#pragma once

#include "balancer/decision.h"

static __always_inline __u8 asked_bit(enum ring_part part)
{
	return part == RING_FIRST ? ASKED_FIRST : part == RING_SECOND ? ASKED_SECOND : ASKED_FORMER;
}

/* The next balancer to ask about a slot; marks it in `asked`. NO_TARGET: none is left. */
__noinline __u32 next_to_ask(const struct packet_context *context, __u32 slot, __u8 *asked)
{
	const enum ring_part order[RING_PARTS] = { RING_FIRST, RING_SECOND, RING_FORMER };
	__u32 suspect = NO_TARGET, before = NO_TARGET, two_before = NO_TARGET;
	__u8 suspect_bit = 0;

	if (!context || !asked)
		return NO_TARGET;
#pragma clang loop unroll(full)
	for (int i = 0; i < RING_PARTS; i++) {
		__u32 peer = ring_at(context, order[i], slot);
		__u8 bit = asked_bit(order[i]);
		bool twice = peer == before || peer == two_before;

		two_before = before;
		before = peer;
		if (peer == NO_TARGET || twice || *asked & bit)
			continue;
		if (!is_suspect(context, peer)) {
			*asked |= bit;
			return peer;
		}
		if (suspect == NO_TARGET) {
			suspect = peer;
			suspect_bit = bit;
		}
	}
	*asked |= suspect_bit;
	return suspect;
}

/* The backend that a message names; NO_TARGET: it names another balancer and is malformed, or the backend is not known
 * here, and the message goes back. */
static __always_inline __u32 target_of_message(const struct packet_context *context, const struct steering *message,
					       struct decision *decision)
{
	__u32 target = target_by_id(get_be32(message->backend));

	if (target != NO_TARGET && !is_balancer(target))
		return target;
	decide_drop(decision, DROP_MALFORMED);
	if (target != NO_TARGET || !get_be32(message->backend))
		return NO_TARGET;
	decision->target = NO_TARGET;
	decide_steer(decision, context->peer, STEER_REPLY, RETURNED);
	decision->sent_verdict = DROP_FAILED;
	decision->message.query = message->kind;
	__builtin_memcpy(decision->message.token, message->token, sizeof(message->token));
	__builtin_memcpy(decision->message.backend, message->backend, sizeof(message->backend));
	return NO_TARGET;
}

/* After decide_send, which stands if there is nobody to ask: sends the packet to the next balancer of the slot as a
 * query. False: there is none. */
static __always_inline bool ask(const struct packet_context *context, __u32 slot, __u8 asked, enum steering_kind kind,
				struct decision *decision)
{
	__u32 peer = next_to_ask(context, slot, &asked);

	if (peer == NO_TARGET)
		return false;
	decide_steer(decision, peer, kind, kind == STEER_TOKEN_QUERY ? QUERIED_JOIN : QUERIED_FLOW);
	decision->message.asked = asked;
	return true;
}
