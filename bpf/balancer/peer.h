/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/* Messages from other balancers: queries for tokens and flows, replies, and registrations of a token or a flow. */
#pragma once

#include "balancer/service.h"

static __always_inline void decide_reply(__u32 target, __u32 asker, const struct steering *message, struct decision *decision)
{
	decision->target = NO_TARGET;
	decide_steer(decision, asker, STEER_REPLY, REPLIED);
	decision->sent_verdict = DROP_FAILED;
	decision->message.query = message->kind;
	decision->message.asked = message->asked;
	__builtin_memcpy(decision->message.token, message->token, sizeof(message->token));
	set_backend(decision, target);
}

/* Replies name the backend also where it seems down here: the one who asked has checks of its own, and this balancer's
 * link may just have been cut. */
static __always_inline void reply_to_token_query(const struct packet_context *context, __u32 asker,
						 const struct steering *message, struct decision *decision)
{
	__u32 target = target_of_join(context, get_be32(message->token), decision);

	if (target == NO_TARGET)
		note(decision, REPLY_UNKNOWN);
	decide_reply(target, asker, message, decision);
}

/* The reply says whether it is older than what the asker knows. */
static __always_inline void reply_to_flow_query(struct xdp_md *ctx, const struct packet_context *context, __u32 asker,
						const struct steering *message, struct decision *decision)
{
	bool known = context->known && !is_past_opening(ctx, context, decision);
	__u32 target = known ? if_configured(context->flow.target) : NO_TARGET;
	__u32 token = known ? context->flow.token : 0, age = get_be32(message->backend);
	bool older = known && age && !within(context->now, context->flow.seen + SAME_TIME, age);
	struct candidate candidate;

	if (context->known && context->flow.state & FLOW_CONTESTED && accept_candidate(context, age, &candidate, decision)) {
		target = candidate.target;
		token = candidate.token;
		older = false;
	} else if (context->known && context->flow.state & FLOW_CONTESTED && answers_challenge(context, decision)) {
		target = decision->target;
		older = false;
	}
	if (target == NO_TARGET)
		note(decision, REPLY_UNKNOWN);
	decide_reply(target, asker, message, decision);
	set_token(decision, token);
	if (older)
		decision->message.asked |= ANSWER_OLDER;
}

/* The state of a flow that came from another balancer. The one that had it may be gone, and its entries with it: token
 * and flow are registered again. */
static __always_inline __u8 state_of_reply(const struct packet_context *context, __u32 token, __u32 target)
{
	__u8 state = FLOW_ESTABLISHED;

	if (token)
		state |= FLOW_TOKEN_PENDING;
	if (token || own_hashed_target(context) != target)
		state |= FLOW_OWNER_PENDING;
	return state;
}

/* A join's backend, from the balancer that knows its token. If it was not the first to be asked, the first ones lack
 * the token. */
static __always_inline void handle_join_reply(const struct packet_context *context, const struct steering *message, __u32 target,
					      struct decision *decision)
{
	__u32 token = get_be32(message->token);
	bool lacking = message->asked & (message->asked - 1);

	if (target != NO_TARGET)
		decide_joined(context, token, target, lacking ? FLOW_JOINING | FLOW_TOKEN_PENDING : FLOW_JOINING, decision);
	else
		decide_unknown_join(context, token, message->asked, decision);
}

/* True if the flow is known here as the reply says, or better. */
static __always_inline bool is_known(const struct packet_context *context, const struct steering *reply, __u32 target)
{
	const struct flow_snapshot *flow = &context->flow;

	if (!context->known || !keeps_flows(flow->target) || is_balancer(flow->target))
		return false;
	return reply->asked & ANSWER_OLDER || (flow->target == target && flow->token == get_be32(reply->token));
}

/* Keys on a flow whose handshake another balancer has seen, or none: learnt with the backend that has it. False: the
 * packet has none. */
static __always_inline bool decide_answered_keys(struct xdp_md *ctx, const struct packet_context *context, __u32 token,
						 __u32 target, struct decision *decision)
{
	struct mptcp_found found;

	if (token || search_options(ctx, context, &found, decision) != MPTCP_CAPABLE_KEYS)
		return false;
	if (target == NO_TARGET)
		return decide_midstream_keys(context, &found, own_hashed_target(context), TOKEN_UNOPENED, decision);
	return decide_midstream_keys(context, &found, target, TOKEN_PROVISIONAL, decision);
}

/* A FIN or RST, which may be forged, makes and changes no entry where others know the flow better. */
static __always_inline void handle_flow_reply(struct xdp_md *ctx, const struct packet_context *context,
					      const struct steering *message, __u32 target, struct decision *decision)
{
	struct flow_value value = { .token = get_be32(message->token), .target = target };

	if (is_known(context, message, target)) {
		decide_verified(ctx, context, decision);
	} else if (target != NO_TARGET && closes(context)) {
		decide_send(decision, target, SENT_FLOW);
	} else if (target != NO_TARGET) {
		if (decide_answered_keys(ctx, context, value.token, target, decision))
			return;
		value.state = state_of_reply(context, value.token, target);
		if (!value.token)
			note_placement(context, target, decision);
		store_flow(context, &value, STATEFUL, decision);
		decide_send(decision, target, SENT_FLOW);
	} else if (!query_flow(context, message->asked, decision)) {
		if (decide_past_opening(ctx, context, decision))
			return;
		if (context->known && keeps_flows(context->flow.target))
			decide_verified(ctx, context, decision);
		else if (!decide_answered_keys(ctx, context, 0, NO_TARGET, decision))
			decide_by_hash_alone(context, decision);
	}
}

/* A flow whose backend is known to the balancer that replied, and not here: that one forwards it, until this one knows
 * more. */
static __always_inline void decide_lent(const struct packet_context *context, const struct steering *message,
					struct decision *decision)
{
	struct flow_value value = { .token = get_be32(message->token), .target = context->peer, .state = FLOW_ESTABLISHED };

	store_flow(context, &value, STATEFUL, decision);
	decide_send(decision, context->peer, STEERED_FORWARD);
}

/* The reply to this balancer's own query. */
static __always_inline void handle_answer(struct xdp_md *ctx, const struct packet_context *context,
					  const struct steering *message, struct decision *decision)
{
	__u32 id = get_be32(message->backend), target = target_by_id(id);

	if (is_balancer(target))
		decide_drop(decision, DROP_MALFORMED);
	else if (id && target == NO_TARGET)
		decide_lent(context, message, decision);
	else if (message->query == STEER_TOKEN_QUERY)
		handle_join_reply(context, message, keeps_flows(target) ? target : NO_TARGET, decision);
	else
		handle_flow_reply(ctx, context, message, keeps_flows(target) ? target : NO_TARGET, decision);
}

/* This balancer's own registration comes back: the other one does not know the backend yet. Here it is known. */
static __always_inline void handle_returned(const struct packet_context *context, const struct steering *message,
					    struct decision *decision)
{
	__u32 target = target_by_id(get_be32(message->backend)), token = get_be32(message->token);
	enum token_state state = message->query == STEER_CONFIRM ? TOKEN_CONFIRMED : TOKEN_PROVISIONAL;

	decide_send(decision, is_balancer(target) ? NO_TARGET : target, SENT_RETURNED);
	if (decision->action == SEND && token && (message->query == STEER_REGISTER || message->query == STEER_CONFIRM))
		learn_token(context, token, target, state, decision);
}

static __always_inline void handle_reply(struct xdp_md *ctx, const struct packet_context *context, const struct steering *message,
					 struct decision *decision)
{
	if (message->query == STEER_TOKEN_QUERY || message->query == STEER_FLOW_QUERY)
		handle_answer(ctx, context, message, decision);
	else
		handle_returned(context, message, decision);
}

/* Stores a flow of which another balancer has seen the SYN alone. Its keys may come here. */
static __always_inline void store_opening(const struct packet_context *context, __u32 target, struct decision *decision)
{
	struct flow_value value = { .target = target, .state = FLOW_LEARNING | FLOW_UNSEEN };

	note_placement(context, target, decision);
	if (!context->known || gives_way_to_syn(&context->flow))
		store_flow(context, &value, STATELESS, decision);
	else if (!is_syn_alone(&context->flow) && differs(context, target))
		contest(context, CANDIDATE_CAPABLE, context->sequence, 0, target, decision);
}

/* Stores what another balancer's SYN opens. It may be forged: it takes no live flow's entry. */
static __always_inline void store_told(const struct packet_context *context, __u32 token, __u32 target, struct decision *decision)
{
	if (token)
		store_join(context, token, target, FLOW_JOINING, decision);
	else
		store_opening(context, target, decision);
	if (decision->writes & WRITES_CANDIDATE)
		decision->candidate.marks = CANDIDATE_TOLD;
}

/* Stores the flow of the message. */
static __always_inline void store_registered(const struct packet_context *context, const struct steering *message, __u32 target,
					     struct decision *decision)
{
	__u32 token = get_be32(message->token);
	struct flow_value value = { .token = token, .target = target, .state = FLOW_ESTABLISHED };

	if (context->packet.tcp_flags & TCP_SYN) {
		store_told(context, token, target, decision);
		return;
	}
	if (message->query)
		value.state = FLOW_CLOSING_STATEFUL | FLOW_TOLD;
	if (!token)
		note_placement(context, target, decision);
	store_flow(context, &value, STATEFUL, decision);
}

/* Sends a registration on to the other balancer of its slot, unless its sender is that one, or has told it. Keys go
 * there also where it seems dead: they come again if they are lost. */
static __always_inline void register_further(const struct packet_context *context, const struct steering *message,
					     struct decision *decision)
{
	bool flow = message->kind == STEER_REGISTER_FLOW;
	__u32 slot = flow ? slot_of_flow(context) : ring_slot_of_token(get_be32(message->token));
	struct keepers keepers = keepers_of(context, slot);

	if (message->asked != REGISTER_FURTHER || !keepers.here || keepers.peer == context->peer)
		return;
	if (keepers.peer == NO_TARGET || !steerable(context, keepers.peer))
		return;
	if (message->kind != STEER_REGISTER && is_suspect(context, keepers.peer))
		return;
	__builtin_memcpy(decision->message.token, message->token, sizeof(message->token));
	__builtin_memcpy(decision->message.backend, message->backend, sizeof(message->backend));
	decide_steer(decision, keepers.peer, message->kind, flow ? STEERED_FLOW : STEERED_KEYS);
	decision->message.query = message->query;
	decision->message.asked = REGISTER_ONCE;
}

static __always_inline enum token_state registered_state(const struct steering *message)
{
	if (message->kind == STEER_CONFIRM)
		return TOKEN_CONFIRMED;
	return message->query ? TOKEN_UNOPENED : TOKEN_PROVISIONAL;
}

/* Stores the token or flow of the message, and sends the packet on. */
static __always_inline void handle_registration(const struct packet_context *context, const struct steering *message,
						struct decision *decision)
{
	__u32 token = get_be32(message->token);
	__u32 target = target_of_message(context, message, decision);

	if (target == NO_TARGET)
		return;
	decide_send(decision, target, SENT_FOR_PEER);
	if (message->kind == STEER_REGISTER_FLOW)
		store_registered(context, message, target, decision);
	else if (token)
		learn_token(context, token, target, registered_state(message), decision);
	if (decision->action == SEND)
		register_further(context, message, decision);
}

__noinline int handle_flow_message(struct xdp_md *ctx, const struct packet_context *context, __u32 peer,
				   const struct steering *message, struct decision *decision)
{
	if (!context || !message || !decision)
		return 0;
	switch (message->kind) {
	case STEER_TOKEN_QUERY:
		reply_to_token_query(context, peer, message, decision);
		break;
	case STEER_FLOW_QUERY:
		reply_to_flow_query(ctx, context, peer, message, decision);
		break;
	case STEER_REPLY:
		handle_reply(ctx, context, message, decision);
		break;
	case STEER_REGISTER:
	case STEER_CONFIRM:
	case STEER_REGISTER_FLOW:
		handle_registration(context, message, decision);
		break;
	default:
		decide_drop(decision, DROP_MALFORMED);
	}
	return 0;
}
