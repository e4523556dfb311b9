/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/* Owners of flowlets, and the subflow mapping tables (MP-HULA section 2.5): the flowlet slot of each subflow of a connection.
 *
 * A mapping is valid while the flowlet in its slot is live and the subflow's, and so ends with it. Rows are selected by a hash of
 * connection and destination ToR; connections that collide overwrite each other, and the owner tells them apart. */
#pragma once

#include <linux/types.h>
#include <stdbool.h>

#include "switch/abi.h"
#include "switch/flowlet.h"
#include "switch/hash.h"

struct owned_flowlet {
	struct flowlet flowlet;
	__u64 id; /* of the owner: a subflow in the direction to a ToR */
	__u16 tor;
	__u8 subflow; /* 0: no owner */
	__u8 pad[5];
};

struct mapping_row {
	__u32 next_slot[SUBFLOWS]; /* by subflow number less one: flowlet slot + 1; 0: none */
};

static __always_inline __u32 mapping_row(const struct shim *shim, __u16 tor, __u32 rows)
{
	return mix(mix(shim->id >> 32, tor), shim->id) & (rows - 1) & (MAPPING_ROWS - 1);
}

static __always_inline bool is_owned_by(const struct owned_flowlet *slot, __u64 id, __u32 subflow, __u16 tor)
{
	return slot->subflow == subflow && slot->id == id && slot->tor == tor;
}

static __always_inline void set_owner(struct owned_flowlet *slot, const struct shim *shim, __u16 tor)
{
	bool owned = shim->subflow;

	slot->subflow = shim->subflow;
	slot->id = owned ? shim->id : 0;
	slot->tor = owned ? tor : 0;
}

static __always_inline void map_subflow(struct mapping_row *row, const struct shim *shim, __u32 slot)
{
	row->next_slot[(shim->subflow - 1) & (SUBFLOWS - 1)] = slot + 1;
}

/* The ports of the live flowlets of the connection's other subflows towards the same ToR. */
static __always_inline __u64 hops_of_others(const struct mapping_row *row, const struct owned_flowlet *flowlets, __u32 slots,
					    const struct shim *shim, __u16 tor, __u64 now, __u64 gap)
{
	__u64 hops = 0;

	for (__u32 other = 1; other <= SUBFLOWS; other++) {
		__u32 slot = row->next_slot[other - 1] - 1;
		const struct owned_flowlet *flowlet = &flowlets[slot & (FLOWLET_SLOTS - 1)];
		__u16 port = flowlet_port(&flowlet->flowlet);

		if (other == shim->subflow || slot >= slots || !is_owned_by(flowlet, shim->id, other, tor))
			continue;
		if (flowlet_is_live(&flowlet->flowlet, now, gap) && port < SWITCH_PORTS)
			hops |= 1ULL << port;
	}
	return hops;
}

/* Ends the live flowlets of the connection's other subflows towards the same ToR that are on `port`. */
static __always_inline void end_others(const struct mapping_row *row, struct owned_flowlet *flowlets, __u32 slots,
				       const struct shim *shim, __u16 tor, __u64 now, __u64 gap, __u16 port)
{
	for (__u32 other = 1; other <= SUBFLOWS; other++) {
		__u32 slot = row->next_slot[other - 1] - 1;
		struct owned_flowlet *flowlet = &flowlets[slot & (FLOWLET_SLOTS - 1)];

		if (other == shim->subflow || slot >= slots || !is_owned_by(flowlet, shim->id, other, tor))
			continue;
		if (flowlet_is_live(&flowlet->flowlet, now, gap) && flowlet_port(&flowlet->flowlet) == port) {
			flowlet->flowlet.next_port = 0;
			set_owner(flowlet, &(struct shim){}, 0);
		}
	}
}

static __always_inline void owned_flowlet_digest(const struct owned_flowlet *slot, __u64 *digest)
{
	flowlet_digest(&slot->flowlet, digest);
	digest_word(digest, slot->id);
	digest_word(digest, slot->subflow);
	digest_word(digest, slot->tor);
}
