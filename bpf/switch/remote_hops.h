/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/* The remote figures of the next hops towards a ToR: what a probe said of the path behind the switch's own link. A port
 * of crates/schemes/policy/src/shuttle/hops.rs. */
#pragma once

#include <linux/types.h>

#include "switch/hop_table.h"

/* The first place with the highest figure. */
static __always_inline __u32 highest_hop(const struct hop_table *table)
{
	__u32 highest = 0;

	for (__u32 i = 1; i < BEST_HOPS && i < table->known; i++)
		if (table->hops[i].util > table->hops[HOP(highest)].util)
			highest = i;
	return highest;
}

/* Sets the remote figure of the hop by `port`. In a full table a new hop takes the place of the first one with the
 * highest figure, if its own is lower. A global function, which the verifier looks at by itself. */
__noinline int remote_hops_update(struct hop_table *table, __u64 now, __u16 port, __u16 remote,
				  const struct mp_hula_config *config)
{
	__u32 place;

	if (!table || !config)
		return -1;
	drop_stale(table, now, config->hula.fail_after);
	place = find_hop(table, port);
	if (place == table->known && place < hop_table_k(config)) {
		table->known++;
	} else if (place == table->known) {
		place = highest_hop(table);
		if (remote >= table->hops[HOP(place)].util)
			return 0;
	}
	table->hops[HOP(place)] = (struct table_hop){ .updated = now, .port = port, .util = remote };
	return 0;
}
