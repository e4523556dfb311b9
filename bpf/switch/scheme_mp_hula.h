/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/* MP-HULA in the switch. */
#pragma once

#include "switch/lock.h"
#include "switch/mp_hula.h"
#include "switch/request.h"
#include "switch/switch_maps.h"

#define SCHEME_OF_OBJECT SWITCH_MP_HULA

ARRAY(mp_hula_tables, 1, struct mp_hula_tables);
/* A lock for each ToR's entry. */
ARRAY(tor_locks, SWITCH_TORS, __u32);
/* Of the association tables. */
ARRAY(association_lock, 1, __u32);

static __always_inline bool scheme_has_shims(void)
{
	return true;
}

static __always_inline bool get_mp_hula(struct mp_hula *hula)
{
	const struct switch_config *to = get_config();

	if (!to)
		return false;
	hula->config = &to->mp_hula;
	hula->tables = bpf_map_lookup_elem(&mp_hula_tables, &(__u32){ 0 });
	hula->counts = get_scheme_counts();
	return hula->tables && hula->counts;
}

__noinline int scheme_forward(struct forward_request *request)
{
	struct mp_hula_packet packet;
	const struct next_hops *hops;
	struct mp_hula hula;
	int port;

	if (!request || !get_mp_hula(&hula))
		return -1;
	hops = get_next_hops(request->dst_tor);
	if (!hops)
		return -1;
	packet = (struct mp_hula_packet){
		.flow_hash = request->flow_hash,
		.dst_tor = request->dst_tor,
		.from_host = request->from_host,
		.shim = request->shim,
	};
	port = mp_hula_forward(&hula, request->now, &packet, hops, request->up);
	request->shim = packet.shim;
	return port;
}

__noinline int scheme_probe(struct probe_request *request)
{
	struct mp_hula hula;
	__u32 *lock, tor;

	if (!request || !get_mp_hula(&hula))
		return -1;
	tor = request->arrival.tor;
	lock = bpf_map_lookup_elem(&tor_locks, &tor);
	if (!lock || !try_lock(lock))
		return -1;
	request->result = mp_hula_probe(&hula, request->now, &request->arrival);
	unlock(lock);
	return 0;
}

/* A packet of a handshake or teardown, from or to a host of this ToR. */
__noinline int scheme_observe(struct handshake *packet, __u64 now)
{
	__u32 *lock = bpf_map_lookup_elem(&association_lock, &(__u32){ 0 });
	struct mp_hula hula;

	if (!packet || !lock || !get_mp_hula(&hula) || !try_lock(lock))
		return -1;
	mp_hula_handshake(&hula, now, packet);
	unlock(lock);
	return 0;
}
