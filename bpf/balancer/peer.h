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
	__builtin_memcpy(decision->message.token, message->token, sizeof(message->token));
	set_backend(decision, target);
}

static __always_inline void reply_to_token_query(const struct packet_context *context, __u32 asker,
						 const struct steering *message, struct decision *decision)
{
	__u32 target = target_of_join(context, get_be32(message->token));

	if (target == NO_TARGET)
		count(context, REPLY_UNKNOWN);
	decide_reply(target, asker, message, decision);
}

static __always_inline void reply_to_flow_query(const struct packet_context *context, __u32 asker, const struct steering *message,
						struct decision *decision)
{
	__u32 target = context->known && target_up(context->flow.target) ? context->flow.target : NO_TARGET;

	if (target == NO_TARGET)
		count(context, REPLY_UNKNOWN);
	decide_reply(target, asker, message, decision);
	set_token(decision, context->known ? context->flow.token : 0);
}

/* The state of a flow that came from another balancer. That balancer may be gone, and its token table with it: the token is registered
 * with its owner again, and the flow with its own unless that one sent the reply. */
static __always_inline __u8 state_of_reply(const struct packet_context *context, __u32 token, __u32 peer)
{
	__u8 state = FLOW_ESTABLISHED;

	if (closes(context))
		return FLOW_CLOSING_STATEFUL;
	if (token)
		state |= FLOW_TOKEN_PENDING;
	if (flow_owner(context) != peer)
		state |= FLOW_OWNER_PENDING;
	return state;
}

/* The answer to this balancer's own question. */
static __always_inline void handle_reply(const struct packet_context *context, __u32 peer, const struct steering *message,
					 struct decision *decision)
{
	__u32 target = target_by_id(get_be32(message->backend));
	struct flow_value value = { .token = get_be32(message->token), .target = target };
	bool known = target != NO_TARGET && target_up(target);

	if (message->query == STEER_TOKEN_QUERY && known) {
		decide_joined(context, value.token, target, decision);
	} else if (message->query == STEER_TOKEN_QUERY) {
		decide_send(decision, own_hashed_target(context), SENT_JOIN_UNKNOWN);
		decide_own_join(context, value.token, peer, decision);
	} else if (known) {
		value.state = state_of_reply(context, value.token, peer);
		store_flow(context, &value, STATEFUL);
		decide_send(decision, target, SENT_FLOW);
	} else if (!query_flow(context, former_owner(context, slot_of_flow(context), peer), decision)) {
		decide_by_hash_alone(context, decision);
	}
}

/* Stores the token or flow of the message, and sends the packet on. */
static __always_inline void handle_registration(const struct packet_context *context, const struct steering *message,
						struct decision *decision)
{
	__u32 token = get_be32(message->token);
	__u32 target = target_by_id(get_be32(message->backend));
	struct flow_value value = { .token = token, .target = target, .state = FLOW_ESTABLISHED };

	decide_send(decision, target, SENT_FOR_PEER);
	if (decision->action != SEND)
		return;
	if (message->kind == STEER_REGISTER_FLOW)
		store_flow(context, &value, STATEFUL);
	else if (token)
		learn_token(context, token, target, message->kind == STEER_CONFIRM ? TOKEN_CONFIRMED : TOKEN_PROVISIONAL);
}

__noinline int handle_flow_message(const struct packet_context *context, __u32 peer, const struct steering *message,
				   struct decision *decision)
{
	if (!context || !message || !decision)
		return 0;
	switch (message->kind) {
	case STEER_TOKEN_QUERY:
		reply_to_token_query(context, peer, message, decision);
		break;
	case STEER_FLOW_QUERY:
		reply_to_flow_query(context, peer, message, decision);
		break;
	case STEER_REPLY:
		handle_reply(context, peer, message, decision);
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
