/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/* Targets of packets: by hash, by id, and by the ring's owners. */
#pragma once

#include "balancer/context.h"

static __always_inline const struct target *target_at(__u32 index)
{
	return bpf_map_lookup_elem(&targets, &index);
}

static __always_inline bool target_up(__u32 index)
{
	const struct target *target = target_at(index);

	return target && target->state == TARGET_UP;
}

/* The target that all balancers call `id`; NO_TARGET: not known here. */
static __always_inline __u32 target_by_id(__u32 id)
{
	__u32 *index = id ? bpf_map_lookup_elem(&target_ids, &id) : NULL;

	return index ? *index : NO_TARGET;
}

static __always_inline __u32 target_id(__u32 index)
{
	const struct target *target = target_at(index);

	return target ? target->id : 0;
}

static __always_inline __u64 shared_hash(const struct packet_context *context, const struct address *client, __be16 port)
{
	return hash_maglev(settings.maglev_seed, client, port, &context->service);
}

/* The backend that Maglev hashing gives a client's flow. */
static __always_inline __u32 hashed_target(const struct packet_context *context, const struct address *client, __be16 port)
{
	__u64 hash = shared_hash(context, client, context->vip.mode == MPTCP_SOURCE_IP ? 0 : port);
	__u32 slot = context->vip.table + hash % MAGLEV_SIZE;
	__u32 *target = bpf_map_lookup_elem(&maglev, &slot);

	return target ? *target : NO_TARGET;
}

static __always_inline __u32 own_hashed_target(const struct packet_context *context)
{
	return hashed_target(context, &context->key.client, context->key.port);
}

/* The balancer at a place of the ring; NO_TARGET: this one, also where it cannot be reached. */
static __always_inline __u32 ring_at(const struct packet_context *context, __u32 place)
{
	__u32 *owner;

	if (!settings.peers || context->forwarded)
		return NO_TARGET;
	owner = bpf_map_lookup_elem(&ring, &place);
	return owner && target_up(*owner) ? *owner : NO_TARGET;
}

/* The balancer that owns a slot of the ring. */
static __always_inline __u32 ring_owner(const struct packet_context *context, __u32 slot)
{
	return ring_at(context, slot);
}

/* The slot's owner before the last change of the ring: it may have entries that the owner lacks. NO_TARGET: this balancer, or `asked`. */
static __always_inline __u32 former_owner(const struct packet_context *context, __u32 slot, __u32 asked)
{
	__u32 owner = ring_at(context, RING_SIZE + slot);

	return owner == asked ? NO_TARGET : owner;
}

/* The slot's owner if this balancer left; NO_TARGET: none. A balancer registers what it owns with its successor too. */
static __always_inline __u32 successor(const struct packet_context *context, __u32 slot)
{
	return context->vip.mode == MPTCP_LEARN ? ring_at(context, 2 * RING_SIZE + slot) : NO_TARGET;
}

static __always_inline __u32 token_owner(const struct packet_context *context, __u32 token)
{
	return ring_owner(context, ring_slot_of_token(token));
}

static __always_inline __u32 slot_of_flow(const struct packet_context *context)
{
	return ring_slot_of_flow(shared_hash(context, &context->key.client, context->key.port));
}

static __always_inline __u32 flow_owner(const struct packet_context *context)
{
	return ring_owner(context, slot_of_flow(context));
}
