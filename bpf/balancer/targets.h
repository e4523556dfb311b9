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

static __always_inline bool target_failing(__u32 index)
{
	const struct target *target = target_at(index);

	return target && target->state == TARGET_FAILING;
}

/* True if a target's flows and tokens stay with it. */
static __always_inline bool keeps_flows(__u32 index)
{
	const struct target *target = target_at(index);

	return target && target->state & TARGET_KEEPS_FLOWS;
}

/* True if the packet's flow, to this target, stays with it. Datagrams have no connection that would end, but for
 * QUIC's: they leave a backend that is removed. */
static __always_inline bool keeps_this_flow(const struct packet_context *context, __u32 index)
{
	const struct target *target = target_at(index);
	bool leaves = context->packet.protocol == IPPROTO_UDP && !context->vip.choices;
	__u8 looked_at = TARGET_KEEPS_FLOWS | (leaves ? TARGET_IS_REMOVED : 0);

	return target && (target->state & looked_at) == TARGET_KEEPS_FLOWS;
}

static __always_inline bool is_balancer(__u32 index)
{
	const struct target *target = target_at(index);

	return target && target->forwarding == FORWARD_STEERING;
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

/* The ports of a service are one in it, as they are in the flow table. */
static __always_inline __u64 shared_hash(const struct packet_context *context, const struct address *client, __be16 port)
{
	struct vip_key service = context->service;

	if (context->vip.several_ports)
		service.port = context->vip.first_port;
	return hash_maglev(settings.maglev_seed, client, port, &service);
}

static __always_inline __u64 maglev_hash(const struct packet_context *context, const struct address *client, __be16 port)
{
	return shared_hash(context, client, context->vip.mode == MPTCP_SOURCE_IP ? 0 : port);
}

/* A slot of the service's Maglev table: a target in the lower half, in the upper one the slot's last change. */
static __always_inline __u32 maglev_word_at(const struct packet_context *context, __u64 hash)
{
	__u32 slot = context->vip.table + hash % MAGLEV_SIZE, place = slot >> 1;
	const struct maglev_pair *pair = bpf_map_lookup_elem(&maglev, &place);

	return pair ? pair->words[slot & 1] : NO_TARGET;
}

/* The backend that Maglev hashing gives a client's flow. */
static __always_inline __u32 hashed_target(const struct packet_context *context, const struct address *client, __be16 port)
{
	return (__u16)maglev_word_at(context, maglev_hash(context, client, port));
}

/* Looks up the slot of the packet's flow, which most decisions need, some of them several times. */
static __always_inline void look_up_slot(struct packet_context *context)
{
	context->maglev_word = maglev_word_at(context, maglev_hash(context, &context->key.client, context->key.port));
}

static __always_inline __u32 own_hashed_target(const struct packet_context *context)
{
	return (__u16)context->maglev_word;
}

/* Further slots in which a backend for a new connection is looked for. */
#define FURTHER_SLOTS 7

/* The next of a flow's further slots, by a linear congruential generator (Knuth's MMIX). Slots behind each other in the
 * table are no random choice: few backends take them in turn. */
static __always_inline __u64 further_hash(__u64 hash)
{
	return hash * 6364136223846793005ULL + 1442695040888963407ULL;
}

/* True if a target seems dead though its checks succeed: signs.h. */
static __always_inline bool seems_dead(const struct packet_context *context, __u32 index)
{
	const struct target_signs *signs = bpf_map_lookup_elem(&target_signs, &index);

	return signs && signs->repeated >= SILENT_SYNS && within(context->now, signs->silent, SILENT_TIME);
}

/* True if new connections may go to the target. */
static __always_inline bool takes_new(const struct packet_context *context, __u32 index)
{
	return target_up(index) && index != context->passed_over && !seems_dead(context, index);
}

/* The first backend in further slots that takes new connections; none: the hash's. All balancers that see the same
 * backends fail choose the same one. */
__noinline __u32 target_in_further_slots(const struct packet_context *context)
{
	__u64 hash;

	if (!context)
		return NO_TARGET;
	hash = maglev_hash(context, &context->key.client, context->key.port);
	for (int i = 0; i < FURTHER_SLOTS; i++) {
		__u32 next;

		hash = further_hash(hash);
		next = (__u16)maglev_word_at(context, hash);
		if (takes_new(context, next))
			return next;
	}
	return own_hashed_target(context);
}

/* The backend of a new connection: the hash's, or if that one takes none another. */
static __always_inline __u32 target_of_new(const struct packet_context *context)
{
	__u32 hashed = own_hashed_target(context);

	return hashed == NO_TARGET || takes_new(context, hashed) ? hashed : target_in_further_slots(context);
}

/* True if a flow that is still alive may have been hashed when its slot named another target. */
static __always_inline bool hashed_otherwise_before(const struct packet_context *context)
{
	__u16 stamp = context->maglev_word >> 16;
	__u16 age = (context->now >> STAMP_SHIFT) - stamp;

	return stamp && age <= (settings.flow_timeout >> STAMP_SHIFT) + 1;
}

/* True if this balancer has lately met a flow whose backend neither hash nor stamps explain. */
static __always_inline bool has_unexplained_flows(const struct packet_context *context)
{
	__u32 index = NO_TARGET;
	const struct target_signs *signs = bpf_map_lookup_elem(&target_signs, &index);

	return signs && signs->unexplained && within(context->now, signs->unexplained, settings.flow_timeout);
}

/* The target, up or down; NO_TARGET: it is configured no longer. */
static __always_inline __u32 if_configured(__u32 index)
{
	const struct target *target = target_at(index);

	return target && target->state != TARGET_NONE ? index : NO_TARGET;
}

/* ---- the two balancers of a slot, and the one before them ---- */

enum ring_part {
	RING_FIRST,
	RING_FORMER, /* the first one before the last change of the ring: it may have entries that the two lack */
	RING_SECOND, /* the first one's successor: it would be the first if that one left, and has the same entries */
	RING_PARTS,
};

/* The balancer at a slot of a part of the ring; NO_TARGET: this one, also where it cannot be reached. */
static __always_inline __u32 ring_at(const struct packet_context *context, enum ring_part part, __u32 slot)
{
	__u32 place = part * RING_SIZE + slot;
	__u32 *owner;

	if (!settings.peers || context->forwarded)
		return NO_TARGET;
	owner = bpf_map_lookup_elem(&ring, &place);
	return owner && target_up(*owner) ? *owner : NO_TARGET;
}

/* True if nothing was heard of a balancer for longer than its heartbeats should take. It may be wrong: only the choice
 * between balancers with the same entries follows it. */
static __always_inline bool is_suspect(const struct packet_context *context, __u32 peer)
{
	const struct peer_state *state;

	if (!settings.heartbeat || peer == NO_TARGET)
		return false;
	state = bpf_map_lookup_elem(&peer_states, &peer);
	return state && (!state->tick || !within(context->now, state->tick, settings.heartbeat + 1));
}

/* The first balancer of a slot, or the second if the first is suspect and the second is not. */
static __always_inline __u32 ring_choice(const struct packet_context *context, __u32 slot)
{
	__u32 first = ring_at(context, RING_FIRST, slot), second;

	if (!is_suspect(context, first))
		return first;
	second = ring_at(context, RING_SECOND, slot);
	return is_suspect(context, second) ? first : second;
}

/* The place of a registration: at this balancer, and at others by way of `peer`. */
struct keepers {
	__u32 peer; /* NO_TARGET: none */
	__u8 reach; /* enum registration_reach */
	bool here;
	bool passed_over; /* the other one of the slot is suspect: it is not told */
};

/* The keepers of a slot's entries. */
static __always_inline struct keepers both_keepers(const struct packet_context *context, __u32 slot)
{
	__u32 first = ring_at(context, RING_FIRST, slot);
	__u32 second = context->vip.mode == MPTCP_LEARN ? ring_at(context, RING_SECOND, slot) : NO_TARGET;
	bool here = first == NO_TARGET || second == NO_TARGET;

	return (struct keepers){
		.peer = first == NO_TARGET ? second : first,
		.reach = here ? REGISTER_ONCE : REGISTER_FURTHER,
		.here = here,
	};
}

/* The same; the first one is passed over if it is suspect and the second is not. */
__noinline int find_keepers(const struct packet_context *context, __u32 slot, struct keepers *keepers)
{
	__u32 second;

	if (!context || !keepers)
		return 0;
	*keepers = both_keepers(context, slot);
	second = ring_at(context, RING_SECOND, slot);
	if (!keepers->here && is_suspect(context, keepers->peer) && !is_suspect(context, second))
		*keepers = (struct keepers){ .peer = second, .reach = REGISTER_ONCE, .passed_over = true };
	return 0;
}

static __always_inline struct keepers keepers_of(const struct packet_context *context, __u32 slot)
{
	struct keepers keepers;

	find_keepers(context, slot, &keepers);
	return keepers;
}

static __always_inline __u32 slot_of_flow(const struct packet_context *context)
{
	return ring_slot_of_flow(shared_hash(context, &context->key.client, context->key.port));
}
