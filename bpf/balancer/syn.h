/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/* The first packets of flows: SYNs that open connections, and joins. */
#pragma once

#include "balancer/by_hash.h"
#include "balancer/contest.h"
#include "balancer/join_limits.h"
#include "balancer/signs.h"

/* A handshake in progress, whose packets follow this SYN from now on. Behind one with MP_CAPABLE they are searched for
 * keys. */
static __always_inline void open_from_now_on(const struct packet_context *context, enum flow_state state,
					     struct decision *decision)
{
	struct flow_snapshot changed = context->flow;

	if (state == FLOW_LEARNING)
		changed.state = marked(context, FLOW_LEARNING | (context->flow.state & FLOW_KEYS_SECOND));
	changed.epoch = opening_number(context);
	change_flow(&changed, decision);
}

/* Sends the packet through a balancer that keeps the flow, or through both. Where both are suspect, it is rather this
 * machine that is busy. */
static __always_inline void register_opening(const struct packet_context *context, __u32 token, enum counter verdict,
					     struct decision *decision)
{
	struct keepers keepers = keepers_of(context, slot_of_flow(context));

	if (keepers.peer == NO_TARGET || !steerable(context, keepers.peer))
		return;
	if (keepers.here && is_suspect(context, keepers.peer))
		return;
	set_token(decision, token);
	set_backend(decision, decision->target);
	decide_steer(decision, keepers.peer, STEER_REGISTER_FLOW, verdict);
	decision->message.asked = keepers.reach;
}

/* A new connection goes where others could not know: they are told with the SYN, should this balancer fail before the
 * next packet. SYNs cost nothing, so that they are told within a limit. */
static __always_inline void tell_of_opening(const struct packet_context *context, struct decision *decision)
{
	if (decision->action != SEND || context->vip.mode != MPTCP_LEARN)
		return;
	note_placement(context, decision->target, decision);
	if (within_limit(context, LIMIT_LEARN, decision))
		register_opening(context, 0, STEERED_FLOW, decision);
}

/* A new connection, maybe past a backend that fails its checks or seems dead. */
static __always_inline void open_new(const struct packet_context *context, enum flow_state state, enum counter verdict,
				     struct decision *decision)
{
	decide_new(context, state, verdict, decision);
	if (decision->target != own_hashed_target(context))
		tell_of_opening(context, decision);
}

/* True if a SYN opens a connection in the flow's place: nothing of that is left to keep. A FIN may be forged, as the
 * SYN: a flow that closed stays beside the connection. */
static __always_inline bool gives_way_to_syn(const struct flow_snapshot *flow)
{
	return !keeps_flows(flow->target) || (is_syn_alone(flow) && !target_up(flow->target));
}

/* Where a SYN goes that names no connection, on a flow that keeps its entry: where new connections go. One that may
 * have come twice goes where its connection has just opened; and so do all on flows of which another balancer knows the
 * backend. */
static __always_inline __u32 target_of_syn(const struct packet_context *context)
{
	const struct flow_snapshot *flow = &context->flow;
	bool just_opened = (half_open(flow) || flow->state & FLOW_FRESH) && within(context->now, flow->seen, TOUCH);

	return rests_on_syn(flow) || (just_opened && target_up(flow->target)) || is_balancer(flow->target)
		       ? flow->target
		       : target_of_new(context);
}

/* A SYN on a flow that is known: the flow keeps its entry until the SYN's connection goes on (contest.h). */
static __always_inline void open_beside(const struct packet_context *context, enum flow_state state, enum counter verdict,
					struct decision *decision)
{
	const struct flow_snapshot *flow = &context->flow;
	__u32 target = target_of_syn(context);

	decide_send(decision, target, verdict);
	if (is_syn_alone(flow) && (state == FLOW_LEARNING || is_of_another(context)))
		open_from_now_on(context, state, decision);
	if (is_syn_alone(flow))
		return;
	note(decision, FLOW_KEPT);
	if (state == FLOW_LEARNING)
		contest(context, CANDIDATE_CAPABLE, context->sequence, 0, target, decision);
	else if (differs(context, target))
		contest(context, CANDIDATE_PLAIN, context->sequence, 0, target, decision);
	if (decision->writes & WRITES_CANDIDATE && differs(context, target))
		tell_of_opening(context, decision);
}

/* A SYN that names no connection. */
static __always_inline void decide_open(const struct packet_context *context, bool capable, struct decision *decision)
{
	enum counter verdict = capable ? SENT_CAPABLE : SENT_SYN;
	enum flow_state state = capable && context->vip.mode == MPTCP_LEARN ? FLOW_LEARNING : FLOW_NEW;

	if (!context->known || context->passed_over != NO_TARGET || gives_way_to_syn(&context->flow))
		open_new(context, state, verdict, decision);
	else
		open_beside(context, state, verdict, decision);
}

/* True if the flow is a join of this token, whose SYN came again. Behind a FIN it is another one, from the same
 * port. */
static __always_inline bool is_join_of(const struct flow_snapshot *flow, __u32 token)
{
	return token && flow->token == token && !is_closing(flow);
}

/* Stores a join: no hash gives its target. A live flow with its addresses and ports keeps the entry until the join goes
 * on. */
static __always_inline void store_join(const struct packet_context *context, __u32 token, __u32 target, __u8 state,
				       struct decision *decision)
{
	struct flow_value value = { .token = token, .target = target, .state = state };
	const struct flow_snapshot *flow = known_flow(context);

	if ((state & FLOW_STATE_MASK) == FLOW_JOINING)
		value.state |= FLOW_NUMBERED;
	if (flow && keeps_flows(flow->target))
		contest(context, CANDIDATE_JOIN, context->sequence, token, target, decision);
	else
		store_flow(context, &value, STATEFUL, decision);
}

/* A join whose backend is known. Its flow is registered with the SYN: should this balancer fail before the next packet,
 * others know the backend. */
static __always_inline void decide_joined(const struct packet_context *context, __u32 token, __u32 target, __u8 state,
					  struct decision *decision)
{
	store_join(context, token, target, state, decision);
	decide_send(decision, target, SENT_JOIN);
	if (decision->action == SEND && context->vip.mode == MPTCP_LEARN)
		register_opening(context, token, STEERED_JOIN, decision);
}

/* The backend of a token in the table, up or not, as the packet's service has it; NO_TARGET: not known here, or it had
 * too many joins. */
__noinline int target_of_join(const struct packet_context *context, __u32 token, struct decision *decision)
{
	struct token_snapshot found;

	if (!context || !decision || !find_joinable(context, token, &found) || !may_join(context, token, &found, decision))
		return NO_TARGET;
	return if_configured(group_target(context, found.target));
}

/* A join whose token is not known here nor at those `asked`: the next balancer is asked; if none is left the hash
 * decides. */
static __always_inline void decide_unknown_join(const struct packet_context *context, __u32 token, __u8 asked,
						struct decision *decision)
{
	decide_send(decision, own_hashed_target(context), SENT_JOIN_UNKNOWN);
	if (context->vip.mode != MPTCP_LEARN)
		return;
	if (ask(context, ring_slot_of_token(token), asked, STEER_TOKEN_QUERY, decision))
		set_token(decision, token);
}

/* As published, a join whose token is another balancer's belongs to that one for ever. */
static __always_inline void decide_forward_join(const struct packet_context *context, __u32 owner, struct decision *decision)
{
	const struct flow_snapshot *flow = known_flow(context);

	if (!flow || flow->target != owner)
		store_join(context, 0, owner, FLOW_NEW, decision);
	decide_send(decision, owner, STEERED_FORWARD);
}

static __always_inline void decide_join(const struct packet_context *context, __u32 token, struct decision *decision)
{
	const struct flow_snapshot *flow = known_flow(context);
	__u32 target, owner;

	if (flow && keeps_flows(flow->target) && is_join_of(flow, token)) {
		decide_send(decision, flow->target, SENT_JOIN);
		return;
	}
	target = target_of_join(context, token, decision);
	owner = ring_at(context, RING_FIRST, ring_slot_of_token(token));
	if (keeps_flows(target))
		decide_joined(context, token, target, FLOW_JOINING, decision);
	else if (owner != NO_TARGET && context->vip.mode == MPTCP_ASSIGN)
		decide_forward_join(context, owner, decision);
	else
		decide_unknown_join(context, token, 0, decision);
}

/* True if there are no TCP options but those of most SYNs, none of which is MPTCP's. */
static __always_inline bool has_usual_options_alone(struct xdp_md *ctx, const struct packet *packet)
{
	return usual_options(ctx, packet->l4 & MAX_TCP_OFFSET, packet->options) == packet->options;
}

/* True if nothing is due for a SYN that came again, without MPTCP: it goes where the first one went. */
static __always_inline bool goes_again(const struct packet_context *context, int kind)
{
	return opens_again(context) && kind != MPTCP_JOIN_SYN && kind != MPTCP_CAPABLE_SYN && context->passed_over == NO_TARGET &&
	       !gives_way_to_syn(&context->flow);
}

/* Looks up the slot of the packet's flow, unless the SYN goes where the first one went. */
__noinline int decide_syn(struct xdp_md *ctx, struct packet_context *context, struct decision *decision)
{
	struct mptcp_found found;
	int kind = MPTCP_NONE;

	if (!context || !decision)
		return 0;
	if (context->vip.mode >= MPTCP_LEARN && !has_usual_options_alone(ctx, &context->packet))
		kind = search_options(ctx, context, &found, decision);
	if (opens_again(context) && is_repeated(context))
		decision->writes |= WRITES_SILENT;
	if (goes_again(context, kind)) {
		decide_send(decision, context->flow.target, SENT_SYN);
		return 0;
	}
	look_up_slot(context);
	if (kind == MPTCP_JOIN_SYN)
		decide_join(context, found.token, decision);
	else if (kind != MPTCP_CAPABLE_SYN || !assignable(context) || !decide_assign(context, &found, decision))
		decide_open(context, kind == MPTCP_CAPABLE_SYN, decision);
	return 0;
}
