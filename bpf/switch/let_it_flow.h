/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/* LetItFlow (Vanini et al., NSDI 2017): a random next hop for each flowlet. A port of the Rust
 * (crates/schemes/policy/src/letitflow.rs). */
#pragma once

#include "switch/flowlet.h"

struct let_it_flow_tables {
	struct flowlet flowlets[FLOWLET_SLOTS];
};

/* A switch. Of HULA's parameters it has those of flowlets, and the salt. */
struct let_it_flow {
	const struct hula_config *config;
	struct let_it_flow_tables *tables;
	struct scheme_counters *counts;
};

static __always_inline struct flowlet *let_it_flow_slot(const struct let_it_flow *flow, __u32 flow_hash)
{
	__u32 hash = mix(flow_hash, flow->config->salt);

	return &flow->tables->flowlets[flowlet_slot(hash, flow->config->flowlet_slots)];
}

/* The port of a data packet to another ToR if there is no choice or its flowlet runs, NO_PORT if it starts one. */
static __always_inline __u16 let_it_flow_running(const struct let_it_flow *flow, __u64 now, __u32 flow_hash,
						 const struct next_hops *hops)
{
	if (hops->count == 1)
		return hops->ports[0];
	return flowlet_touch(let_it_flow_slot(flow, flow_hash), now, flow->config->flowlet_gap, hops);
}

/* The port of a flowlet that starts; `random` is 32 uniform bits. */
static __always_inline __u16 let_it_flow_start(const struct let_it_flow *flow, __u32 random, __u32 flow_hash,
					       const struct next_hops *hops)
{
	__u16 port = pick_hop(random, hops);

	flowlet_assign(let_it_flow_slot(flow, flow_hash), port, flow->counts);
	return port;
}

static __always_inline void let_it_flow_digest(const struct hula_config *config, const struct let_it_flow_tables *tables,
					       __u64 *digest)
{
	flowlets_digest(tables->flowlets, config->flowlet_slots, digest);
}
