/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/* CFLB in the switch. */
#pragma once

#include "switch/cflb.h"
#include "switch/request.h"
#include "switch/switch_maps.h"

#define SCHEME_OF_OBJECT SWITCH_CFLB

/* The output of cflb_prepare.h for the constants. */
ARRAY(cflb_prepared, 1, struct cflb);
ARRAY(cflb_memo, 1, struct cflb_memo);

static __always_inline bool scheme_reads_fields(void)
{
	return true;
}

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

/* CFLB has no probes. */
static __always_inline int scheme_probe(struct probe_request *request)
{
	(void)request;
	return 0;
}
