/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/* MP-HULA's tables in the switch, for the schemes that have them: MP-HULA and Shuttle. */
#pragma once

#include "switch/lock.h"
#include "switch/mp_hula.h"
#include "switch/request.h"
#include "switch/switch_maps.h"

#define SCHEME_HAS_SHIMS
#define SCHEME_HAS_PROBES
#define SCHEME_READS_HANDSHAKES

/* Locks for each ToR's entry, and one of the association tables. */
#define SCHEME_MAPS(MAP)                               \
	MAP(mp_hula_tables, 1, struct mp_hula_tables); \
	MAP(tor_locks, SWITCH_TORS, __u32);            \
	MAP(association_lock, 1, __u32);
SCHEME_MAPS(ARRAY)

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

/* A request as the scheme has it. */
static __always_inline struct mp_hula_packet packet_of(const struct forward_request *request)
{
	return (struct mp_hula_packet){
		.flow_hash = request->flow_hash,
		.dst_tor = request->dst_tor,
		.from_host = request->from_host,
		.shim = request->shim,
	};
}

/* The lock of a ToR's entry, taken; NULL: there is no such ToR, or another processor has it. */
static __always_inline __u32 *lock_tor(__u32 tor)
{
	__u32 *lock = bpf_map_lookup_elem(&tor_locks, &tor);

	return lock && try_lock(lock) ? lock : NULL;
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

/* A data packet from the fabric at its destination ToR: it loses its shim. */
static __always_inline int scheme_egress(struct shim *shim, __u64 now)
{
	(void)now;
	mp_hula_egress(shim);
	return 0;
}
