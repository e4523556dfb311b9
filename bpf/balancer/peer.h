/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/* What other balancers send: questions about tokens and flows, their answers, and packets that tell of a token or a flow. */
#pragma once

#include "balancer/service.h"

/* Whether the packet comes from a balancer and knows the cookie; takes the steering header off. */
static __always_inline bool take_word(struct xdp_md *ctx, const struct job *outer, struct steering *word)
{
	__u64 cookie;

	if (unsteer(ctx, &outer->packet, word) < 0)
		return false;
	__builtin_memcpy(&cookie, word->cookie, sizeof(cookie));
	return cookie == settings.cookie;
}

static __always_inline void decide_answer(__u32 target, __u32 asker, const struct steering *word, struct decision *decision)
{
	decision->target = NO_TARGET;
	decide_steer(decision, asker, STEER_ANSWER, ANSWERED);
	decision->sent_verdict = DROP_FAILED;
	decision->word.asked = word->kind;
	__builtin_memcpy(decision->word.token, word->token, sizeof(word->token));
	say_backend(decision, target);
}

static __always_inline void answer_join(const struct job *job, __u32 asker, const struct steering *word,
				   struct decision *decision)
{
	__u32 target = target_of_join(job, get_be32(word->token));

	if (target == NO_TARGET)
		count(job, ANSWER_UNKNOWN);
	decide_answer(target, asker, word, decision);
}

static __always_inline void answer_flow(const struct job *job, __u32 asker, const struct steering *word,
				   struct decision *decision)
{
	struct flow *flow = known_flow(job);
	__u32 target = flow && target_up(flow->target) ? flow->target : NO_TARGET;

	if (target == NO_TARGET)
		count(job, ANSWER_UNKNOWN);
	decide_answer(target, asker, word, decision);
	say_token(decision, flow ? flow->token : 0);
}

/* A flow that has come from another balancer, which may be gone, and its token with it: the owner is told. So is the flow's
 * owner, if it was not the one who answered. */
static __always_inline __u8 state_of_found(const struct job *job, __u32 token, __u32 peer)
{
	__u8 state = FLOW_ESTABLISHED;

	if (closes(job))
		return FLOW_CLOSING;
	if (token)
		state |= FLOW_TOKEN_DUE;
	if (flow_owner(job) != peer)
		state |= FLOW_FLOW_DUE;
	return state;
}

/* The answer to this balancer's own question. */
static __always_inline void take_answer(const struct job *job, __u32 peer, const struct steering *word,
					struct decision *decision)
{
	__u32 target = target_named(get_be32(word->backend));
	struct flow_value value = { .token = get_be32(word->token), .target = target };
	bool known = target != NO_TARGET && target_up(target);

	if (word->asked == STEER_JOIN && known) {
		decide_joined(job, value.token, target, decision);
	} else if (word->asked == STEER_JOIN) {
		decide_send(decision, own_hashed_target(job), SENT_JOIN_UNKNOWN);
		decide_own_join(job, value.token, peer, decision);
	} else if (known) {
		value.state = state_of_found(job, value.token, peer);
		store_flow(job, &value, BY_MEMORY);
		decide_send(decision, target, SENT_FLOW);
	} else if (!ask_for_flow(job, former_owner(job, slot_of_flow(job), peer), decision)) {
		decide_guess(job, decision);
	}
}

/* Remembers what the other balancer tells, and sends the packet on. */
static __always_inline void take_register(const struct job *job, const struct steering *word, struct decision *decision)
{
	__u32 token = get_be32(word->token);
	__u32 target = target_named(get_be32(word->backend));
	struct flow_value value = { .token = token, .target = target, .state = FLOW_ESTABLISHED };

	decide_send(decision, target, SENT_FOR_PEER);
	if (decision->action != SEND)
		return;
	if (word->kind == STEER_REGISTER_FLOW)
		store_flow(job, &value, BY_MEMORY);
	else if (token)
		learn_token(job, token, target, word->kind == STEER_CONFIRM ? TOKEN_CONFIRMED : TOKEN_PROVISIONAL);
}

__noinline int decide_word(const struct job *job, __u32 peer, const struct steering *word, struct decision *decision)
{
	if (!job || !word || !decision)
		return 0;
	switch (word->kind) {
	case STEER_JOIN:
		answer_join(job, peer, word, decision);
		break;
	case STEER_FLOW:
		answer_flow(job, peer, word, decision);
		break;
	case STEER_ANSWER:
		take_answer(job, peer, word, decision);
		break;
	case STEER_REGISTER:
	case STEER_CONFIRM:
	case STEER_REGISTER_FLOW:
		take_register(job, word, decision);
		break;
	default:
		decide_drop(decision, DROP_MALFORMED);
	}
	return 0;
}
