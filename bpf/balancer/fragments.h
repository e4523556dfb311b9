/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/* Fragments: only the first has ports, and routers may spread the others over all balancers. So one balancer, the ring's owner
 * of a hash of what all fragments have, is told where the first one goes and sends the others after it. */
#pragma once

#include "balancer/service.h"

static __always_inline void key_of_fragment(const struct job *job, struct fragment_key *key)
{
	key->source = job->packet.source;
	key->destination = job->packet.destination;
	key->id = job->packet.fragment_id;
	/* Of IPv6 only the last header before the part that is cut up names one, and it is not always the transport's. */
	key->protocol = job->packet.v6 ? IPV6_FRAGMENT : job->packet.protocol;
}

static __always_inline __u32 fragment_owner(const struct job *job, const struct fragment_key *key)
{
	return ring_owner(job, ring_slot_of_fragment(settings.maglev_seed, key));
}

static __always_inline void remember_fragment(const struct job *job, const struct fragment_key *key, __u32 target)
{
	struct fragment fragment = { .target = target, .seen = job->now };

	if (!DRY_RUN && target != NO_TARGET)
		bpf_map_update_elem(&fragments, key, &fragment, BPF_ANY);
}

/* Its flow's backend, or the hash's. There may be UDP that is never but in fragments: that is a flow too. */
static __always_inline void decide_cut(const struct job *job, struct decision *decision)
{
	bool udp = job->packet.protocol == IPPROTO_UDP;
	struct flow *flow = known_flow(job);

	if (flow && target_up(flow->target)) {
		decide_send(decision, flow->target, SENT_FRAGMENT);
		if (udp)
			touch_udp(flow, job);
	} else if (udp) {
		decide_by_hash(job, FLOW_NEW, SENT_FRAGMENT, decision);
	} else {
		decide_send(decision, own_hashed_target(job), SENT_FRAGMENT);
	}
}

/* The first fragment. Its owner is told where it goes. */
__noinline int decide_first_fragment(const struct job *job, struct decision *decision)
{
	struct fragment_key key;
	__u32 owner;

	if (!job || !decision)
		return 0;
	key_of_fragment(job, &key);
	decide_cut(job, decision);
	owner = fragment_owner(job, &key);
	if (owner == NO_TARGET) {
		remember_fragment(job, &key, decision->target);
		return 0;
	}
	say_backend(decision, decision->target);
	decide_steer(decision, owner, STEER_FRAGMENT, STEERED_FRAGMENT);
	return 0;
}

/* Where the first fragment went, if this balancer was told within the time that hosts wait for fragments. */
static __always_inline void decide_told_fragment(const struct job *job, struct decision *decision)
{
	struct fragment_key key;
	struct fragment *first;

	key_of_fragment(job, &key);
	first = bpf_map_lookup_elem(&fragments, &key);
	if (first && within(job->now, first->seen, settings.syn_timeout) && target_up(first->target))
		decide_send(decision, first->target, SENT_FRAGMENT);
	else
		decide_drop(decision, DROP_FRAGMENT);
}

__noinline int decide_later_fragment(const struct job *job, struct decision *decision)
{
	struct fragment_key key;
	__u32 owner;

	if (!job || !decision)
		return 0;
	key_of_fragment(job, &key);
	owner = fragment_owner(job, &key);
	if (owner == NO_TARGET) {
		decide_told_fragment(job, decision);
		return 0;
	}
	decide_drop(decision, DROP_FRAGMENT);
	decide_steer(decision, owner, STEER_FRAGMENT, STEERED_FRAGMENT);
	return 0;
}

/* Another balancer says where a first fragment goes, or has a later one. */
__noinline int take_fragment(const struct job *job, const struct steering *word, struct decision *decision)
{
	struct fragment_key key;
	__u32 target;

	if (!job || !word || !decision)
		return 0;
	target = target_named(get_be32(word->backend));
	if (target == NO_TARGET) {
		decide_told_fragment(job, decision);
		return 0;
	}
	key_of_fragment(job, &key);
	remember_fragment(job, &key, target);
	decide_send(decision, target, SENT_FRAGMENT);
	return 0;
}
