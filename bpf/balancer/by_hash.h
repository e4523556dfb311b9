/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/* Flows that go where their hash says, and are stored. */
#pragma once

#include "balancer/ask.h"
#include "balancer/assign.h"

static __always_inline bool closes(const struct packet_context *context)
{
	return context->packet.tcp_flags & (TCP_FIN | TCP_RST);
}

/* Goes to `target`, and is stored as a flow in `state`. */
static __always_inline void decide_stored(const struct packet_context *context, __u32 target, __u8 state, enum counter verdict,
					  struct decision *decision)
{
	struct flow_value value = { .state = state, .target = target };

	decide_send(decision, target, verdict);
	if (decision->action == SEND)
		store_flow(context, &value, STATELESS, decision);
}

/* A new connection: by hash, past backends that fail their checks. */
static __always_inline void decide_new(const struct packet_context *context, enum flow_state state, enum counter verdict,
				       struct decision *decision)
{
	decide_stored(context, target_of_new(context), state, verdict, decision);
}

/* By hash, and stored as a flow in `state`. */
static __always_inline void decide_by_hash(const struct packet_context *context, __u8 state, enum counter verdict,
					   struct decision *decision)
{
	decide_stored(context, own_hashed_target(context), state, verdict, decision);
}
