/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/* Later packets of known flows, all but those on the fast path. */
#pragma once

#include "balancer/by_hash.h"
#include "balancer/contest.h"

/* Its backend is down: the hash's choice now, and the entry's other content is void. */
static __always_inline void decide_rehash(const struct packet_context *context, struct decision *decision)
{
	count(context, FLOW_REHASHED);
	decide_by_hash(context, FLOW_NEW, SENT_FLOW, decision);
}

/* True if the flow should be registered again: the ring or the tables changed, or its refresh interval is over. Each flow's intervals
 * start at a tick of their own, taken from its hash. */
static __always_inline bool refresh_due(const struct packet_context *context)
{
	__u32 every = settings.refresh;
	__u32 phase = context->hash >> 40;

	if (context->flow.epoch != settings.epoch)
		return true;
	return every && (context->flow.seen + phase) / every != (context->now + phase) / every;
}

/* The state of an established flow, with the registrations that its next packets carry. A join needs none of its token: the token's
 * owner has just answered for it. As published (assign), a new owner is not informed. */
static __always_inline __u8 pending_registrations(const struct packet_context *context)
{
	const struct flow_snapshot *flow = &context->flow;
	__u8 state = FLOW_ESTABLISHED;

	if (flow->token && (flow->state & FLOW_STATE_MASK) != FLOW_JOINING &&
	    (context->vip.mode != MPTCP_ASSIGN || own_token(flow->token)))
		state |= FLOW_TOKEN_PENDING;
	if (context->vip.mode == MPTCP_LEARN && own_hashed_target(context) != flow->target)
		state |= FLOW_OWNER_PENDING;
	return state;
}

/* Sends the packet through the balancer that owns the flow, to register it there. Returns the state with what is pending still: the
 * packet may be too long for a steering header. */
static __always_inline __u8 register_flow(const struct packet_context *context, __u8 state, struct decision *decision)
{
	__u32 owner = flow_owner(context);

	if (owner == NO_TARGET)
		owner = successor(context, slot_of_flow(context));
	if (owner != NO_TARGET && !steerable(context, owner))
		return state;
	if (owner != NO_TARGET) {
		set_token(decision, context->flow.token);
		set_backend(decision, context->flow.target);
		decide_steer(decision, owner, STEER_REGISTER_FLOW, STEERED_FLOW);
	}
	return state & ~FLOW_OWNER_PENDING;
}

/* Makes one pending registration with this packet. Returns the state with what is pending still. */
static __always_inline __u8 send_pending(const struct packet_context *context, __u8 state, struct decision *decision)
{
	__u32 owner;

	if (state & FLOW_OWNER_PENDING)
		return register_flow(context, state, decision);
	if (!(state & FLOW_TOKEN_PENDING))
		return state;
	owner = token_owner(context, context->flow.token);
	if (owner != NO_TARGET && !steerable(context, owner))
		return state;
	register_token(context, context->flow.token, TOKEN_CONFIRMED, decision);
	return state & ~FLOW_TOKEN_PENDING;
}

/* Keys came: their token is the flow's from now on. */
static __always_inline void decide_keys(const struct packet_context *context, const struct mptcp_found *found,
					struct decision *decision)
{
	struct flow_snapshot changed = context->flow;

	changed.token = learn_keys(context, found, decision);
	changed.state = marked(context, changed.token ? FLOW_LEARNING | FLOW_KEYS_SEEN : FLOW_ESTABLISHED);
	changed.seen = context->now;
	if (changed.token == context->flow.token)
		change_flow(context, &changed);
	else
		change_flow_token(context, &changed);
}

static __always_inline void decide_learning(struct xdp_md *ctx, const struct packet_context *context, struct decision *decision)
{
	struct mptcp_found found;
	int kind = search_options(ctx, context, &found);

	if (kind == MPTCP_CAPABLE_KEYS)
		decide_keys(context, &found, decision);
	else if (kind == MPTCP_DSS && context->flow.state & FLOW_KEYS_SEEN)
		move_flow(context, send_pending(context, pending_registrations(context), decision));
	else if (context->now - context->flow.seen >= settings.learning)
		move_flow(context, FLOW_ESTABLISHED);
}

static __always_inline void decide_established(const struct packet_context *context, struct decision *decision)
{
	__u8 state = context->flow.state;

	if ((state & FLOW_STATE_MASK) != FLOW_ESTABLISHED || refresh_due(context))
		refresh_flow(context, send_pending(context, pending_registrations(context), decision));
	else
		move_flow(context, send_pending(context, state, decision));
}

/* FIN or RST. It may be forged: it shortens the life of no entry that alone gives target or token. A handshake in progress stays one, for
 * the little time that it has. */
static __always_inline void decide_end(const struct packet_context *context)
{
	const struct flow_snapshot *flow = &context->flow;
	bool stateful = flow->token || own_hashed_target(context) != flow->target;

	if (is_opening(flow->state))
		return;
	move_flow(context, (flow->state & ~FLOW_STATE_MASK) | (stateful ? FLOW_CLOSING_STATEFUL : FLOW_CLOSING));
}

/* True if a FIN or RST came just now. Whatever comes a second later says that the flow goes on: that was forged, or the half of it. */
static __always_inline bool has_just_ended(const struct packet_context *context)
{
	return is_closing(&context->flow) && within(context->now, context->flow.seen, TOUCH);
}

/* A packet of a known flow, all but those on the fast path. */
__noinline int decide_established_flow(struct xdp_md *ctx, const struct packet_context *context, struct decision *decision)
{
	__u8 state;

	if (!context || !decision || !context->known)
		return 0;
	state = context->flow.state & FLOW_STATE_MASK;
	if (!target_up(context->flow.target)) {
		decide_rehash(context, decision);
		return 0;
	}
	decide_send(decision, context->flow.target, SENT_FLOW);
	if (context->packet.protocol == IPPROTO_UDP)
		refresh_flow(context, FLOW_UDP);
	else if (closes(context))
		decide_end(context);
	else if (context->flow.state & FLOW_CONTESTED && decide_contested(ctx, context, decision))
		return 0;
	else if (has_just_ended(context))
		return 0;
	else if (state == FLOW_LEARNING)
		decide_learning(ctx, context, decision);
	else
		decide_established(context, decision);
	return 0;
}
