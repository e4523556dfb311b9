/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/* LetItFlow in the switch. */
#pragma once

#include "switch/let_it_flow.h"
#include "switch/request.h"
#include "switch/switch_maps.h"

#define SCHEME_OF_OBJECT SWITCH_LET_IT_FLOW

#define SCHEME_MAPS(MAP) MAP(let_it_flow_tables, 1, struct let_it_flow_tables);
SCHEME_MAPS(ARRAY)

__noinline int scheme_forward(struct forward_request *request)
{
	const struct switch_config *to = get_config();
	struct let_it_flow flow = {
		.tables = bpf_map_lookup_elem(&let_it_flow_tables, &(__u32){ 0 }),
		.counts = get_scheme_counts(),
	};
	const struct next_hops *hops;
	__u16 port;

	if (!request || !to || !flow.tables || !flow.counts)
		return -1;
	flow.config = &to->mp_hula.hula;
	hops = get_next_hops(request->dst_tor);
	if (!hops)
		return -1;
	port = let_it_flow_running(&flow, request->now, request->flow_hash, hops);
	return port == NO_PORT ? let_it_flow_start(&flow, bpf_get_prandom_u32(), request->flow_hash, hops) : port;
}
