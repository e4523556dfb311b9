/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/* Fragments: only the first has ports, and routers may spread the others over all balancers. So the first fragment is registered
 * with one balancer, the ring's owner of a hash of the fields that all fragments have. That balancer sends the others to the same
 * target. */
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

/* The backend that its connection id names, or its flow's, or the hash's. There may be UDP that is never but in fragments: that
 * is a flow too. */
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

/* The first fragment. It goes through its owner, which stores the target. */
__noinline int decide_first_fragment(const struct packet_context *context, struct decision *decision)
{
	struct fragment_key key;
	__u32 owner;

	if (!context || !decision)
		return 0;
	fragment_key_of(context, &key);
	decide_fragment(context, decision);
	owner = fragment_owner(context, &key);
	if (owner == NO_TARGET) {
		store_fragment(decision->target, table_of_flow(context), decision);
		return 0;
	}
	set_backend(decision, decision->target);
	decide_steer(decision, owner, STEER_FRAGMENT, STEERED_FRAGMENT);
	decision->message.query = table_of_flow(context);
	return 0;
}

/* A later fragment: to the first one's target, if that was stored within the time that hosts wait for fragments. */
static __always_inline void decide_stored_fragment(const struct packet_context *context, struct decision *decision)
{
	struct fragment_key key;
	__u32 target;

	fragment_key_of(context, &key);
	target = find_fragment(context, &key);
	if (keeps_flows(target))
		decide_send(decision, target, SENT_FRAGMENT);
	else
		decide_drop(decision, DROP_FRAGMENT);
}

__noinline int decide_later_fragment(const struct packet_context *context, struct decision *decision)
{
	struct fragment_key key;
	__u32 owner;

	if (!context || !decision)
		return 0;
	fragment_key_of(context, &key);
	owner = fragment_owner(context, &key);
	if (owner == NO_TARGET) {
		decide_stored_fragment(context, decision);
		return 0;
	}
	decide_drop(decision, DROP_FRAGMENT);
	decide_steer(decision, owner, STEER_FRAGMENT, STEERED_FRAGMENT);
	return 0;
}

/* Another balancer says where a first fragment goes, or has a later one. */
__noinline int handle_fragment_message(const struct packet_context *context, const struct steering *message,
				       struct decision *decision)
{
	__u32 target;

	if (!context || !message || !decision)
		return 0;
	if (!get_be32(message->backend)) {
		decide_stored_fragment(context, decision);
		return 0;
	}
	target = target_of_message(context, message, decision);
	if (target == NO_TARGET)
		return 0;
	store_fragment(target, message->query == FRAGMENTS_OF_FLOWS ? FRAGMENTS_OF_FLOWS : FRAGMENTS_OF_STRANGERS, decision);
	decide_send(decision, target, SENT_FRAGMENT);
	return 0;
}
