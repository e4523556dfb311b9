/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/* The k best next hops towards a ToR, best first (MP-HULA section 2.3). A port of
 * crates/schemes/policy/src/best_hops.rs, which reads the paper's text. With k = 1 this is HULA's rule. */
#pragma once

#include "switch/hop_table.h"

/* Exchanges the hops at `place` and in front of it if the one behind is strictly better. */
static __always_inline void exchange_if_better(struct hop_table *best, __u32 place)
{
	struct table_hop *hop = &best->hops[place], behind = *hop;

	if (place >= best->known || behind.util >= best->hops[place - 1].util)
		return;
	*hop = best->hops[place - 1];
	best->hops[place - 1] = behind;
}

/* Restores the order after a change of one hop: a pass moves it past strictly worse ones, the next one past strictly
 * better ones. All places are constants, so that the verifier has one state behind each of them. */
static __always_inline void restore_order(struct hop_table *best)
{
#pragma clang loop unroll(full)
	for (__u32 place = BEST_HOPS - 1; place >= 1; place--)
		exchange_if_better(best, place);
#pragma clang loop unroll(full)
	for (__u32 place = 1; place < BEST_HOPS; place++)
		exchange_if_better(best, place);
}

/* Sets the utilisation of the path by `port` from a probe. A global function, which the verifier looks at by itself. */
__noinline int best_hops_update(struct hop_table *best, __u64 now, __u16 port, __u16 util, const struct mp_hula_config *config)
{
	__u32 place;

	if (!best || !config)
		return -1;
	drop_stale(best, now, config->hula.fail_after);
	place = find_hop(best, port);
	if (place < best->known) {
		if (config->hula.update == HULA_LISTING && util >= best->hops[HOP(place)].util)
			return 0;
	} else if (best->known < hop_table_k(config)) {
		best->known++;
	} else {
		place = best->known - 1;
		if (util >= best->hops[HOP(place)].util)
			return 0;
	}
	best->hops[HOP(place)] = (struct table_hop){ .updated = now, .port = port, .util = util };
	restore_order(best);
	return 0;
}
