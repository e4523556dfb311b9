/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/* Later packets of known flows, all but those on the fast path. */
#pragma once

#include "balancer/by_hash.h"
#include "balancer/contest.h"
#include "balancer/miss.h"
#include "balancer/signs.h"

/* Its backend is down: the hash's choice now, and the entry's other content is void. */
static __always_inline void decide_rehash(const struct packet_context *context, struct decision *decision)
{
	note(decision, FLOW_REHASHED);
	decide_new(context, FLOW_NEW, SENT_FLOW, decision);
}

/* True if the flow should be registered again: the ring or the tables changed, or its refresh interval is over and its
 * last registrations are made; a flow of few packets would begin them again and again else, and never come to the
 * last. */
static __always_inline bool refresh_due(const struct packet_context *context)
{
	if (context->flow.epoch != settings.epoch)
		return true;
	if (context->flow.state & (FLOW_OWNER_PENDING | FLOW_TOKEN_PENDING))
		return false;
	return interval_is_over(context->hash, context->flow.seen, context->now);
}

/* True if another balancer may have an entry of the flow's addresses and ports that leads to another backend than this
 * flow's: the hash gives another one now, or lately did. */
static __always_inline bool may_differ_elsewhere(const struct packet_context *context)
{
	return own_hashed_target(context) != context->flow.target || hashed_otherwise_before(context);
}

/* The `state` of an established flow, or of one behind its end, with the registrations that its next packets carry. A
 * join needs none of its token if the first balancer that was asked has just answered for it. As published (assign), a
 * new owner is not informed. A flow with a token is registered where the hash explains it, too: the balancer that it
 * moves to would not know its token else. A registration that is due because others were told of a candidate stays
 * due. */
static __always_inline __u8 pending_registrations(const struct packet_context *context, __u8 state)
{
	const struct flow_snapshot *flow = &context->flow;
	bool answered_for = (flow->state & FLOW_STATE_MASK) == FLOW_JOINING && !(flow->state & FLOW_TOKEN_PENDING);

	if (flow->token && !answered_for && (context->vip.mode != MPTCP_ASSIGN || own_token(flow->token)))
		state |= FLOW_TOKEN_PENDING;
	state |= is_opening(flow->state) ? 0 : flow->state & FLOW_OWNER_PENDING;
	if (context->vip.mode == MPTCP_LEARN && (flow->token || may_differ_elsewhere(context)))
		state |= FLOW_OWNER_PENDING;
	return state;
}

static __always_inline bool has_data(const struct packet *packet)
{
	return packet->l4 - packet->l3 + TCP_HEADER + packet->options < packet->length;
}

/* True if the packet ends the flow, or says nothing against its end. */
static __always_inline bool is_over(const struct packet_context *context)
{
	return closes(context) || (is_closing(&context->flow) && !has_data(&context->packet));
}

/* The state of the known flow behind its end. */
static __always_inline __u8 closing_state(const struct packet_context *context)
{
	const struct flow_snapshot *flow = &context->flow;

	return flow->token || own_hashed_target(context) != flow->target ? FLOW_CLOSING_STATEFUL : FLOW_CLOSING;
}

/* The registration that is made next. */
struct registration {
	__u8 flag; /* FLOW_OWNER_PENDING or FLOW_TOKEN_PENDING */
	__u32 slot;
};

static __always_inline struct registration next_registration(const struct packet_context *context, __u8 state)
{
	if (state & FLOW_TOKEN_PENDING)
		return (struct registration){ .flag = FLOW_TOKEN_PENDING, .slot = ring_slot_of_token(context->flow.token) };
	return (struct registration){ .flag = FLOW_OWNER_PENDING, .slot = slot_of_flow(context) };
}

/* Sends the packet to its backend through a balancer that stores the registration, or through both of the slot. */
static __always_inline void steer_registration(const struct packet_context *context, const struct registration *registration,
					       __u32 peer, enum registration_reach reach, struct decision *decision)
{
	set_token(decision, context->flow.token);
	set_backend(decision, context->flow.target);
	if (registration->flag == FLOW_TOKEN_PENDING)
		decide_steer(decision, peer, STEER_CONFIRM, STEERED_KEYS);
	else
		decide_steer(decision, peer, STEER_REGISTER_FLOW, STEERED_FLOW);
	decision->message.query = registration->flag == FLOW_OWNER_PENDING && is_over(context);
	decision->message.asked = reach;
}

/* Makes one pending registration: here if this is one of the slot's balancers, and with this packet at the others. It
 * has to wait for another packet if this one is too long for a steering header, or while a balancer is suspect;
 * meanwhile the other one has it. Returns the state with what is pending still. */
__noinline int send_registration(const struct packet_context *context, __u32 state, struct decision *decision)
{
	struct registration next;
	struct keepers keepers;

	if (!context || !decision || !(state & (FLOW_OWNER_PENDING | FLOW_TOKEN_PENDING)))
		return state;
	next = next_registration(context, state);
	keepers = keepers_of(context, next.slot);
	if (keepers.here && next.flag == FLOW_TOKEN_PENDING)
		learn_token(context, context->flow.token, context->flow.target, TOKEN_CONFIRMED, decision);
	if (keepers.peer == NO_TARGET)
		return state & ~next.flag;
	if (is_suspect(context, keepers.peer) || !steerable(context, keepers.peer))
		return state;
	steer_registration(context, &next, keepers.peer, keepers.reach, decision);
	return keepers.passed_over ? state : state & ~next.flag;
}

/* Makes of the pending registrations what one packet can. Returns the state with what is pending still. */
static __always_inline __u8 send_pending(const struct packet_context *context, __u32 state, struct decision *decision)
{
	state = send_registration(context, state, decision);
	return decision->action == STEER ? state : send_registration(context, state, decision);
}

/* Keys came: their token is the flow's from now on. */
static __always_inline void decide_keys(const struct packet_context *context, const struct mptcp_found *found,
					struct decision *decision)
{
	bool second = context->flow.state & FLOW_KEYS_SECOND;
	struct flow_snapshot changed = context->flow;

	changed.token = learn_keys(context, found, TOKEN_PROVISIONAL, second, decision);
	changed.state = FLOW_LEARNING | FLOW_GOES_ON | (second ? 0 : FLOW_KEYS_SECOND);
	changed.state = marked(context, changed.token ? changed.state : FLOW_ESTABLISHED);
	changed.epoch = changed.token ? changed.epoch : settings.epoch;
	changed.seen = context->now;
	if (changed.token == context->flow.token)
		change_flow(&changed, decision);
	else
		change_flow_token(&changed, decision);
}

/* More than the SYN was seen. The time of the search for keys counts from that, if it came here. */
static __always_inline void leave_syn(const struct packet_context *context, struct decision *decision)
{
	struct flow_snapshot changed = context->flow;

	if (changed.state & FLOW_UNSEEN)
		changed.seen = context->now;
	changed.state = marked(context, FLOW_LEARNING | FLOW_GOES_ON);
	change_flow(&changed, decision);
}

/* A packet that cannot follow the one with which the flow opened says nothing of the connection. */
static __always_inline void decide_learning(struct xdp_md *ctx, const struct packet_context *context, struct decision *decision)
{
	struct mptcp_found found;
	int kind = follows_opening(context) ? search_options(ctx, context, &found, decision) : MPTCP_NONE;

	if (kind == MPTCP_CAPABLE_KEYS)
		decide_keys(context, &found, decision);
	else if (kind == MPTCP_DSS && context->flow.token)
		refresh_flow(context, send_pending(context, pending_registrations(context, FLOW_ESTABLISHED), decision),
			     decision);
	else if (context->now - context->flow.seen >= settings.learning)
		refresh_flow(context, FLOW_ESTABLISHED, decision);
	else if (is_syn_alone(&context->flow))
		leave_syn(context, decision);
}

/* FLOW_TOKEN_PENDING, once: the connection went on for a second, which settles its token. */
static __always_inline __u8 settling(const struct packet_context *context)
{
	const struct flow_snapshot *flow = &context->flow;

	if (!(flow->state & FLOW_FRESH) || within(context->now, flow->seen, TOUCH))
		return 0;
	return pending_registrations(context, 0) & FLOW_TOKEN_PENDING;
}

/* A flow behind its end stays there until it has data again: the other half of the connection may take long. */
static __always_inline void decide_established(const struct packet_context *context, struct decision *decision)
{
	__u8 state = context->flow.state & ~FLOW_TOLD, now = is_over(context) ? closing_state(context) : FLOW_ESTABLISHED;

	if ((state & FLOW_STATE_MASK) != now || refresh_due(context))
		refresh_flow(context, send_pending(context, pending_registrations(context, now), decision), decision);
	else
		move_flow(context, send_pending(context, state | settling(context), decision), decision);
}

/* Tells the balancers that keep the flow of its end, with this packet. False: not all of them. */
static __always_inline bool tell_of_end(const struct packet_context *context, struct decision *decision)
{
	const struct registration end = { .flag = FLOW_OWNER_PENDING, .slot = slot_of_flow(context) };
	struct keepers keepers = keepers_of(context, end.slot);

	if (keepers.peer == NO_TARGET || is_suspect(context, keepers.peer) || !steerable(context, keepers.peer))
		return false;
	steer_registration(context, &end, keepers.peer, keepers.reach, decision);
	return !keepers.passed_over;
}

/* FIN or RST. It may be forged: an entry that alone gives target or token is kept, and gives way first. A handshake in
 * progress stays one, for the little time that it has. */
static __always_inline void decide_end(const struct packet_context *context, struct decision *decision)
{
	const struct flow_snapshot *flow = &context->flow;
	__u8 state = closing_state(context), pending = flow->state & ~(FLOW_STATE_MASK | FLOW_TOLD);

	if (is_opening(flow->state))
		return;
	if ((flow->token || may_differ_elsewhere(context)) && context->vip.mode == MPTCP_LEARN && !is_closing(flow) &&
	    tell_of_end(context, decision))
		pending &= ~FLOW_OWNER_PENDING;
	move_flow(context, pending | state, decision);
}

/* True if a FIN or RST came just now. Data that come a second later say that the flow goes on: that was forged. */
static __always_inline bool has_just_ended(const struct packet_context *context)
{
	return is_closing(&context->flow) && within(context->now, context->flow.seen, TOUCH);
}

/* A flow whose backend only another balancer knows, which forwards it. Once this one is configured anew, or the other
 * one gone, it asks again. */
static __always_inline void decide_lent_flow(const struct packet_context *context, struct decision *decision)
{
	if (context->flow.epoch == settings.epoch && keeps_flows(context->flow.target)) {
		move_flow(context, FLOW_ESTABLISHED, decision);
		decide_send(decision, context->flow.target, STEERED_FORWARD);
	} else if (!query_flow(context, 0, decision)) {
		decide_by_hash_alone(context, decision);
	}
}

/* True if other balancers may know better: the flow was silent for a second, and may have ended at another balancer,
 * and its addresses and ports be those of a new one. Routers move flows before anybody here knows why, and back. An
 * entry's time is up to a second old while its flow is not silent, but behind its end, or with the first packet after a
 * change of the ring. */
static __always_inline bool may_be_outdated(const struct packet_context *context)
{
	const struct flow_snapshot *flow = &context->flow;
	bool moved = is_closing(flow) || flow->epoch != settings.epoch;

	if (context->vip.mode != MPTCP_LEARN || is_opening(flow->state))
		return false;
	return !within(context->now, last_seen(context), moved ? TOUCH : 2 * TOUCH);
}

/* Keys on a flow that was silent: those of a new connection with its addresses and ports, whose SYN went to another
 * balancer, and by that to the hash's backend. Their token is registered, and the entry's own when the connection goes
 * on. Anybody can send keys: the entry stays as it is until then. */
static __always_inline bool decide_keys_of_another(struct xdp_md *ctx, const struct packet_context *context,
						   struct decision *decision)
{
	__u32 target = own_hashed_target(context);
	struct mptcp_found found;
	__u32 token;

	if (!may_be_outdated(context) || closes(context) || target == NO_TARGET)
		return false;
	if (search_options(ctx, context, &found, decision) != MPTCP_CAPABLE_KEYS || token_of(&found) == context->flow.token)
		return false;
	if (!within_limit(context, LIMIT_LEARN, decision)) {
		note(decision, LEARN_LIMITED);
		return false;
	}
	decide_send(decision, target, SENT_KEYS);
	token = learn_keys(context, &found, TOKEN_UNOPENED, false, decision);
	if (token)
		contest(context, CANDIDATE_KEYS, context->sequence - 1, token, target, decision);
	return true;
}

/* The flow is as it is known here: others know the same, or nothing newer. */
static __always_inline void decide_verified(struct xdp_md *ctx, const struct packet_context *context, struct decision *decision)
{
	if (decide_keys_of_another(ctx, context, decision))
		return;
	decide_send(decision, context->flow.target, SENT_FLOW);
	if (closes(context))
		decide_end(context, decision);
	else
		decide_established(context, decision);
}

/* True if others may have registered a flow with the packet's addresses and ports: those with a token all are, and
 * those that are not where the hash says, or lately were not. An option of MPTCP on a flow that has no token is another
 * flow's. */
static __always_inline bool may_be_registered(struct xdp_md *ctx, const struct packet_context *context, struct decision *decision)
{
	struct mptcp_found found;
	int kind;

	if (context->flow.token || may_differ_elsewhere(context))
		return true;
	kind = search_options(ctx, context, &found, decision);
	return kind == MPTCP_DSS || kind == MPTCP_JOIN_ACK;
}

/* Asks other balancers about a flow that is known here. False: it is as it is known here. */
static __always_inline bool verify_flow(struct xdp_md *ctx, const struct packet_context *context, struct decision *decision)
{
	if (!may_be_outdated(context) || !may_be_registered(ctx, context, decision))
		return false;
	if (query_flow(context, 0, decision))
		return true;
	decide_send(decision, context->flow.target, SENT_FLOW);
	return false;
}

/* True if the flow's SYN does not explain the packet: its number cannot follow, or it is a join's without an option of
 * MPTCP, which all of those have but resets. */
static __always_inline bool is_past_opening(struct xdp_md *ctx, const struct packet_context *context, struct decision *decision)
{
	struct mptcp_found found;

	if (is_of_another(context))
		return true;
	return context->known && (context->flow.state & FLOW_STATE_MASK) == FLOW_JOINING &&
	       !(context->packet.tcp_flags & TCP_RST) && search_options(ctx, context, &found, decision) == MPTCP_NONE;
}

/* A packet that neither the flow's SYN explains nor another balancer: by hash, beside the entry. That stays, since the
 * packet may be forged as well as the SYN. One with an option of MPTCP may be far ahead of a join's SYN. As published
 * (assign), all go with the entry. False: it goes with the entry. */
__noinline int decide_past_opening(struct xdp_md *ctx, const struct packet_context *context, struct decision *decision)
{
	struct mptcp_found found;

	if (!context || !decision || !context->known || context->vip.mode == MPTCP_ASSIGN || !rests_on_syn(&context->flow) ||
	    context->flow.target == own_hashed_target(context) || !is_past_opening(ctx, context, decision))
		return false;
	if ((context->flow.state & FLOW_STATE_MASK) == FLOW_JOINING &&
	    search_options(ctx, context, &found, decision) != MPTCP_NONE)
		return false;
	decide_send(decision, own_hashed_target(context), SENT_MISS);
	return true;
}

/* A packet that the flow's SYN does not explain: others may know the flow to which it belongs. False: it goes with the
 * entry. */
static __always_inline bool ask_for_another(struct xdp_md *ctx, const struct packet_context *context, struct decision *decision)
{
	struct mptcp_found found;

	if (!is_past_opening(ctx, context, decision))
		return false;
	if (context->vip.mode == MPTCP_LEARN && worth_asking(context, search_options(ctx, context, &found, decision)) &&
	    query_flow(context, 0, decision))
		return true;
	decide_send(decision, context->flow.target, SENT_FLOW);
	return decide_past_opening(ctx, context, decision);
}

/* A packet of a contested flow: the candidate's, or of the flow as others know it, or as it is known here. True: all is
 * decided; false: as decide_contested. */
static __always_inline bool decide_contest(struct xdp_md *ctx, const struct packet_context *context, struct decision *decision)
{
	const struct candidate *candidate = candidate_of(context);

	if (!(candidate && follows(context, candidate)) &&
	    (verify_flow(ctx, context, decision) || ask_for_another(ctx, context, decision)))
		return true;
	return decide_contested(ctx, context, decision);
}

/* A packet of a known flow, all but those on the fast path. */
__noinline int decide_established_flow(struct xdp_md *ctx, const struct packet_context *context, struct decision *decision)
{
	__u8 state;

	if (!context || !decision || !context->known)
		return 0;
	state = context->flow.state & FLOW_STATE_MASK;
	if (context->vip.mode == MPTCP_LEARN && is_balancer(context->flow.target)) {
		decide_lent_flow(context, decision);
		return 0;
	}
	if (!keeps_this_flow(context, context->flow.target)) {
		decide_rehash(context, decision);
		return 0;
	}
	decide_send(decision, context->flow.target, SENT_FLOW);
	if (goes_on(context))
		decision->writes |= WRITES_ANSWERED;
	if (context->packet.protocol == IPPROTO_UDP)
		touch_flow(context, decision);
	else if (context->flow.state & FLOW_CONTESTED && decide_contest(ctx, context, decision))
		return 0;
	else if (own_hashed_target(context) == context->flow.target && decide_keys_of_another(ctx, context, decision))
		return 0;
	else if (verify_flow(ctx, context, decision) || ask_for_another(ctx, context, decision))
		return 0;
	else if (closes(context))
		decide_end(context, decision);
	else if (has_just_ended(context))
		return 0;
	else if (state == FLOW_LEARNING)
		decide_learning(ctx, context, decision);
	else
		decide_established(context, decision);
	return 0;
}
