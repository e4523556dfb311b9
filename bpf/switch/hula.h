/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/* HULA (Katta et al., SOSR 2016): probes carry the utilisation of the best path; each flowlet takes the best next hop.
 *
 * A port of the Rust (crates/schemes/policy/src/hula.rs), which decides on what the paper leaves open. Tables of zeros
 * are those of a switch that has received nothing. */
#pragma once

#include <linux/types.h>
#include <stdbool.h>
#include <stddef.h>

#include "switch/abi.h"
#include "switch/dre.h"
#include "switch/flowlet.h"
#include "switch/suppression.h"

/* The best hop towards a ToR. */
struct best_hop {
	__u64 updated;
	struct suppression suppression;
	__u16 next_port; /* port + 1; 0: none */
	__u16 util;      /* of the path, in the probe's quantisation */
	__u32 pad;
};

struct hula_tables {
	struct best_hop best[SWITCH_TORS];
	struct flowlet flowlets[FLOWLET_SLOTS];
};

/* A switch. */
struct hula {
	const struct hula_config *config;
	struct hula_tables *tables;
	struct scheme_counters *counts;
};

static __always_inline bool hula_usable(const struct hula_config *config, __u32 port, __u64 up)
{
	return !config->local_detection || has_port(up, port);
}

/* Utilisation of a probe's path, with this switch's link. */
static __always_inline __u16 hula_path_util(const struct hula_config *config, const struct probe_arrival *arrival)
{
	__u16 link = quantise(arrival->link_util, config->util_bits);

	return link > arrival->util ? link : arrival->util;
}

/* ECMP's hop for `hash`, or the next usable one behind it; ECMP's if none is usable. */
static __always_inline __u16 hula_fall_back(const struct hula_config *config, __u32 hash, const struct next_hops *hops, __u64 up)
{
	__u32 at = pick(hash, hops->count);

	if (!config->local_detection || !(hops->set & up))
		return next_hop_at(hops, at);
	for (__u32 tried = 0; tried < SWITCH_PORTS; tried++) {
		__u32 index = at + tried;
		__u16 port = next_hop_at(hops, index < hops->count ? index : index - hops->count);

		if (has_port(up, port))
			return port;
	}
	return next_hop_at(hops, at);
}

/* Section 4.2, figure 3b lines 6 to 12. */
static __always_inline void hula_update_best(struct best_hop *best, __u64 now, __u16 port, __u16 util,
					     const struct hula_config *config)
{
	bool stale = since(now, best->updated) > config->fail_after;
	bool refreshed = config->update == HULA_REFRESH && best->next_port == port + 1;

	if (best->next_port && util >= best->util && !stale && !refreshed)
		return;
	best->next_port = port + 1;
	best->util = util;
	best->updated = now;
}

/* The entry of a ToR; NULL for one that is not in the fabric. */
static __always_inline struct best_hop *hula_best(const struct hula *hula, __u32 tor)
{
	return tor < hula->config->tors && tor < SWITCH_TORS ? &hula->tables->best[tor] : NULL;
}

/* The port of a flowlet that starts. */
static __always_inline __u16 hula_choose(const struct hula *hula, __u32 hash, __u16 dst_tor, const struct next_hops *hops,
					 __u64 up)
{
	const struct best_hop *best = hula_best(hula, dst_tor);
	__u32 port = best ? best->next_port - 1U : NO_PORT;

	if (has_port(hops->set, port) && hula_usable(hula->config, port, up))
		return port;
	hula->counts->fallbacks++;
	return hula_fall_back(hula->config, hash, hops, up);
}

/* The port of a data packet to another ToR. Bit i of `up` says that port i is up. */
static __always_inline __u16 hula_forward(const struct hula *hula, __u64 now, __u32 flow_hash, __u16 dst_tor,
					  const struct next_hops *hops, __u64 up)
{
	const struct hula_config *config = hula->config;
	__u32 hash = mix(flow_hash, config->salt);
	struct flowlet *slot = &hula->tables->flowlets[flowlet_slot(hash, config->flowlet_slots)];
	__u16 port;

	if (hops->count == 1)
		return hops->ports[0];
	port = flowlet_touch(slot, now, config->flowlet_gap, hops);
	if (port != NO_PORT && hula_usable(config, port, up))
		return port;
	port = hula_choose(hula, hash, dst_tor, hops, up);
	flowlet_assign(slot, port, hula->counts);
	return port;
}

/* True if the switch sends probes of its own: those of its ToR with utilisation 0, on each uplink once a probe
 * period. */
static __always_inline bool hula_originates(const struct hula_config *config)
{
	return config->is_tor;
}

/* Handles a received probe. */
static __always_inline struct probe_result hula_probe(const struct hula *hula, __u64 now, const struct probe_arrival *arrival)
{
	const struct hula_config *config = hula->config;
	struct best_hop *best = hula_best(hula, arrival->tor);
	struct probe_result result = { .tor = arrival->tor };

	hula->counts->probes++;
	if (!best || !arrival->next_hop || (config->is_tor && config->tor == arrival->tor))
		return result;
	hula_update_best(best, now, arrival->port, hula_path_util(config, arrival), config);
	result.util = best->util;
	result.forward = !config->is_tor && suppression_pass(&best->suppression, now, config->probe_period);
	return result;
}

static __always_inline void best_hop_digest(const struct best_hop *best, __u64 *digest)
{
	digest_word(digest, (__u16)(best->next_port - 1));
	digest_word(digest, best->next_port ? best->util : 0xffff);
	digest_word(digest, best->updated);
	suppression_digest(&best->suppression, digest);
}

static __always_inline void hula_digest(const struct hula *hula, __u64 *digest)
{
	for (__u32 tor = 0; tor < hula->config->tors && tor < SWITCH_TORS; tor++)
		best_hop_digest(&hula->tables->best[tor], digest);
	flowlets_digest(hula->tables->flowlets, hula->config->flowlet_slots, digest);
}
