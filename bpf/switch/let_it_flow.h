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

/* The port of a data packet to another ToR; `random` is 32 uniform bits. */
static __always_inline __u16 let_it_flow_forward(const struct let_it_flow *flow, __u64 now, __u32 random, __u32 flow_hash,
						 const struct next_hops *hops)
{
	const struct hula_config *config = flow->config;
	__u32 number = flowlet_slot(mix(flow_hash, config->salt), config->flowlet_slots);
	struct flowlet *slot = &flow->tables->flowlets[number];
	__u16 port;

	if (hops->count == 1)
		return hops->ports[0];
	port = flowlet_touch(slot, now, config->flowlet_gap, hops);
	if (port != NO_PORT)
		return port;
	port = pick_hop(random, hops);
	flowlet_assign(slot, port, flow->counts);
	return port;
}

static __always_inline void let_it_flow_digest(const struct hula_config *config, const struct let_it_flow_tables *tables,
					       __u64 *digest)
{
	flowlets_digest(tables->flowlets, config->flowlet_slots, digest);
}
