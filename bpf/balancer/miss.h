/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/* Packets of flows that are not known here: learnt by their keys, asked for at other balancers, or hashed. */
#pragma once

#include "balancer/by_hash.h"

/* Keys on a flow whose SYN did not pass here: learnt, within limits, since any host can send such a packet. */
static __always_inline bool decide_midstream_keys(struct xdp_md *ctx, const struct packet_context *context,
						  struct decision *decision)
{
	struct flow_value value = {};
	struct mptcp_found found;

	if (search_options(ctx, context, &found) != MPTCP_CAPABLE_KEYS)
		return false;
	if (!within_limit(LIMIT_LEARN, &settings.learn, context->now)) {
		count(context, LEARN_LIMITED);
		return false;
	}
	decide_send(decision, own_hashed_target(context), SENT_KEYS);
	if (decision->action != SEND)
		return true;
	value.target = decision->target;
	value.token = learn_keys(context, &found, decision);
	value.state = value.token ? FLOW_LEARNING | FLOW_KEYS_SEEN : FLOW_NEW;
	store_flow(context, &value, STATELESS);
	return true;
}

/* A flow that no balancer knows: by hash. A FIN or RST makes no entry, since the flow ends with it. */
static __always_inline void decide_by_hash_alone(const struct packet_context *context, struct decision *decision)
{
	if (closes(context))
		decide_send(decision, own_hashed_target(context), SENT_MISS);
	else
		decide_by_hash(context, FLOW_NEW, SENT_MISS, decision);
}

/* Queries a balancer for the flow. False: there is none to query, or the limit of queries is reached. */
static __always_inline bool query_flow(const struct packet_context *context, __u32 whom, struct decision *decision)
{
	if (whom == NO_TARGET)
		return false;
	if (!steerable(context, whom) || !within_limit(LIMIT_QUERY, &settings.query, context->now)) {
		count(context, QUERY_LIMITED);
		return false;
	}
	decide_send(decision, own_hashed_target(context), SENT_MISS);
	decide_steer(decision, whom, STEER_FLOW_QUERY, QUERIED_FLOW);
	return true;
}

static __always_inline void decide_tcp_miss(struct xdp_md *ctx, const struct packet_context *context, struct decision *decision)
{
	__u32 owner;

	if (context->vip.mode == MPTCP_LEARN) {
		if (!closes(context) && decide_midstream_keys(ctx, context, decision))
			return;
		owner = flow_owner(context);
		if (owner == NO_TARGET)
			owner = former_owner(context, slot_of_flow(context), NO_TARGET);
		if (query_flow(context, owner, decision))
			return;
	}
	decide_by_hash_alone(context, decision);
}

__noinline int decide_miss(struct xdp_md *ctx, const struct packet_context *context, struct decision *decision)
{
	if (!context || !decision)
		return 0;
	if (context->packet.protocol == IPPROTO_UDP)
		decide_by_hash(context, FLOW_NEW, SENT_UDP, decision);
	else
		decide_tcp_miss(ctx, context, decision);
	return 0;
}
