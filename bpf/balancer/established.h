/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/* Later packets of known flows, all but the plainest. */
#pragma once

#include "balancer/by_hash.h"

static __always_inline void touch(struct flow *flow, const struct job *job)
{
	if (!DRY_RUN)
		flow->seen = job->now;
}

/* What ring and tables are now is known of it. */
static __always_inline void renew_epoch(struct flow *flow)
{
	if (!DRY_RUN)
		flow->epoch = settings.epoch;
}

/* A UDP flow's second packet or a later one. One alone is no flow for which others would not be stored: anybody can send it. */
static __always_inline void touch_udp(struct flow *flow, const struct job *job)
{
	set_state(flow, FLOW_UDP);
	touch(flow, job);
	renew_epoch(flow);
}

/* Its backend is down: the hash's choice now, and what was known of it is void. */
static __always_inline void decide_rehash(const struct job *job, struct decision *decision)
{
	count(job, FLOW_REHASHED);
	decide_by_hash(job, FLOW_NEW, SENT_FLOW, decision);
}

/* Whether the flow should be written down elsewhere now: the ring or the tables changed, or a part of `refresh` is over, which
 * comes at another tick for each flow. */
static __always_inline bool refresh_due(const struct flow *flow, const struct job *job)
{
	__u32 every = settings.refresh;
	__u32 phase = job->hash >> 40;

	if (flow->epoch != settings.epoch)
		return true;
	return every && (flow->seen + phase) / every != (job->now + phase) / every;
}

/* Notes what the flow's next packets shall do on their way. The token's owner has just answered a join. As published (assign), a
 * new owner is told nothing. */
static __always_inline __u8 dues(const struct flow *flow, const struct job *job)
{
	__u8 state = FLOW_ESTABLISHED;

	if (flow->token && (flow->state & FLOW_STATE_MASK) != FLOW_JOINING &&
	    (job->vip.mode != MPTCP_ASSIGN || own_token(flow->token)))
		state |= FLOW_TOKEN_DUE;
	if (job->vip.mode == MPTCP_LEARN && own_hashed_target(job) != flow->target)
		state |= FLOW_FLOW_DUE;
	return state;
}

/* The flow's new state. The packet goes through the balancer that should know of the flow, if it is short enough; else the next one
 * does. */
static __always_inline void pay_dues(const struct job *job, struct flow *flow, __u8 state, struct decision *decision)
{
	__u32 owner;

	set_state(flow, state);
	if (state & FLOW_FLOW_DUE) {
		owner = flow_owner(job);
		if (owner == NO_TARGET)
			owner = heir(job, slot_of_flow(job));
		if (owner != NO_TARGET && !steerable(job, owner))
			return;
		set_state(flow, state & ~FLOW_FLOW_DUE);
		if (owner == NO_TARGET)
			return;
		say_token(decision, flow->token);
		say_backend(decision, flow->target);
		decide_steer(decision, owner, STEER_REGISTER_FLOW, STEERED_FLOW);
	} else if (state & FLOW_TOKEN_DUE) {
		owner = token_owner(job, flow->token);
		if (owner != NO_TARGET && !steerable(job, owner))
			return;
		set_state(flow, state & ~FLOW_TOKEN_DUE);
		register_token(job, flow->token, TOKEN_CONFIRMED, decision);
	}
}

static __always_inline void decide_learning(struct xdp_md *ctx, const struct job *job, struct flow *flow,
				       struct decision *decision)
{
	bool proven = flow->state & FLOW_PROVEN;
	struct mptcp_found found;
	int kind = search_options(ctx, job, &found);
	__u32 token;

	if (kind == MPTCP_CAPABLE_KEYS) {
		token = learn_keys(job, &found, decision);
		if (DRY_RUN)
			return;
		flow->token = token;
		flow->state = token ? FLOW_LEARNING | FLOW_PROVEN : FLOW_ESTABLISHED;
		touch(flow, job);
	} else if (proven && kind == MPTCP_DSS) {
		touch(flow, job);
		pay_dues(job, flow, dues(flow, job), decision);
	} else if (job->now - flow->seen >= settings.learning) {
		set_state(flow, FLOW_ESTABLISHED);
		touch(flow, job);
	}
}

static __always_inline void decide_established(const struct job *job, struct flow *flow, struct decision *decision)
{
	__u8 state = flow->state;

	if ((state & FLOW_STATE_MASK) != FLOW_ESTABLISHED || refresh_due(flow, job)) {
		state = dues(flow, job);
		renew_epoch(flow);
	}
	touch(flow, job);
	pay_dues(job, flow, state, decision);
}

__noinline int decide_known(struct xdp_md *ctx, const struct job *job, struct decision *decision)
{
	struct flow *flow;
	__u8 state;

	if (!job || !decision)
		return 0;
	flow = known_flow(job);
	if (!flow)
		return 0;
	state = flow->state & FLOW_STATE_MASK;
	if (!target_up(flow->target)) {
		decide_rehash(job, decision);
		return 0;
	}
	decide_send(decision, flow->target, SENT_FLOW);
	if (job->packet.protocol == IPPROTO_UDP) {
		touch_udp(flow, job);
	} else if (state == FLOW_CLOSING) {
		touch(flow, job);
		renew_epoch(flow);
	} else if (closes(job)) {
		set_state(flow, FLOW_CLOSING);
		touch(flow, job);
	} else if (state == FLOW_LEARNING) {
		decide_learning(ctx, job, flow, decision);
	} else {
		decide_established(job, flow, decision);
	}
	return 0;
}
