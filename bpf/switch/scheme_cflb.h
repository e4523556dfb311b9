/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/* CFLB in the switch. */
#pragma once

#include "switch/cflb.h"
#include "switch/request.h"
#include "switch/switch_maps.h"

#define SCHEME_OF_OBJECT SWITCH_CFLB
#define SCHEME_READS_FIELDS

/* The output of cflb_prepare.h for the constants, and selectors that the switch has met. */
#define SCHEME_MAPS(MAP)                    \
	MAP(cflb_prepared, 1, struct cflb); \
	MAP(cflb_memo, 1, struct cflb_memo);
SCHEME_MAPS(ARRAY)

__noinline int scheme_forward(struct forward_request *request)
{
	const struct cflb *cflb = bpf_map_lookup_elem(&cflb_prepared, &(__u32){ 0 });
	struct cflb_memo *memo = bpf_map_lookup_elem(&cflb_memo, &(__u32){ 0 });
	const struct switch_config *to = get_config();
	struct scheme_counters *counts = get_scheme_counts();
	struct cflb_decision decision;
	const struct next_hops *hops;

	if (!request || !cflb || !memo || !to || !counts)
		return -1;
	hops = get_next_hops(request->dst_tor);
	return hops ? cflb_forward(cflb, memo, to->router, &request->fields, hops, counts, &decision) : -1;
}
