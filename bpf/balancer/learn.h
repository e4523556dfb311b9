/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/* Learning: the keys that a client sends in clear identify its connection (RFC 8684, section 3.1), and
 * the packet's target is the backend that has it.
 *
 * The token's owner stores it. The packet that carries the keys goes to the backend through the owner, so that the
 * owner has the token before any join can come, and again whenever the client repeats the packet. */
#pragma once

#include "balancer/decision.h"
#include "balancer/flow_table.h"
#include "balancer/token_table.h"
#include "common/options.h"
#include "common/sha1.h"
#include "common/sha256.h"

static __always_inline __u32 token_of(const struct mptcp_found *found)
{
	return found->version == 1 ? token_v1(found->key) : token_v0(found->key);
}

static __always_inline int search_options(struct xdp_md *ctx, const struct packet_context *context, struct mptcp_found *found)
{
	int kind = find_mptcp(ctx, context->packet.l4, context->packet.options, context->packet.tcp_flags, found);

	if (kind == MPTCP_MALFORMED)
		count(context, OPTIONS_MALFORMED);
	return kind;
}

/* Registers a token that this balancer owns; with its successor too, once the token is confirmed. */
static __always_inline bool register_own(const struct packet_context *context, __u32 token, enum token_state state,
					 struct decision *decision)
{
	__u32 next = successor(context, ring_slot_of_token(token));

	if (!learn_token(context, token, decision->target, state))
		return false;
	if (state != TOKEN_CONFIRMED || next == NO_TARGET || !steerable(context, next))
		return true;
	set_token(decision, token);
	set_backend(decision, decision->target);
	decide_steer(decision, next, STEER_CONFIRM, STEERED_KEYS);
	return true;
}

/* Registers the token with its owner, with the packet that goes to decision->target. False: the token is another backend's. */
__noinline int register_token(const struct packet_context *context, __u32 token, enum token_state state,
			      struct decision *decision)
{
	__u32 owner;

	if (!context || !decision)
		return 0;
	owner = token_owner(context, token);
	if (owner == NO_TARGET)
		return register_own(context, token, state, decision);
	if (!steerable(context, owner)) {
		count(context, STEER_TOO_BIG);
		return true;
	}
	set_token(decision, token);
	set_backend(decision, decision->target);
	decide_steer(decision, owner, state == TOKEN_CONFIRMED ? STEER_CONFIRM : STEER_REGISTER, STEERED_KEYS);
	return true;
}

/* Keys came on a flow that goes to decision->target. The token, or 0: none to remember. */
static __always_inline __u32 learn_keys(const struct packet_context *context, const struct mptcp_found *found,
					struct decision *decision)
{
	__u32 token = token_of(found);

	decision->verdict = SENT_KEYS;
	if (!token) {
		count(context, TOKEN_ZERO);
		return 0;
	}
	return register_token(context, token, TOKEN_PROVISIONAL, decision) ? token : 0;
}
