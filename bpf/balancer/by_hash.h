/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/* Flows that go where their hash says, and are stored. */
#pragma once

#include "balancer/ask.h"
#include "balancer/assign.h"

static __always_inline bool closes(const struct packet_context *context)
{
	return context->packet.tcp_flags & (TCP_FIN | TCP_RST);
}

/* By hash, and stored as a flow in `state`. */
static __always_inline void decide_by_hash(const struct packet_context *context, enum flow_state state, enum counter verdict,
					   struct decision *decision)
{
	struct flow_value value = { .state = state };

	decide_send(decision, own_hashed_target(context), verdict);
	value.target = decision->target;
	if (decision->action == SEND)
		store_flow(context, &value, STATELESS);
}
