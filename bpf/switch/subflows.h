/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/* Owners of flowlets, and the subflow mapping tables (MP-HULA section 2.5): the flowlet slot of each subflow of a
 * connection.
 *
 * A mapping is valid while the flowlet in its slot is live and the subflow's, and so ends with it. Rows are selected by
 * a hash of connection and destination ToR; connections that collide overwrite each other, and the owner tells them
 * apart. */
#pragma once

#include <linux/types.h>
#include <stdbool.h>

#include "switch/abi.h"
#include "switch/flowlet.h"
#include "switch/hash.h"

/* The owner of a flowlet that has one: a subflow in the direction to a ToR. Beside the flowlets, since those of plain
 * TCP have none. */
struct flowlet_owner {
	__u64 id;
	__u16 tor;
	__u8 subflow;
	__u8 pad[5];
};

struct owned_flowlets {
	struct flowlet flowlets[FLOWLET_SLOTS];
	struct flowlet_owner owners[FLOWLET_SLOTS];
};

/* An index that the verifier knows to be one. */
#define SLOT(index) ((index) & (FLOWLET_SLOTS - 1))

struct mapping_row {
	__u32 next_slot[SUBFLOWS]; /* by subflow number less one: flowlet slot + 1; 0: none */
};

static __always_inline __u32 mapping_row(const struct shim *shim, __u16 tor, __u32 rows)
{
	return mix(mix(shim->id >> 32, tor), shim->id) & (rows - 1) & (MAPPING_ROWS - 1);
}

static __always_inline bool is_owned_by(const struct owned_flowlets *tables, __u32 slot, __u64 id, __u32 subflow, __u16 tor)
{
	const struct flowlet_owner *owner = &tables->owners[slot];

	return tables->flowlets[slot].owned && owner->subflow == subflow && owner->id == id && owner->tor == tor;
}

/* Sets the owner of a flowlet: none for a packet without a shim. */
static __always_inline void set_owner(struct owned_flowlets *tables, __u32 slot, const struct shim *shim, __u16 tor)
{
	tables->flowlets[slot].owned = shim->subflow != 0;
	if (shim->subflow)
		tables->owners[slot] = (struct flowlet_owner){ .id = shim->id, .tor = tor, .subflow = shim->subflow };
}

static __always_inline void map_subflow(struct mapping_row *row, const struct shim *shim, __u32 slot)
{
	row->next_slot[(shim->subflow - 1) & (SUBFLOWS - 1)] = slot + 1;
}

/* The ports of the live flowlets of the connection's other subflows towards the same ToR. */
static __always_inline __u64 hops_of_others(const struct mapping_row *row, const struct owned_flowlets *tables, __u32 slots,
					    const struct shim *shim, __u16 tor, __u64 now, __u64 gap)
{
	__u64 hops = 0;

	for (__u32 other = 1; other <= SUBFLOWS; other++) {
		__u32 slot = row->next_slot[other - 1] - 1;
		const struct flowlet *flowlet = &tables->flowlets[SLOT(slot)];
		__u16 port = flowlet_port(flowlet);

		if (other == shim->subflow || slot >= slots || !is_owned_by(tables, SLOT(slot), shim->id, other, tor))
			continue;
		if (flowlet_is_live(flowlet, now, gap) && port < SWITCH_PORTS)
			hops |= 1ULL << port;
	}
	return hops;
}

/* Ends the live flowlets of the connection's other subflows towards the same ToR that are on `port`. */
static __always_inline void end_others(const struct mapping_row *row, struct owned_flowlets *tables, __u32 slots,
				       const struct shim *shim, __u16 tor, __u64 now, __u64 gap, __u16 port)
{
	for (__u32 other = 1; other <= SUBFLOWS; other++) {
		__u32 slot = row->next_slot[other - 1] - 1;
		struct flowlet *flowlet = &tables->flowlets[SLOT(slot)];

		if (other == shim->subflow || slot >= slots || !is_owned_by(tables, SLOT(slot), shim->id, other, tor))
			continue;
		if (flowlet_is_live(flowlet, now, gap) && flowlet_port(flowlet) == port) {
			flowlet->next_port = 0;
			flowlet->owned = 0;
		}
	}
}

static __always_inline void owned_flowlet_digest(const struct owned_flowlets *tables, __u32 slot, __u64 *digest)
{
	struct flowlet_owner owner = tables->flowlets[slot].owned ? tables->owners[slot] : (struct flowlet_owner){};

	flowlet_digest(&tables->flowlets[slot], digest);
	digest_word(digest, owner.id);
	digest_word(digest, owner.subflow);
	digest_word(digest, owner.tor);
}
