/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/* Fragments: only the first has ports, and routers may spread the others over all balancers. So the first fragment is
 * registered here and with one other balancer, the ring's owner of a hash of the fields that all fragments have,
 * through which it goes if it has room for a steering header. A later fragment goes where the first one went, if that
 * is known here; else through the owner.
 *
 * Where nothing is known, or a fragment has no room for the header, it waits for a moment in user space (waiting.h),
 * which asks the other balancers: the first one may be late, or have come to any of them without room for the
 * header. */
#pragma once

#include "balancer/fragment_table.h"
#include "balancer/service.h"

static __always_inline __u32 fragment_owner(const struct packet_context *context, const struct fragment_key *key)
{
	return ring_choice(context, ring_slot_of_fragment(settings.maglev_seed, key));
}

/* A flow that took more than a first packet or two, which any host can send. */
static __always_inline enum fragment_table table_of_flow(const struct packet_context *context)
{
	const struct flow_snapshot *flow = known_flow(context);
	__u8 state = flow ? flow->state & (FLOW_STATE_MASK | FLOW_FRESH) : FLOW_FREE;

	return state == FLOW_ESTABLISHED || state == FLOW_UDP ? FRAGMENTS_OF_FLOWS : FRAGMENTS_OF_STRANGERS;
}

/* The backend that its connection id names, or its flow's, or the hash's. There may be UDP that is never but in
 * fragments: that is a flow too. */
static __always_inline void decide_fragment(const struct packet_context *context, struct decision *decision)
{
	bool udp = context->packet.protocol == IPPROTO_UDP;
	const struct flow_snapshot *flow = known_flow(context);

	if (context->named != NO_TARGET) {
		decide_named(context, SENT_FRAGMENT, decision);
	} else if (flow && keeps_this_flow(context, flow->target)) {
		decide_send(decision, flow->target, SENT_FRAGMENT);
		if (udp)
			refresh_flow(context, FLOW_UDP, decision);
	} else if (udp) {
		decide_by_hash(context, FLOW_NEW, SENT_FRAGMENT, decision);
	} else {
		decide_send(decision, own_hashed_target(context), SENT_FRAGMENT);
	}
}

/* The first fragment. Its target is stored here, and by its owner if it has room for a message to that one. */
__noinline int decide_first_fragment(const struct packet_context *context, struct decision *decision)
{
	struct fragment_key key;
	__u32 owner;

	if (!context || !decision)
		return 0;
	fragment_key_of(context, &key);
	decide_fragment(context, decision);
	store_fragment(decision->target, table_of_flow(context), decision);
	owner = fragment_owner(context, &key);
	if (owner == NO_TARGET || !steerable(context, owner))
		return 0;
	set_backend(decision, decision->target);
	decide_steer(decision, owner, STEER_FRAGMENT, STEERED_FRAGMENT);
	decision->message.query = table_of_flow(context);
	return 0;
}

/* A later fragment whose first one is not known waits, within a limit. */
static __always_inline void decide_unknown_fragment(const struct packet_context *context, struct decision *decision)
{
	decide_drop(decision, within_limit(context, LIMIT_WAITING, decision) ? FRAGMENT_WAITS : DROP_FRAGMENT);
}

/* A later fragment: to the first one's target, if that was stored within the time that hosts wait for fragments. False:
 * it is not known here. */
static __always_inline bool decide_stored_fragment(const struct packet_context *context, const struct fragment_key *key,
						   struct decision *decision)
{
	__u32 target = find_fragment(context, key);

	if (!keeps_flows(target))
		return false;
	decide_send(decision, target, SENT_FRAGMENT);
	return true;
}

__noinline int decide_later_fragment(const struct packet_context *context, struct decision *decision)
{
	struct fragment_key key;
	__u32 owner;

	if (!context || !decision)
		return 0;
	fragment_key_of(context, &key);
	if (decide_stored_fragment(context, &key, decision))
		return 0;
	owner = fragment_owner(context, &key);
	if (owner == NO_TARGET || !steerable(context, owner)) {
		decide_unknown_fragment(context, decision);
		return 0;
	}
	decide_drop(decision, DROP_FRAGMENT);
	decide_steer(decision, owner, STEER_FRAGMENT, STEERED_FRAGMENT);
	return 0;
}

/* Another balancer asks where a packet's fragments go: the answer goes back with what it has sent. */
static __always_inline void answer_about_fragment(const struct packet_context *context, const struct fragment_key *key,
						  struct decision *decision)
{
	decision->target = NO_TARGET;
	decide_steer(decision, context->peer, STEER_REPLY, REPLIED);
	decision->sent_verdict = DROP_FAILED;
	decision->message.query = STEER_FRAGMENT_QUERY;
	set_backend(decision, find_fragment(context, key));
}

/* The answer to this balancer's own question: what follows is the head of the fragment, which goes nowhere. */
static __always_inline void hear_of_fragment(const struct packet_context *context, const struct steering *message,
					     struct decision *decision)
{
	decide_drop(decision, FRAGMENT_HEARD);
	store_fragment(target_by_id(get_be32(message->backend)), FRAGMENTS_OF_STRANGERS, decision);
}

/* Another balancer says where a first fragment goes, or has a later one. */
static __always_inline void take_fragment(const struct packet_context *context, const struct fragment_key *key,
					  const struct steering *message, struct decision *decision)
{
	__u32 target;

	if (!get_be32(message->backend)) {
		if (!decide_stored_fragment(context, key, decision))
			decide_unknown_fragment(context, decision);
		return;
	}
	target = target_of_message(context, message, decision);
	if (target == NO_TARGET)
		return;
	store_fragment(target, message->query == FRAGMENTS_OF_FLOWS ? FRAGMENTS_OF_FLOWS : FRAGMENTS_OF_STRANGERS, decision);
	decide_send(decision, target, SENT_FRAGMENT);
}

static __always_inline bool is_about_fragments(const struct steering *message)
{
	return message->kind == STEER_FRAGMENT || message->kind == STEER_FRAGMENT_QUERY ||
	       (message->kind == STEER_REPLY && message->query == STEER_FRAGMENT_QUERY);
}

__noinline int handle_fragment_message(const struct packet_context *context, const struct steering *message,
				       struct decision *decision)
{
	struct fragment_key key;

	if (!context || !message || !decision)
		return 0;
	fragment_key_of(context, &key);
	if (message->kind == STEER_FRAGMENT_QUERY)
		answer_about_fragment(context, &key, decision);
	else if (message->kind == STEER_REPLY)
		hear_of_fragment(context, message, decision);
	else
		take_fragment(context, &key, message, decision);
	return 0;
}
