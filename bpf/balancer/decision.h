/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/* Decisions about packets, and their execution. The two are separate, so that one place alone sends and drops. */
#pragma once

#include "balancer/authenticate.h"
#include "balancer/forward.h"
#include "balancer/steer.h"
#include "balancer/targets.h"
#include "common/too_big.h"

enum action {
	PASS,
	DROP,
	SEND,   /* to `target` */
	ASSIGN, /* SEND, when assign() has put a key into it */
	BOUNCE, /* back as the frame is now */
	STEER,  /* to the balancer `peer` with `message`; to `target` if the packet is too long for that */
};

struct decision {
	__u8 action;        /* enum action */
	__u8 verdict;       /* enum counter; of the steering, where there is one */
	__u8 sent_verdict;  /* STEER: the verdict if it goes to `target` all the same */
	__u8 option;        /* ASSIGN: where MP_CAPABLE starts: bytes into the TCP options, */
	__u8 option_length; /* how long it is, */
	__u8 mptcp_version; /* and its version */
	__u16 target;
	__u16 peer;
	struct steering message;
};

static __always_inline void put_be32(__u8 *to, __u32 value)
{
	__be32 word = bpf_htonl(value);

	__builtin_memcpy(to, &word, sizeof(word));
}

static __always_inline __u32 get_be32(const __u8 *from)
{
	__be32 word;

	__builtin_memcpy(&word, from, sizeof(word));
	return bpf_ntohl(word);
}

static __always_inline void decide_drop(struct decision *decision, enum counter verdict)
{
	decision->action = DROP;
	decision->verdict = verdict;
}

static __always_inline void decide_send(struct decision *decision, __u32 target, enum counter verdict)
{
	decision->action = target == NO_TARGET ? DROP : SEND;
	decision->verdict = target == NO_TARGET ? DROP_NO_BACKEND : verdict;
	decision->target = target;
}

/* After decide_send: sends through `peer`, with a message about a token and a backend. */
static __always_inline void decide_steer(struct decision *decision, __u32 peer, enum steering_kind kind, enum counter verdict)
{
	decision->action = STEER;
	decision->sent_verdict = decision->verdict;
	decision->verdict = verdict;
	decision->peer = peer;
	decision->message.version = STEERING_VERSION;
	decision->message.kind = kind;
}

static __always_inline void set_token(struct decision *decision, __u32 token)
{
	put_be32(decision->message.token, token);
}

static __always_inline void set_backend(struct decision *decision, __u32 target)
{
	put_be32(decision->message.backend, target_id(target));
}

/* Outer IPv6, UDP and the steering header: the most that steering adds. */
#define STEERING_OVERHEAD 68

/* True if the packet with a steering header fits the MTU to the balancer. Registrations wait for a packet that does. */
static __always_inline bool steerable(const struct packet_context *context, __u32 peer)
{
	const struct target *target = target_at(peer);

	return target && (!target->mtu || context->packet.length + STEERING_OVERHEAD <= target->mtu);
}

static __always_inline void trace_owner(__u32 peer)
{
	struct trace *trace = current_trace();

	if (trace)
		trace->owner = peer;
}

static __always_inline int act_steer(struct xdp_md *ctx, struct packet_context *context, struct decision *decision)
{
	struct sending sending = { .settings = &settings, .flow_hash = context->hash };
	int sent;

	sending.target = target_at(decision->peer);
	if (!sending.target)
		return SEND_FAILED;
	sign(context, sending.target, &decision->message);
	sent = steer(ctx, &context->packet, &sending, &decision->message);
	if (sent < 0) {
		count(context, STEER_TOO_BIG);
		return sent;
	}
	count(context, decision->verdict);
	count_target(context, decision->peer);
	if (DRY_RUN)
		trace_owner(decision->peer);
	return sent;
}

static __always_inline int act_send(struct xdp_md *ctx, struct packet_context *context, __u32 index, enum counter verdict)
{
	struct sending sending = { .settings = &settings, .flow_hash = context->hash };
	int sent;

	sending.target = target_at(index);
	if (!sending.target) {
		count(context, DROP_FAILED);
		return XDP_DROP;
	}
	sent = forward(ctx, &context->packet, &sending);
	if (sent >= 0) {
		count(context, verdict);
		count_target(context, index);
		return sent;
	}
	count(context, sent == SEND_TOO_BIG ? TOO_BIG : DROP_FAILED);
	if (sent == SEND_TOO_BIG && within_limit(LIMIT_ERRORS, &settings.errors, context->now))
		return answer_too_big(ctx, &context->packet, inner_mtu(sending.target));
	return XDP_DROP;
}

/* A balancer that everything of a flow goes to (assign). Not what another one sent here: it would come back. */
static __always_inline bool is_for_balancer(const struct packet_context *context, const struct decision *decision)
{
	const struct target *target = target_at(decision->target);

	return decision->action == SEND && !context->forwarded && target && target->forwarding == FORWARD_STEERING;
}

/* Does what was decided. */
__noinline int act(struct xdp_md *ctx, struct packet_context *context, struct decision *decision)
{
	enum counter verdict;
	int sent;

	if (!context || !decision)
		return XDP_DROP;
	if (is_for_balancer(context, decision))
		decide_steer(decision, decision->target, STEER_FORWARD, STEERED_FORWARD);
	verdict = decision->verdict;
	if (decision->action == STEER) {
		sent = act_steer(ctx, context, decision);
		if (sent >= 0)
			return sent;
		verdict = decision->sent_verdict;
		decision->action = decision->target == NO_TARGET ? DROP : SEND;
	}
	if (decision->action == SEND)
		return act_send(ctx, context, decision->target, verdict);
	count(context, verdict);
	if (decision->action == BOUNCE)
		return XDP_TX;
	return decision->action == PASS ? XDP_PASS : XDP_DROP;
}
