/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/* Shuttle (Heddle's own): MP-HULA's tables with a random choice by present congestion, remote and own.
 *
 * A port of the Rust (crates/schemes/policy/src/shuttle.rs). Tables, shims, flowlets and mappings are MP-HULA's
 * (mp_hula.h). Who includes this defines shuttle_port_load. */
#pragma once

#include <linux/types.h>
#include <stdbool.h>

#include "switch/mp_hula.h"
#include "switch/remote_hops.h"
#include "switch/shuttle_choice.h"

/* A switch. */
struct shuttle {
	struct mp_hula mptcp;
	const void *ports; /* of shuttle_port_load alone */
};

#ifdef __clang__
/* This header compiles by itself, without the definition. */
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wundefined-internal"
#endif
/* The load of one of the switch's own ports now. */
static __always_inline struct port_load shuttle_port_load(const struct shuttle *shuttle, __u64 now, __u32 port);
#ifdef __clang__
#pragma clang diagnostic pop
#endif

/* The ports that a flowlet shares with another subflow of its connection, and avoids. */
static __always_inline __u64 shuttle_avoided(const struct shuttle *shuttle, __u64 now, const struct mp_hula_packet *packet)
{
	__u32 rule = shuttle->mptcp.config->shuttle.subflows;

	if (!packet->shim.subflow || rule == SHUTTLE_ALIKE || (rule == SHUTTLE_FIRST_FREE && packet->shim.subflow == 1))
		return 0;
	return mp_hula_others(&shuttle->mptcp, now, packet);
}

/* A known hop that a flowlet may take, NO_PORT if none is known. `random` is 32 uniform bits. */
static __always_inline __u16 shuttle_choose(const struct shuttle *shuttle, __u64 now, __u32 random,
					    const struct mp_hula_packet *packet, const struct next_hops *hops, __u64 up)
{
	const struct mp_hula_config *config = shuttle->mptcp.config;
	const struct hop_table *known = mp_hula_best(&shuttle->mptcp, packet->dst_tor);
	struct shuttle_choice choice = shuttle_no_choice(&config->shuttle, random);
	struct shuttle_candidate chosen;
	__u64 avoided;

	if (!known)
		return NO_PORT;
	avoided = shuttle_avoided(shuttle, now, packet);
	for (__u32 place = 0; place < BEST_HOPS && place < known->known; place++) {
		__u16 port = known->hops[place].port, remote = known->hops[place].util;
		struct shuttle_candidate candidate;
		struct port_load load;

		if (!has_port(hops->set, port) || !hula_usable(&config->hula, port, up))
			continue;
		load = shuttle_port_load(shuttle, now, port);
		candidate = shuttle_candidate(config, port, remote, &load);
		candidate.shared = has_port(avoided, port);
		shuttle_offer(&choice, &candidate);
	}
	chosen = shuttle_chosen(&choice);
	if (chosen.port != NO_PORT && chosen.shared)
		shuttle->mptcp.counts->shared++;
	return chosen.port;
}

/* The port of a flowlet that starts: of a packet for which mp_hula_running has none. */
static __always_inline __u16 shuttle_start(const struct shuttle *shuttle, __u64 now, __u32 random,
					   const struct mp_hula_packet *packet, const struct next_hops *hops, __u64 up)
{
	__u16 port = shuttle_choose(shuttle, now, random, packet, hops, up);

	return mp_hula_start(&shuttle->mptcp, now, packet, hops, up, port);
}

/* The least of max(remote figure, own link now) over the hops known. */
static __always_inline __u16 shuttle_least_path(const struct shuttle *shuttle, __u64 now, const struct hop_table *known)
{
	const struct mp_hula_config *config = shuttle->mptcp.config;
	__u16 least = 0xffff;

	for (__u32 place = 0; place < BEST_HOPS && place < known->known; place++) {
		struct port_load load = shuttle_port_load(shuttle, now, known->hops[place].port);
		__u16 own = quantise(shuttle_own_figure(&config->shuttle, &load), config->hula.util_bits);
		__u16 path = known->hops[place].util;

		if (own > path)
			path = own;
		if (path < least)
			least = path;
	}
	return least;
}

/* Handles a received probe: stores its figure; what goes on is that of the least congested path. */
static __always_inline struct probe_result shuttle_probe(const struct shuttle *shuttle, __u64 now,
							 const struct probe_arrival *arrival)
{
	const struct mp_hula_config *config = shuttle->mptcp.config;
	struct hop_table *known = mp_hula_best(&shuttle->mptcp, arrival->tor);
	struct probe_result result = { .tor = arrival->tor };

	shuttle->mptcp.counts->probes++;
	if (!known || !arrival->next_hop || (config->hula.is_tor && config->hula.tor == arrival->tor))
		return result;
	remote_hops_update(known, now, arrival->port, arrival->util, config);
	if (config->hula.is_tor || !suppression_pass(&known->suppression, now, config->hula.probe_period))
		return result;
	result.util = shuttle_least_path(shuttle, now, known);
	result.forward = true;
	return result;
}
