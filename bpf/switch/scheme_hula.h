/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/* HULA in the switch. */
#pragma once

#include "switch/hula.h"
#include "switch/lock.h"
#include "switch/request.h"
#include "switch/switch_maps.h"

#define SCHEME_OF_OBJECT SWITCH_HULA
#define SCHEME_HAS_PROBES

/* A lock for each ToR's entry. */
#define SCHEME_MAPS(MAP)                         \
	MAP(hula_tables, 1, struct hula_tables); \
	MAP(tor_locks, SWITCH_TORS, __u32);
SCHEME_MAPS(ARRAY)

static __always_inline bool get_hula(struct hula *hula)
{
	const struct switch_config *to = get_config();

	if (!to)
		return false;
	hula->config = &to->mp_hula.hula;
	hula->tables = bpf_map_lookup_elem(&hula_tables, &(__u32){ 0 });
	hula->counts = get_scheme_counts();
	return hula->tables && hula->counts;
}

__noinline int scheme_forward(struct forward_request *request)
{
	const struct next_hops *hops;
	struct hula hula;

	if (!request || !get_hula(&hula))
		return -1;
	hops = get_next_hops(request->dst_tor);
	return hops ? hula_forward(&hula, request->now, request->flow_hash, request->dst_tor, hops, request->up) : -1;
}

__noinline int scheme_probe(struct probe_request *request)
{
	struct hula hula;
	__u32 *lock, tor;

	if (!request || !get_hula(&hula))
		return -1;
	tor = request->arrival.tor;
	lock = bpf_map_lookup_elem(&tor_locks, &tor);
	if (!lock || !try_lock(lock))
		return -1;
	request->result = hula_probe(&hula, request->now, &request->arrival);
	unlock(lock);
	return 0;
}
