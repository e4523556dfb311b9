/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/* The k best next hops towards a ToR, best first (MP-HULA section 2.3). A port of crates/schemes/policy/src/best_hops.rs, which reads the paper's
 * text. With k = 1 this is HULA's rule. */
#pragma once

#include <linux/types.h>

#include "switch/abi.h"
#include "switch/clock.h"
#include "switch/digest.h"
#include "switch/suppression.h"

struct ranked_hop {
	__u64 updated;
	__u16 port;
	__u16 util;
	__u32 pad;
};

struct best_hops {
	struct ranked_hop hops[BEST_HOPS]; /* the first `known` are in use, in ascending order of utilisation */
	struct suppression suppression;
	__u32 known;
	__u32 pad;
};

/* An index that the verifier knows to be one. */
#define HOP(index) ((index) & (BEST_HOPS - 1))
_Static_assert((BEST_HOPS & (BEST_HOPS - 1)) == 0, "a power of two");

static __always_inline __u32 best_hops_k(const struct mp_hula_config *config)
{
	if (!config->best_k)
		return 1;
	return config->best_k < BEST_HOPS ? config->best_k : BEST_HOPS;
}

/* Removes the hops that were not refreshed within T_fail. The others keep their order. */
static __always_inline void drop_stale(struct best_hops *best, __u64 now, __u64 fail_after)
{
	__u32 known = best->known, kept = 0;

	for (__u32 i = 0; i < BEST_HOPS && i < known; i++) {
		if (since(now, best->hops[i].updated) > fail_after)
			continue;
		best->hops[HOP(kept)] = best->hops[i];
		kept++;
	}
	best->known = kept;
}

/* The place of a hop with this port, `known` if there is none. */
static __always_inline __u32 find_hop(const struct best_hops *best, __u16 port)
{
	__u32 i;

	for (i = 0; i < BEST_HOPS && i < best->known; i++)
		if (best->hops[i].port == port)
			break;
	return i;
}

/* Exchanges the hops at `place` and in front of it if the one behind is strictly better. */
static __always_inline void exchange_if_better(struct best_hops *best, __u32 place)
{
	struct ranked_hop *hop = &best->hops[place], behind = *hop;

	if (place >= best->known || behind.util >= best->hops[place - 1].util)
		return;
	*hop = best->hops[place - 1];
	best->hops[place - 1] = behind;
}

/* Restores the order after a change of one hop: a pass moves it past strictly worse ones, the next one past strictly better ones. All places
 * are constants, so that the verifier has one state behind each of them. */
static __always_inline void restore_order(struct best_hops *best)
{
#pragma clang loop unroll(full)
	for (__u32 place = BEST_HOPS - 1; place >= 1; place--)
		exchange_if_better(best, place);
#pragma clang loop unroll(full)
	for (__u32 place = 1; place < BEST_HOPS; place++)
		exchange_if_better(best, place);
}

/* Sets the utilisation of the path by `port` from a probe. A global function, which the verifier looks at by itself. */
__noinline int best_hops_update(struct best_hops *best, __u64 now, __u16 port, __u16 util, const struct mp_hula_config *config)
{
	__u32 place;

	if (!best || !config)
		return -1;
	drop_stale(best, now, config->hula.fail_after);
	place = find_hop(best, port);
	if (place < best->known) {
		if (config->hula.update == HULA_LISTING && util >= best->hops[HOP(place)].util)
			return 0;
	} else if (best->known < best_hops_k(config)) {
		best->known++;
	} else {
		place = best->known - 1;
		if (util >= best->hops[HOP(place)].util)
			return 0;
	}
	best->hops[HOP(place)] = (struct ranked_hop){ .updated = now, .port = port, .util = util };
	restore_order(best);
	return 0;
}

static __always_inline void best_hops_digest(const struct best_hops *best, __u64 *digest)
{
	digest_word(digest, best->known);
	for (__u32 i = 0; i < BEST_HOPS && i < best->known; i++) {
		digest_word(digest, best->hops[i].port);
		digest_word(digest, best->hops[i].util);
		digest_word(digest, best->hops[i].updated);
	}
	suppression_digest(&best->suppression, digest);
}
