/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/* Packets of flows that are not known here: learnt by their keys, asked for at other balancers, or hashed. */
#pragma once

#include "balancer/by_hash.h"

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
