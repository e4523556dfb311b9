/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/* The first packets of flows: SYNs that open connections, and joins. */
#pragma once

#include "balancer/by_hash.h"

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
