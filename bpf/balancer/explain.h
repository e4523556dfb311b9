/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/* The other use of a decision: written down in `traces`, with the frame made and no map written. */
#pragma once

#include "balancer/act.h"

static __always_inline struct trace *current_trace(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&traces, &zero);
}

/* Findings before the decision. */
static __always_inline void trace_flow(const struct packet_context *context)
{
	struct trace *trace = current_trace();

	if (!trace)
		return;
	trace->vip = context->vip.id;
	trace->mode = context->vip.mode;
	trace->flow_state = context->known ? context->flow.state : FLOW_FREE;
	trace->token = context->known ? context->flow.token : 0;
}

static __always_inline void trace_counter(struct trace *trace, enum counter counter)
{
	trace->counters[counter / 64 % (COUNTERS / 64)] |= 1ull << counter % 64;
}

/* Makes the frame that was decided on, and writes the decision down. Returns the XDP verdict. */
__noinline int trace_decision(struct xdp_md *ctx, struct packet_context *context, struct decision *decision)
{
	struct trace *trace = current_trace();
	int sent;

	if (!context || !decision || !trace)
		return XDP_ABORTED;
	sent = carry(ctx, context, decision);
	for (int i = 0; i < EVENTS && i < decision->events_noted; i++)
		trace_counter(trace, decision->events[i].counter);
	if (decision->writes & WRITES_KEY)
		trace_counter(trace, decision->key_event);
	trace_counter(trace, decision->verdict);
	trace->target = decision->counted;
	if (decision->action == STEER)
		trace->owner = decision->peer;
	return sent;
}
