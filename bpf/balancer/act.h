/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/* Carries out a decision: writes to maps, sends the frame, counts. Nothing else of the program writes to a map that
 * outlives the packet.
 *
 * No outcome of a write changes where a packet goes, but for one: a key (assign) that is lost to another processor,
 * with all that could be had in its place, drops the SYN. So keys are taken first, then the frame is made, and all else
 * is written behind that. */
#pragma once

#include "balancer/access.h"
#include "balancer/fragment_table.h"
#include "balancer/heartbeat.h"
#include "balancer/join_limits.h"
#include "balancer/steer.h"
#include "balancer/syn.h"
#include "balancer/waiting.h"
#include "common/too_big.h"

/* ---- the frame ---- */

static __always_inline int carry_to_balancer(struct xdp_md *ctx, struct packet_context *context, struct decision *decision)
{
	struct sending sending = { .settings = &settings, .flow_hash = context->hash };
	int sent;

	sending.target = target_at(decision->peer);
	if (!sending.target)
		return SEND_FAILED;
	sign(context, sending.target, &decision->message);
	sent = steer(ctx, &context->packet, &sending, &decision->message);
	if (sent < 0)
		note(decision, STEER_TOO_BIG);
	else
		decision->counted = decision->peer;
	return sent;
}

/* An XDP verdict, SEND_FAILED or SEND_TOO_BIG. */
static __always_inline int carry_to(struct xdp_md *ctx, struct packet_context *context, __u32 index, const struct target **target)
{
	struct sending sending = { .settings = &settings, .flow_hash = context->hash };

	sending.target = target_at(index);
	*target = sending.target;
	return sending.target ? forward(ctx, &context->packet, &sending) : SEND_FAILED;
}

static __always_inline int carry_to_target(struct xdp_md *ctx, struct packet_context *context, struct decision *decision)
{
	const struct target *target;
	int sent = carry_to(ctx, context, decision->target, &target);

	if (sent >= 0) {
		decision->counted = decision->target;
		return sent;
	}
	decision->verdict = target && sent == SEND_TOO_BIG ? TOO_BIG : DROP_FAILED;
	if (target && sent == SEND_TOO_BIG && within_limit(context, LIMIT_ERRORS, decision))
		return answer_too_big(ctx, &context->packet, inner_mtu(target));
	return XDP_DROP;
}

/* A balancer that everything of a flow goes to (assign). Not what another one sent here: it would come back. */
static __always_inline bool is_for_balancer(const struct packet_context *context, const struct decision *decision)
{
	const struct target *target = target_at(decision->target);

	return decision->action == SEND && !context->forwarded && target && target->forwarding == FORWARD_STEERING;
}

/* Puts the key into the SYN, which is then to be sent. */
static __always_inline void carry_key(struct xdp_md *ctx, struct packet_context *context, struct decision *decision)
{
	decision->action = SEND;
	if (insert_key(ctx, context, decision->option, decision->option_length, &decision->key))
		return;
	decide_drop(decision, DROP_FAILED);
	decision->writes &= ~WRITES_FLOW;
}

/* Makes the frame that was decided on. Returns the XDP verdict; what is to be counted is the decision's from now on. */
static __always_inline int carry(struct xdp_md *ctx, struct packet_context *context, struct decision *decision)
{
	int sent;

	if (decision->action == ASSIGN)
		carry_key(ctx, context, decision);
	if (is_for_balancer(context, decision))
		decide_steer(decision, decision->target, STEER_FORWARD, STEERED_FORWARD);
	if (decision->action == STEER) {
		sent = carry_to_balancer(ctx, context, decision);
		if (sent >= 0)
			return sent;
		decision->verdict = decision->sent_verdict;
		decision->action = decision->target == NO_TARGET ? DROP : SEND;
	}
	if (decision->action == SEND)
		return carry_to_target(ctx, context, decision);
	if (decision->action == BOUNCE)
		return XDP_TX;
	return decision->action == PASS ? XDP_PASS : XDP_DROP;
}

/* ---- maps ---- */

static __always_inline void spend_limit(const struct packet_context *context, __u32 which)
{
	struct rate_limit *rest = bpf_map_lookup_elem(&rate_limits, &which);

	if (!rest)
		return;
	rest->left = left_of(rest, limit_of(which), context->now) - 1;
	rest->tick = context->now;
}

/* What an entry refers to is written before the entry: a flow's candidate, its token. Another processor may read them
 * in between. */
static __always_inline void write_tables(const struct packet_context *context, struct decision *decision)
{
	if (decision->writes & WRITES_CANDIDATE)
		write_candidate(context, &decision->candidate);
	if (decision->writes & WRITES_TOKEN)
		write_token(context, decision);
	if (decision->writes & WRITES_FLOW)
		write_flow(context, &decision->flow);
	if (decision->writes & ENDS_CANDIDATE)
		end_candidate(context);
	if (decision->writes & WRITES_FRAGMENT)
		write_fragment(context, &decision->fragment);
	if (decision->writes & WRITES_JOIN_COUNT)
		write_join_count(context, decision);
	if (decision->writes & COUNTS_CONNECTION)
		count_connection(context);
	if (decision->writes & WRITES_PEER)
		write_peer(context, decision->peer_news);
	if (decision->writes & (WRITES_ANSWERED | WRITES_SILENT))
		write_signs(context, decision->writes & WRITES_ANSWERED);
	if (decision->writes & WRITES_UNEXPLAINED)
		write_unexplained(context);
}

/* Writes all that the decision says, when the frame is made. */
static __always_inline void write_all(const struct packet_context *context, struct decision *decision)
{
	if (decision->writes)
		write_tables(context, decision);
	for (int i = 0; i < LIMITS && decision->limits; i++) {
		if (decision->limits >> i & 1)
			spend_limit(context, i);
	}
	for (int i = 0; i < EVENTS && i < decision->events_noted; i++)
		count_times(context, decision->events[i].counter, decision->events[i].times);
	count(context, decision->verdict);
	if (decision->counted != NO_TARGET)
		count_target(context, decision->counted);
}

/* The key first: what is written of a flow has it, and so has its frame. */
static __always_inline void act_on_key(const struct packet_context *context, struct decision *decision)
{
	if (take_key(context, decision)) {
		note(decision, decision->key_event);
	} else {
		decide_drop(decision, DROP_FAILED);
		decision->writes &= ~WRITES_FLOW;
	}
	decision->writes &= ~WRITES_TOKEN;
}

/* Does what was decided. Returns the XDP verdict. */
__noinline int act(struct xdp_md *ctx, struct packet_context *context, struct decision *decision)
{
	int sent;

	if (!context || !decision)
		return XDP_DROP;
	if (decision->writes & WRITES_KEY)
		act_on_key(context, decision);
	sent = carry(ctx, context, decision);
	if (decision->verdict == FRAGMENT_WAITS && !keep_waiting(ctx))
		decision->verdict = DROP_FRAGMENT;
	write_all(context, decision);
	return sent;
}

/* A packet of a flow for which nothing is due. Negative: it cannot be sent so, and nothing has happened. */
static __always_inline int act_at_once(struct xdp_md *ctx, struct packet_context *context)
{
	const struct target *target;
	int sent = carry_to(ctx, context, context->flow.target, &target);

	if (sent < 0)
		return sent;
	count(context, SENT_FLOW);
	count_target(context, context->flow.target);
	return sent;
}
