/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/* What hashing says of a flow, remembered. */
#pragma once

#include "balancer/assign.h"

static __always_inline bool closes(const struct job *job)
{
	return job->packet.tcp_flags & (TCP_FIN | TCP_RST);
}

static __always_inline void set_state(struct flow *flow, __u8 state)
{
	if (!DRY_RUN)
		flow->state = state;
}

/* By hash, and remembered as a flow in `state`. */
static __always_inline void decide_by_hash(const struct job *job, enum flow_state state, enum counter verdict,
					   struct decision *decision)
{
	struct flow_value value = { .state = state };

	decide_send(decision, own_hashed_target(job), verdict);
	value.target = decision->target;
	if (decision->action == SEND)
		store_flow(job, &value, BY_HASH);
}
