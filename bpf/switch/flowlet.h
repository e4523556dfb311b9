/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/* Flowlets: bursts of a flow, separated by gaps (HULA section 4.3).
 *
 * A slot is selected by a hash of the 5-tuple, and keys are not compared. A slot's port is used for packets only of
 * which it is a next hop, so that neither a collision nor two processors in one slot can send a packet where it may not
 * go. A slot of zeros is empty. */
#pragma once

#include <linux/types.h>

#include "switch/abi.h"
#include "switch/clock.h"
#include "switch/digest.h"
#include "switch/next_hops.h"

#define NO_PORT 0xffff

/* One word, so that the tables of many flows fit in a cache. */
struct flowlet {
	__u64 next_port : 7; /* port + 1; 0: none */
	__u64 owned : 1;     /* it has an owner (subflows.h) */
	__u64 last : 56;     /* time of the last packet; it begins anew after 833 days */
};

_Static_assert(sizeof(struct flowlet) == 8 && SWITCH_PORTS < 128, "one word");

/* The slot's port, or NO_PORT. */
static __always_inline __u16 flowlet_port(const struct flowlet *slot)
{
	return slot->next_port - 1;
}

/* Slot number of a hash in a table of `slots`, a power of two. */
static __always_inline __u32 flowlet_slot(__u32 hash, __u32 slots)
{
	return hash & (slots - 1) & (FLOWLET_SLOTS - 1);
}

/* Time that goes backwards counts as no time, as with since(). */
static __always_inline bool flowlet_is_live(const struct flowlet *slot, __u64 now, __u64 gap)
{
	__s64 idle = (__s64)((now - slot->last) << 8) >> 8;

	return idle <= 0 || (__u64)idle <= gap;
}

/* The port of a packet's running flowlet, NO_PORT if it starts one. Restarts the idle time. */
static __always_inline __u16 flowlet_touch(struct flowlet *slot, __u64 now, __u64 gap, const struct next_hops *hops)
{
	bool live = flowlet_is_live(slot, now, gap);
	__u16 port = flowlet_port(slot);

	slot->last = now;
	return live && has_port(hops->set, port) ? port : NO_PORT;
}

/* Sets the port of a flowlet that starts. */
static __always_inline void flowlet_assign(struct flowlet *slot, __u16 port, struct scheme_counters *counts)
{
	__u16 before = flowlet_port(slot);

	counts->flowlets++;
	if (before != NO_PORT && before != port)
		counts->moves++;
	slot->next_port = port + 1;
}

static __always_inline void flowlet_digest(const struct flowlet *slot, __u64 *digest)
{
	digest_word(digest, slot->last);
	digest_word(digest, flowlet_port(slot));
}

/* Of a table of `slots`, as many as the configuration has. */
static __always_inline void flowlets_digest(const struct flowlet *table, __u32 slots, __u64 *digest)
{
	for (__u32 slot = 0; slot < slots && slot < FLOWLET_SLOTS; slot++)
		flowlet_digest(&table[slot], digest);
}
