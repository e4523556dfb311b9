/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/* A table of the k next hops towards a ToR, with the figure of each hop's last probe. A port of
 * crates/schemes/policy/src/hop_table.rs: MP-HULA ranks the hops by utilisation (best_hops.h), Shuttle keeps remote
 * figures in no order (remote_hops.h). */
#pragma once

#include <linux/types.h>

#include "switch/abi.h"
#include "switch/clock.h"
#include "switch/digest.h"
#include "switch/suppression.h"

struct table_hop {
	__u64 updated;
	__u16 port;
	__u16 util;
	__u32 pad;
};

struct hop_table {
	struct table_hop hops[BEST_HOPS]; /* the first `known` are in use */
	struct suppression suppression;
	__u32 known;
	__u32 pad;
};

/* An index that the verifier knows to be one. */
#define HOP(index) ((index) & (BEST_HOPS - 1))
_Static_assert((BEST_HOPS & (BEST_HOPS - 1)) == 0, "a power of two");

static __always_inline __u32 hop_table_k(const struct mp_hula_config *config)
{
	if (!config->best_k)
		return 1;
	return config->best_k < BEST_HOPS ? config->best_k : BEST_HOPS;
}

/* Removes the hops that were not refreshed within T_fail. The others keep their order. */
static __always_inline void drop_stale(struct hop_table *table, __u64 now, __u64 fail_after)
{
	__u32 known = table->known, kept = 0;

	for (__u32 i = 0; i < BEST_HOPS && i < known; i++) {
		if (since(now, table->hops[i].updated) > fail_after)
			continue;
		table->hops[HOP(kept)] = table->hops[i];
		kept++;
	}
	table->known = kept;
}

/* The place of a hop with this port, `known` if there is none. */
static __always_inline __u32 find_hop(const struct hop_table *table, __u16 port)
{
	__u32 i;

	for (i = 0; i < BEST_HOPS && i < table->known; i++)
		if (table->hops[i].port == port)
			break;
	return i;
}

static __always_inline void hop_table_digest(const struct hop_table *table, __u64 *digest)
{
	digest_word(digest, table->known);
	for (__u32 i = 0; i < BEST_HOPS && i < table->known; i++) {
		digest_word(digest, table->hops[i].port);
		digest_word(digest, table->hops[i].util);
		digest_word(digest, table->hops[i].updated);
	}
	suppression_digest(&table->suppression, digest);
}
