/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/* Learning: the keys that a client sends in clear identify its connection (RFC 8684, section 3.1), and
 * the packet's target is the backend that has it.
 *
 * Two balancers store it, the first and the second of its slot of the ring. The packet that carries the keys goes to
 * the backend through both, so that they have the token before any join can come; packets behind it confirm the token.
 * Keys whose SYN no balancer has seen anybody can send: joins find their token once their connection goes on. */
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

static __always_inline int search_options(struct xdp_md *ctx, const struct packet_context *context, struct mptcp_found *found,
					  struct decision *decision)
{
	int kind = find_mptcp(ctx, context->packet.l4, context->packet.options, context->packet.tcp_flags, found);

	if (kind == MPTCP_MALFORMED)
		note(decision, OPTIONS_MALFORMED);
	return kind;
}

/* Sends the packet with keys through a balancer of the token's slot, to register the token there. */
static __always_inline void steer_keys(const struct packet_context *context, __u32 token, __u32 peer,
				       enum registration_reach reach, struct decision *decision)
{
	if (!steerable(context, peer)) {
		note(decision, STEER_TOO_BIG);
		return;
	}
	set_token(decision, token);
	set_backend(decision, decision->target);
	decide_steer(decision, peer, STEER_REGISTER, STEERED_KEYS);
	decision->message.query = decision->token.state == TOKEN_UNOPENED;
	decision->message.asked = reach;
}

/* Registers the token of keys with the two balancers of its slot, by the packet that carries them and goes to
 * decision->target; also where one seems dead: that may be wrong, and keys that are lost come again. If `again` is true
 * they were lost, maybe with the first balancer: with the second alone, or with the one that is not suspect. False: the
 * token is another backend's. */
__noinline int register_keys(const struct packet_context *context, __u32 token, __u32 state, bool again,
			     struct decision *decision)
{
	struct keepers keepers;
	__u32 slot = ring_slot_of_token(token), second;

	if (!context || !decision)
		return 0;
	keepers = again ? keepers_of(context, slot) : both_keepers(context, slot);
	decision->token.state = state;
	if (keepers.here && !learn_token(context, token, decision->target, state, decision))
		return false;
	if (again && !keepers.here) {
		second = ring_at(context, RING_SECOND, slot);
		keepers.peer = is_suspect(context, second) ? keepers.peer : second;
		keepers.reach = REGISTER_ONCE;
	}
	if (keepers.peer != NO_TARGET && !(again && keepers.here && is_suspect(context, keepers.peer)))
		steer_keys(context, token, keepers.peer, keepers.reach, decision);
	return true;
}

/* Keys came on a flow that goes to decision->target; `state` says if their SYN was seen. The token, or 0: none to
 * remember. Where keys come again, as they do when the packet was lost, they go another way, so that a balancer that
 * has died cannot keep a connection from opening. */
static __always_inline __u32 learn_keys(const struct packet_context *context, const struct mptcp_found *found,
					enum token_state state, bool again, struct decision *decision)
{
	__u32 token = token_of(found);

	decision->verdict = SENT_KEYS;
	if (!token) {
		note(decision, TOKEN_ZERO);
		return 0;
	}
	return register_keys(context, token, state, again, decision) ? token : 0;
}
