/* SPDX-License-Identifier: Apache-2.0 */
/* Where a packet for a service goes: the flow's entry, else its token, else its owner, else the hash. */
#pragma once

#include "assign.h"

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

/* ---- the first packets of flows ---- */

/* A handshake under way: its SYN may come again, at last without options. */
static __always_inline bool opening(const struct flow *flow)
{
	__u8 state = flow->state & FLOW_STATE_MASK;

	return state == FLOW_NEW || state == FLOW_LEARNING;
}

/* A SYN that names no connection. A flow that is known keeps its backend: the SYN came again, or somebody forged it. */
static __always_inline void decide_open(const struct job *job, bool capable, struct decision *decision)
{
	enum counter verdict = capable ? SENT_CAPABLE : SENT_SYN;
	enum flow_state state = capable && job->vip.mode == MPTCP_LEARN ? FLOW_LEARNING : FLOW_NEW;
	struct flow *flow = known_flow(job);

	if (!flow || !target_up(flow->target) || !(opening(flow) || in_use(flow, job))) {
		decide_by_hash(job, state, verdict, decision);
		return;
	}
	if (!opening(flow))
		count(job, FLOW_KEPT);
	else if (state == FLOW_LEARNING && flow->state == FLOW_NEW)
		set_state(flow, state);
	decide_send(decision, flow->target, verdict);
}

/* A join whose backend is known: its flow is remembered, since no hash could tell. */
static __always_inline void decide_joined(const struct job *job, __u32 token, __u32 target, struct decision *decision)
{
	struct flow_value value = { .token = token, .target = target, .state = FLOW_JOINING };

	store_flow(job, &value, BY_MEMORY);
	decide_send(decision, target, SENT_JOIN);
}

/* Whether the token may have another join before its next refresh. */
static __always_inline bool may_join(const struct job *job, struct token_entry *entry)
{
	__u8 most = settings.most_joins;

	if (most && entry->joins >= most) {
		count(job, JOINS_LIMITED);
		return false;
	}
	if (!DRY_RUN)
		entry->joins += 1;
	return true;
}

/* The backend of a token that is this balancer's to know; NO_TARGET: not known, or it had too many joins. */
__noinline int target_of_join(const struct job *job, __u32 token)
{
	struct token_entry *entry;

	if (!job)
		return NO_TARGET;
	entry = find_token(job, token);
	if (!entry || !target_up(entry->target) || !may_join(job, entry))
		return NO_TARGET;
	return entry->target;
}

/* A join whose token this balancer should know. If it does not, who owned it before the ring changed may, unless that one was
 * `asked`; else the decision stays as it is. */
static __always_inline void decide_own_join(const struct job *job, __u32 token, __u32 asked, struct decision *decision)
{
	__u32 target = target_of_join(job, token);
	__u32 former;

	if (target != NO_TARGET) {
		decide_joined(job, token, target, decision);
		return;
	}
	former = former_owner(job, ring_slot_of_token(token), asked);
	if (former == NO_TARGET || job->vip.mode != MPTCP_LEARN)
		return;
	say_token(decision, token);
	decide_steer(decision, former, STEER_JOIN, ASKED_JOIN);
}

/* As published, a join whose token is another balancer's belongs to that one for ever. */
static __always_inline void decide_owner_keeps(const struct job *job, __u32 token, __u32 owner, struct decision *decision)
{
	struct flow_value value = { .token = 0, .target = owner, .state = FLOW_NEW };

	store_flow(job, &value, BY_MEMORY);
	decide_send(decision, owner, STEERED_FORWARD);
}

/* A join that came before. Behind a FIN it is another one, from the same port. */
static __always_inline bool joining(const struct flow *flow, __u32 token)
{
	return flow->token == token && (flow->state & FLOW_STATE_MASK) != FLOW_CLOSING;
}

static __always_inline void decide_join(const struct job *job, __u32 token, struct decision *decision)
{
	struct flow *flow = known_flow(job);
	__u32 owner;

	if (flow && target_up(flow->target) && (joining(flow, token) || in_use(flow, job))) {
		if (flow->token != token)
			count(job, FLOW_KEPT);
		decide_send(decision, flow->target, SENT_JOIN);
		return;
	}
	owner = token_owner(job, token);
	decide_send(decision, own_hashed_target(job), SENT_JOIN_UNKNOWN);
	if (owner != NO_TARGET && job->vip.mode == MPTCP_ASSIGN) {
		decide_owner_keeps(job, token, owner, decision);
	} else if (owner != NO_TARGET) {
		say_token(decision, token);
		decide_steer(decision, owner, STEER_JOIN, ASKED_JOIN);
	} else {
		decide_own_join(job, token, NO_TARGET, decision);
	}
}

__noinline int decide_syn(struct xdp_md *ctx, const struct job *job, struct decision *decision)
{
	struct mptcp_found found;
	int kind = MPTCP_NONE;

	if (!job || !decision)
		return 0;
	if (job->vip.mode >= MPTCP_LEARN)
		kind = search_options(ctx, job, &found);
	if (kind == MPTCP_JOIN_SYN)
		decide_join(job, found.token, decision);
	else if (kind != MPTCP_CAPABLE_SYN || !assignable(job, &found) || !decide_assign(job, &found, decision))
		decide_open(job, kind == MPTCP_CAPABLE_SYN, decision);
	return 0;
}

/* ---- later packets of flows that are not known here ---- */

/* Keys on a flow whose SYN went another way: learnt, within limits, since anybody can send such a packet. */
static __always_inline bool decide_stray_keys(struct xdp_md *ctx, const struct job *job, struct decision *decision)
{
	struct flow_value value = {};
	struct mptcp_found found;

	if (search_options(ctx, job, &found) != MPTCP_CAPABLE_KEYS)
		return false;
	if (!allowed(0, &settings.learn, job->now)) {
		count(job, LEARN_LIMITED);
		return false;
	}
	decide_send(decision, own_hashed_target(job), SENT_KEYS);
	if (decision->action != SEND)
		return true;
	value.target = decision->target;
	value.token = learn_keys(job, &found, decision);
	value.state = value.token ? FLOW_LEARNING | FLOW_PROVEN : FLOW_NEW;
	store_flow(job, &value, BY_HASH);
	return true;
}

/* A flow that nobody knows: by hash. Its end is not worth an entry. */
static __always_inline void decide_guess(const struct job *job, struct decision *decision)
{
	if (closes(job))
		decide_send(decision, own_hashed_target(job), SENT_UNKNOWN);
	else
		decide_by_hash(job, FLOW_NEW, SENT_UNKNOWN, decision);
}

/* Asks a balancer whether it knows the flow. False: there is none to ask, or too much was asked lately. */
static __always_inline bool ask_for_flow(const struct job *job, __u32 whom, struct decision *decision)
{
	if (whom == NO_TARGET)
		return false;
	if (!steerable(job, whom) || !allowed(1, &settings.ask, job->now)) {
		count(job, ASK_LIMITED);
		return false;
	}
	decide_send(decision, own_hashed_target(job), SENT_UNKNOWN);
	decide_steer(decision, whom, STEER_FLOW, ASKED_FLOW);
	return true;
}

static __always_inline void decide_unknown(struct xdp_md *ctx, const struct job *job, struct decision *decision)
{
	__u32 owner;

	if (job->vip.mode == MPTCP_LEARN) {
		if (!closes(job) && decide_stray_keys(ctx, job, decision))
			return;
		owner = flow_owner(job);
		if (owner == NO_TARGET)
			owner = former_owner(job, slot_of_flow(job), NO_TARGET);
		if (ask_for_flow(job, owner, decision))
			return;
	}
	decide_guess(job, decision);
}

__noinline int decide_unknown_flow(struct xdp_md *ctx, const struct job *job, struct decision *decision)
{
	if (!job || !decision)
		return 0;
	if (job->packet.protocol == IPPROTO_UDP)
		decide_by_hash(job, FLOW_NEW, SENT_UDP, decision);
	else
		decide_unknown(ctx, job, decision);
	return 0;
}

/* ---- later packets of known flows, all but the plainest ---- */

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
