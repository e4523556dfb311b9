/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/* What is to become of a packet, and doing it. Deciding and acting are apart, so that there is one place that acts. */
#pragma once

#include "balancer/forward.h"
#include "balancer/steer.h"
#include "balancer/targets.h"
#include "common/too_big.h"

enum action {
	PASS,
	DROP,
	SEND,  /* to `target` */
	ASSIGN, /* SEND, when assign() has put a key into it */
	STEER, /* to the balancer `peer` with `word`; to `target` if the packet is too long for that */
};

struct decision {
	__u8 action;       /* enum action */
	__u8 verdict;      /* enum counter; of the steering, where there is one */
	__u8 sent_verdict; /* STEER: the verdict if it goes to `target` all the same */
	__u8 option;       /* ASSIGN: where MP_CAPABLE starts: bytes into the TCP options */
	__u16 target;
	__u16 peer;
	struct steering word;
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

/* After decide_send: by way of `peer`, with word of a token and of a backend's name. */
static __always_inline void decide_steer(struct decision *decision, __u32 peer, enum steering_kind kind,
					 enum counter verdict)
{
	decision->action = STEER;
	decision->sent_verdict = decision->verdict;
	decision->verdict = verdict;
	decision->peer = peer;
	decision->word.version = STEERING_VERSION;
	decision->word.kind = kind;
}

static __always_inline void say_token(struct decision *decision, __u32 token)
{
	put_be32(decision->word.token, token);
}

static __always_inline void say_backend(struct decision *decision, __u32 target)
{
	put_be32(decision->word.backend, target_name(target));
}

/* Outer IPv6, UDP and the steering header: the most that steering adds. */
#define STEERING_MOST 68

/* Whether a packet is short enough to be steered to a balancer; what can wait, waits for one that is. */
static __always_inline bool steerable(const struct job *job, __u32 peer)
{
	const struct target *target = target_at(peer);

	return target && (!target->mtu || job->packet.length + STEERING_MOST <= target->mtu);
}

static __always_inline void trace_owner(__u32 peer)
{
	struct trace *trace = trace_of_this();

	if (trace)
		trace->owner = peer;
}

static __always_inline int act_steer(struct xdp_md *ctx, const struct job *job, struct decision *decision)
{
	struct sending sending = { .settings = &settings, .flow_hash = job->hash };
	int sent;

	sending.target = target_at(decision->peer);
	if (!sending.target)
		return SEND_FAILED;
	__builtin_memcpy(decision->word.cookie, &settings.cookie, sizeof(decision->word.cookie));
	sent = steer(ctx, &job->packet, &sending, &decision->word);
	if (sent < 0) {
		count(job, STEER_TOO_BIG);
		return sent;
	}
	count(job, decision->verdict);
	count_target(job, decision->peer);
	if (DRY_RUN)
		trace_owner(decision->peer);
	return sent;
}

static __always_inline int act_send(struct xdp_md *ctx, const struct job *job, __u32 index, enum counter verdict)
{
	struct sending sending = { .settings = &settings, .flow_hash = job->hash };
	int sent;

	sending.target = target_at(index);
	if (!sending.target)
		return XDP_DROP;
	sent = forward(ctx, &job->packet, &sending);
	if (sent >= 0) {
		count(job, verdict);
		count_target(job, index);
		return sent;
	}
	count(job, sent == SEND_TOO_BIG ? TOO_BIG : DROP_FAILED);
	if (sent == SEND_TOO_BIG && allowed(2, &settings.errors, job->now))
		return answer_too_big(ctx, &job->packet, inner_mtu(sending.target));
	return XDP_DROP;
}

/* A balancer that everything of a flow goes to (assign). Not what another one sent here: it would come back. */
static __always_inline bool is_for_balancer(const struct job *job, const struct decision *decision)
{
	const struct target *target = target_at(decision->target);

	return decision->action == SEND && !job->forwarded && target && target->forwarding == FORWARD_STEERING;
}

/* Does what was decided. */
__noinline int act(struct xdp_md *ctx, const struct job *job, struct decision *decision)
{
	enum counter verdict;
	int sent;

	if (!job || !decision)
		return XDP_DROP;
	if (is_for_balancer(job, decision))
		decide_steer(decision, decision->target, STEER_FORWARD, STEERED_FORWARD);
	verdict = decision->verdict;
	if (decision->action == STEER) {
		sent = act_steer(ctx, job, decision);
		if (sent >= 0)
			return sent;
		verdict = decision->sent_verdict;
		decision->action = decision->target == NO_TARGET ? DROP : SEND;
	}
	if (decision->action == SEND)
		return act_send(ctx, job, decision->target, verdict);
	count(job, verdict);
	return decision->action == PASS ? XDP_PASS : XDP_DROP;
}
