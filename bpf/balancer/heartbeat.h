/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/* Heartbeats between balancers. A daemon sends them by a socket; the other balancer's program answers, and this
 * balancer's program notes the answer. So an answer tells that packets reach the other balancer's program, by the path
 * that all steered packets take, and come back, and that both have the same secret; daemons that are busy do not
 * matter. */
#pragma once

#include "balancer/authenticate.h"
#include "balancer/forward.h"
#include "common/turn.h"

static __always_inline __u64 nanoseconds(const struct packet_context *context)
{
	return SETTINGS_CLOCK ? (__u64)context->now << TICK_SHIFT : bpf_ktime_get_ns();
}

/* Turns the frame into the answer: back to the sender's steering port, with this message. False: it has no room for
 * one. */
static __always_inline bool turn(struct xdp_md *ctx, const struct packet *packet, bool v6, const struct steering *message)
{
	const __u32 ip_size = v6 ? IPV6_SIZE : IPV4_SIZE;
	void *data = (void *)(long)ctx->data;
	void *ip = data + link_size(packet);
	struct udphdr *udp = ip + ip_size;

	if ((void *)udp + STEERING_SHIM > end_of_frame(ctx))
		return false;
	swap_macs(data);
	swap_addresses(ip, v6);
	udp->source = settings.steering_port;
	udp->dest = settings.steering_port;
	udp->check = 0;
	*(struct steering *)(udp + 1) = *message;
	return true;
}

static __always_inline void answer_heartbeat(struct xdp_md *ctx, const struct packet_context *context,
					     const struct steering *heartbeat, struct decision *decision)
{
	const struct packet *packet = &context->packet;
	struct steering *message = &decision->message;
	__u64 tag;

	*message = (struct steering){
		.version = STEERING_VERSION,
		.kind = STEER_HEARTBEAT_REPLY,
		.asked =
			(settings.tables_changed ? TABLES_CHANGED : 0) | (has_unexplained_flows(context) ? FLOWS_UNEXPLAINED : 0),
	};
	__builtin_memcpy(message->token, heartbeat->token, sizeof(message->token));
	put_be32(message->backend, settings.fingerprint);
	tag = message_tag(context, message, &packet->destination, 0);
	__builtin_memcpy(message->tag, &tag, sizeof(message->tag));
	if (packet->v6 ? turn(ctx, packet, true, message) : turn(ctx, packet, false, message)) {
		decision->action = BOUNCE;
		decision->verdict = HEARTBEAT_ANSWERED;
	} else {
		decide_drop(decision, DROP_MALFORMED);
	}
}

__noinline int handle_heartbeat(struct xdp_md *ctx, const struct packet_context *context, struct decision *decision)
{
	const struct steering *message;

	if (!context || !decision)
		return 0;
	message = &context->message;
	if (!authenticate(context, message, decision)) {
		decide_drop(decision, DROP_UNAUTHENTICATED);
	} else if (message->kind == STEER_HEARTBEAT_REPLY) {
		decide_drop(decision, HEARTBEAT_HEARD);
		tell_of_peer(decision, PEER_ANSWERED);
	} else {
		answer_heartbeat(ctx, context, message, decision);
		tell_of_peer(decision, PEER_BEATS);
	}
	return 0;
}

/* The number is written last: who finds it there finds the rest, too. */
static __always_inline void hear_answer(const struct packet_context *context, struct peer_state *state)
{
	const struct steering *answer = &context->message;

	WRITE_ONCE(state->heard, nanoseconds(context));
	WRITE_ONCE(state->fingerprint, get_be32(answer->backend));
	WRITE_ONCE(state->changes, answer->asked);
	WRITE_ONCE(state->sequence, get_be32(answer->token));
}

/* Writes what the message of context->peer says of it. */
__noinline int write_peer(const struct packet_context *context, __u32 news)
{
	struct peer_state *state;
	__u32 peer;

	if (!context)
		return 0;
	peer = context->peer;
	state = bpf_map_lookup_elem(&peer_states, &peer);
	if (!state)
		return 0;
	if (news == PEER_REFUSED) {
		__sync_fetch_and_add(&state->refused, 1);
		return 0;
	}
	if (state->tick != context->now)
		WRITE_ONCE(state->tick, context->now);
	if (news == PEER_BEATS)
		WRITE_ONCE(state->fingerprint, get_be32(context->message.backend));
	else if (news == PEER_ANSWERED)
		hear_answer(context, state);
	return 0;
}
