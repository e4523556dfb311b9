/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/* ECMP in the switch. */
#pragma once

#include "switch/ecmp.h"
#include "switch/request.h"
#include "switch/switch_maps.h"

#define SCHEME_OF_OBJECT SWITCH_ECMP
#define SCHEME_MAPS(MAP)

__noinline int scheme_forward(struct forward_request *request)
{
	const struct switch_config *to = get_config();
	const struct next_hops *hops;

	if (!request || !to)
		return -1;
	hops = get_next_hops(request->dst_tor);
	return hops ? ecmp_forward(to->salt, request->flow_hash, hops) : -1;
}
