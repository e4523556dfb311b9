/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/* MP-HULA (Hernandez Benet et al., NetCompute 2018): HULA with the k best next hops of each ToR, and the subflows of
 * one MPTCP connection on different ones.
 *
 * A port of the Rust (crates/schemes/policy/src/mp_hula.rs and mptcp_tables.rs), which decides on what the paper leaves
 * open. Tables of zeros are those of a switch that has received nothing. With k = 1 each decision is HULA's. */
#pragma once

#include <linux/types.h>
#include <stdbool.h>
#include <stddef.h>

#include "switch/association.h"
#include "switch/best_hops.h"
#include "switch/hula.h"
#include "switch/subflows.h"

struct mp_hula_tables {
	struct hop_table best[SWITCH_TORS];
	struct owned_flowlets flowlets;
	struct mapping_row mappings[MAPPING_ROWS];
	struct association_tables association; /* a ToR's; other switches do not touch it */
};

/* A switch. */
struct mp_hula {
	const struct mp_hula_config *config;
	struct mp_hula_tables *tables;
	struct scheme_counters *counts;
};

/* A data packet to another ToR. */
struct mp_hula_packet {
	__u32 flow_hash;
	__u16 dst_tor;
	__u8 from_host;
	__u8 pad;
	struct shim shim; /* on arrival, and, when the port is chosen, on departure */
};

static __always_inline struct association mp_hula_association(const struct mp_hula *hula)
{
	return (struct association){ .config = hula->config, .tables = &hula->tables->association, .counts = hula->counts };
}

/* The entry of a ToR; NULL for one that is not in the fabric. */
static __always_inline struct hop_table *mp_hula_best(const struct mp_hula *hula, __u32 tor)
{
	return tor < hula->config->hula.tors && tor < SWITCH_TORS ? &hula->tables->best[tor] : NULL;
}

static __always_inline struct mapping_row *mp_hula_row(const struct mp_hula *hula, const struct mp_hula_packet *packet)
{
	return &hula->tables->mappings[mapping_row(&packet->shim, packet->dst_tor, hula->config->mapping_rows)];
}

/* Adds the shim of its subflow to a packet from a host, if the connection has more than one subflow. */
static __always_inline void mp_hula_add_shim(const struct mp_hula *hula, __u64 now, struct mp_hula_packet *packet)
{
	struct association association = mp_hula_association(hula);

	if (!packet->from_host || !hula->config->hula.is_tor)
		return;
	packet->shim = association_shim(&association, now, packet->flow_hash);
	if (packet->shim.subflow)
		hula->counts->shims++;
}

/* The ports of the live flowlets of the connection's other subflows, for a packet with a shim. */
static __always_inline __u64 mp_hula_others(const struct mp_hula *hula, __u64 now, const struct mp_hula_packet *packet)
{
	const struct hula_config *config = &hula->config->hula;

	return hops_of_others(mp_hula_row(hula, packet), &hula->tables->flowlets, config->flowlet_slots, &packet->shim,
			      packet->dst_tor, now, config->flowlet_gap);
}

/* Those that a flowlet avoids: none if it may take the best hop whatever they use. */
static __always_inline __u64 mp_hula_avoided(const struct mp_hula *hula, __u64 now, const struct mp_hula_packet *packet)
{
	if (!packet->shim.subflow || (packet->shim.subflow == 1 && hula->config->long_flows != LONG_YIELD))
		return 0;
	return mp_hula_others(hula, now, packet);
}

/* The best known hop that a flowlet may take, NO_PORT if none is known. */
static __always_inline __u16 mp_hula_choose(const struct mp_hula *hula, __u64 now, const struct mp_hula_packet *packet,
					    const struct next_hops *hops, __u64 up)
{
	const struct hop_table *best = mp_hula_best(hula, packet->dst_tor);
	bool yields = packet->shim.subflow && hula->config->long_flows == LONG_YIELD;
	__u16 first = NO_PORT, second = NO_PORT, free = NO_PORT;
	__u64 avoided;

	if (!best)
		return NO_PORT;
	avoided = mp_hula_avoided(hula, now, packet);
	for (__u32 place = 0; place < BEST_HOPS && place < best->known; place++) {
		__u16 port = best->hops[place].port;

		if (!has_port(hops->set, port) || !hula_usable(&hula->config->hula, port, up))
			continue;
		if (first == NO_PORT) {
			first = port;
			if (yields)
				continue;
		} else if (second == NO_PORT) {
			second = port;
		}
		if (free == NO_PORT && !has_port(avoided, port))
			free = port;
	}
	if (free != NO_PORT)
		return free;
	if (yields && second == NO_PORT && first != NO_PORT && !has_port(avoided, first))
		return first;
	if (first != NO_PORT)
		hula->counts->shared++;
	return yields && second != NO_PORT ? second : first;
}

/* Maps the packet's subflow, if it has one, to its flowlet on `port`, and makes others leave the port that must. */
static __always_inline void mp_hula_take_hop(const struct mp_hula *hula, __u64 now, __u32 slot,
					     const struct mp_hula_packet *packet, __u16 port)
{
	const struct mp_hula_config *config = hula->config;
	struct mapping_row *row = mp_hula_row(hula, packet);

	if (!packet->shim.subflow)
		return;
	map_subflow(row, &packet->shim, slot);
	if (config->long_flows == LONG_APART && packet->shim.subflow == 1 && hop_table_k(config) > 1)
		end_others(row, &hula->tables->flowlets, config->hula.flowlet_slots, &packet->shim, packet->dst_tor, now,
			   config->hula.flowlet_gap, port);
}

/* Starts a flowlet on the hop chosen, or on the fallback's if that is NO_PORT. */
static __always_inline __u16 mp_hula_start(const struct mp_hula *hula, __u64 now, const struct mp_hula_packet *packet,
					   const struct next_hops *hops, __u64 up, __u16 port)
{
	const struct hula_config *config = &hula->config->hula;
	__u32 hash = mix(packet->flow_hash, config->salt);
	__u32 slot = flowlet_slot(hash, config->flowlet_slots);

	if (port == NO_PORT) {
		hula->counts->fallbacks++;
		port = hula_fall_back(config, hash, hops, up);
	}
	flowlet_assign(&hula->tables->flowlets.flowlets[slot], port, hula->counts);
	set_owner(&hula->tables->flowlets, slot, &packet->shim, packet->dst_tor);
	mp_hula_take_hop(hula, now, slot, packet, port);
	return port;
}

/* Assigns a running flowlet that started without a shim to the packet's subflow. */
static __always_inline void mp_hula_adopt(const struct mp_hula *hula, __u64 now, __u32 slot, const struct mp_hula_packet *packet)
{
	const struct flowlet *flowlet = &hula->tables->flowlets.flowlets[slot];

	if (!packet->shim.subflow || flowlet->owned)
		return;
	set_owner(&hula->tables->flowlets, slot, &packet->shim, packet->dst_tor);
	mp_hula_take_hop(hula, now, slot, packet, flowlet_port(flowlet));
}

/* The port of a data packet to another ToR if there is no choice or its flowlet runs, NO_PORT if it starts one; and in
 * `packet` its shim on departure. Bit i of `up` says that port i is up. */
static __always_inline __u16 mp_hula_running(const struct mp_hula *hula, __u64 now, struct mp_hula_packet *packet,
					     const struct next_hops *hops, __u64 up)
{
	const struct hula_config *config = &hula->config->hula;
	__u32 slot = flowlet_slot(mix(packet->flow_hash, config->salt), config->flowlet_slots);
	struct flowlet *flowlet = &hula->tables->flowlets.flowlets[slot];
	__u16 port;

	mp_hula_add_shim(hula, now, packet);
	if (hops->count == 1)
		return hops->ports[0];
	port = flowlet_touch(flowlet, now, config->flowlet_gap, hops);
	if (port == NO_PORT) {
		flowlet->owned = 0;
		return NO_PORT;
	}
	if (!hula_usable(config, port, up))
		return NO_PORT;
	mp_hula_adopt(hula, now, slot, packet);
	return port;
}

/* The port of a data packet to another ToR, and in `packet` its shim on departure. */
static __always_inline __u16 mp_hula_forward(const struct mp_hula *hula, __u64 now, struct mp_hula_packet *packet,
					     const struct next_hops *hops, __u64 up)
{
	__u16 port = mp_hula_running(hula, now, packet, hops, up);

	if (port != NO_PORT)
		return port;
	return mp_hula_start(hula, now, packet, hops, up, mp_hula_choose(hula, now, packet, hops, up));
}

/* A data packet from the fabric at its destination ToR: the shim is removed. */
static __always_inline void mp_hula_egress(struct shim *shim)
{
	*shim = (struct shim){};
}

/* Handles a packet of a handshake or teardown at a ToR, before it is forwarded. */
static __always_inline void mp_hula_handshake(const struct mp_hula *hula, __u64 now, const struct handshake *packet)
{
	if (hula->config->hula.is_tor)
		association_observe(hula->config, &hula->tables->association, hula->counts, now, packet);
}

/* Handles a received probe. */
static __always_inline struct probe_result mp_hula_probe(const struct mp_hula *hula, __u64 now,
							 const struct probe_arrival *arrival)
{
	const struct hula_config *config = &hula->config->hula;
	struct hop_table *best = mp_hula_best(hula, arrival->tor);
	struct probe_result result = { .tor = arrival->tor };

	hula->counts->probes++;
	if (!best || !arrival->next_hop || (config->is_tor && config->tor == arrival->tor))
		return result;
	best_hops_update(best, now, arrival->port, hula_path_util(config, arrival), hula->config);
	result.util = best->hops[0].util;
	result.forward = !config->is_tor && suppression_pass(&best->suppression, now, config->probe_period);
	return result;
}

static __always_inline void mp_hula_digest(const struct mp_hula *hula, __u64 *digest)
{
	const struct mp_hula_config *config = hula->config;
	struct association association = mp_hula_association(hula);

	for (__u32 tor = 0; tor < config->hula.tors && tor < SWITCH_TORS; tor++)
		hop_table_digest(&hula->tables->best[tor], digest);
	for (__u32 slot = 0; slot < config->hula.flowlet_slots && slot < FLOWLET_SLOTS; slot++)
		owned_flowlet_digest(&hula->tables->flowlets, slot, digest);
	for (__u32 row = 0; row < config->mapping_rows && row < MAPPING_ROWS; row++)
		for (__u32 column = 0; column < SUBFLOWS; column++)
			digest_word(digest, hula->tables->mappings[row].next_slot[column] - 1U);
	if (config->hula.is_tor)
		association_digest(&association, digest);
}
