/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/* Packets of flows that are not known here: learnt by their keys, asked for at other balancers, or hashed. */
#pragma once

#include "balancer/by_hash.h"
#include "balancer/contest.h"

/* Keys on a flow to `target` whose SYN did not pass here, and elsewhere if `state` says so: learnt, within limits,
 * since any host can send such a packet. */
static __always_inline bool decide_midstream_keys(const struct packet_context *context, const struct mptcp_found *found,
						  __u32 target, enum token_state state, struct decision *decision)
{
	struct flow_value value = {};

	if (!within_limit(context, LIMIT_LEARN, decision)) {
		note(decision, LEARN_LIMITED);
		return false;
	}
	decide_send(decision, target, SENT_KEYS);
	if (decision->action != SEND)
		return true;
	value.target = decision->target;
	value.token = learn_keys(context, found, state, false, decision);
	value.state = FLOW_GOES_ON | (value.token ? FLOW_LEARNING | FLOW_KEYS_SECOND : FLOW_NEW);
	store_flow(context, &value, STATELESS, decision);
	return true;
}

/* A flow that no balancer knows: by hash. A FIN or RST makes no entry, since the flow ends with it. */
static __always_inline void decide_by_hash_alone(const struct packet_context *context, struct decision *decision)
{
	if (closes(context))
		decide_send(decision, own_hashed_target(context), SENT_MISS);
	else
		decide_by_hash(context, FLOW_NEW | FLOW_GOES_ON, SENT_MISS, decision);
}

/* Ticks since this balancer saw something of the packet's flow; 0: it does not know where that goes. */
static __always_inline __u32 known_since(const struct packet_context *context)
{
	bool knows = context->known && keeps_flows(context->flow.target) && !is_balancer(context->flow.target) &&
		     !is_of_another(context);

	return knows ? context->now - last_seen(context) : 0;
}

/* Asks the next balancer that may know the flow, or know it better. False: there is none, or the limit of queries is
 * reached. */
static __always_inline bool query_flow(const struct packet_context *context, __u8 asked, struct decision *decision)
{
	decide_send(decision, own_hashed_target(context), SENT_MISS);
	if (!ask(context, slot_of_flow(context), asked, STEER_FLOW_QUERY, decision))
		return false;
	put_be32(decision->message.backend, known_since(context));
	if (steerable(context, decision->peer) && within_limit(context, LIMIT_QUERY, decision))
		return true;
	note(decision, QUERY_LIMITED);
	return false;
}

/* Keys on a flow that is not known here: where the hash says, unless new connections pass over that backend now. Then
 * others are asked. */
static __always_inline bool decide_unknown_keys(const struct packet_context *context, const struct mptcp_found *found,
						struct decision *decision)
{
	__u32 hashed = own_hashed_target(context);

	if (!takes_new(context, hashed) && query_flow(context, 0, decision))
		return true;
	return decide_midstream_keys(context, found, hashed, TOKEN_UNOPENED, decision);
}

/* True if another balancer may know better than the hash where the packet belongs. Subflows that joined say in each
 * packet that they are MPTCP's, but for resets; all other flows go where the hash says, unless it said otherwise
 * before, here or at another balancer. */
static __always_inline bool worth_asking(const struct packet_context *context, int option)
{
	return option != MPTCP_NONE || context->packet.tcp_flags & TCP_RST || settings.ask_always ||
	       has_unexplained_flows(context) || hashed_otherwise_before(context);
}

static __always_inline void decide_tcp_miss(struct xdp_md *ctx, const struct packet_context *context, struct decision *decision)
{
	struct mptcp_found found;
	int option;

	if (context->vip.mode == MPTCP_LEARN) {
		option = search_options(ctx, context, &found, decision);
		if (option == MPTCP_CAPABLE_KEYS && !closes(context) && decide_unknown_keys(context, &found, decision))
			return;
		if (worth_asking(context, option) && query_flow(context, 0, decision))
			return;
	}
	decide_by_hash_alone(context, decision);
}

__noinline int decide_miss(struct xdp_md *ctx, const struct packet_context *context, struct decision *decision)
{
	if (!context || !decision)
		return 0;
	if (context->packet.protocol == IPPROTO_UDP)
		decide_new(context, FLOW_NEW, SENT_UDP, decision);
	else
		decide_tcp_miss(ctx, context, decision);
	return 0;
}
