/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/* CONGA (Alizadeh et al., SIGCOMM 2014): leaves exchange the congestion of their paths, and each flowlet takes the
 * least congested uplink.
 *
 * A port of the Rust (crates/schemes/policy/src/conga.rs), which decides on what the paper leaves open. Tables of zeros
 * are those of a leaf that has received nothing. */
#pragma once

#include <linux/types.h>
#include <stdbool.h>

#include "switch/abi.h"
#include "switch/dre.h"
#include "switch/flowlet.h"

#define LBTAGS 16
#define CONGA_METRIC_BITS 3

/* Halves of a tag: of the path that the packet takes (LBTag, CE), of one that its receiver is told of (FB_LBTag,
 * FB_Metric). */
#define TAG_PATH 8
#define TAG_FEEDBACK 0
#define HALF_VALID 0x80

/* The metrics of the paths to or from one other leaf, by LBTag. */
struct conga_metrics {
	__u64 updated[LBTAGS];
	__u8 value[LBTAGS];
};

/* The metrics from one other leaf, and the state of their feedback: masks with a bit for each LBTag. */
struct conga_from {
	struct conga_metrics metrics;
	__u16 valid;
	__u16 changed;
	__u16 round_robin; /* LBTag: the first one to be fed back next */
	__u16 pad;
};

struct conga_tables {
	struct conga_metrics to[SWITCH_TORS];
	struct conga_from from[SWITCH_TORS];
	struct flowlet flowlets[FLOWLET_SLOTS];
};

/* A switch. Of HULA's parameters it has those of flowlets, the salt, and its place in the fabric. */
struct conga {
	const struct hula_config *place;
	const struct conga_config *config;
	struct conga_tables *tables;
	struct scheme_counters *counts;
	const void *ports; /* for conga_link_util */
	__u32 random;      /* for conga_random */
};

/* A packet to another leaf. */
struct conga_packet {
	__u32 flow_hash;
	__u16 dst_tor;
	__u16 tag;
	__u8 from_host;
};

#ifdef __clang__
/* This header compiles by itself, without the definition. */
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wundefined-internal"
#endif
/* Transmit utilisation of a port, of 65536. Defined where the ports are known. */
static __always_inline __u16 conga_link_util(const struct conga *conga, __u64 now, __u32 port);
/* 32 uniform bits, asked for where a flowlet starts. Defined where they come from. */
static __always_inline __u32 conga_random(const struct conga *conga);
#ifdef __clang__
#pragma clang diagnostic pop
#endif

static __always_inline __u32 conga_q(const struct conga_config *config)
{
	if (!config->metric_bits)
		return 1;
	return config->metric_bits < CONGA_METRIC_BITS ? config->metric_bits : CONGA_METRIC_BITS;
}

static __always_inline __u8 conga_link_metric(const struct conga *conga, __u64 now, __u32 port)
{
	return quantise(conga_link_util(conga, now, port), conga_q(conga->config));
}

/* ---- Tags ---- */

static __always_inline __u16 conga_half(__u32 lbtag, __u32 metric)
{
	return HALF_VALID | (lbtag & (LBTAGS - 1)) << 3 | (metric & 7);
}

static __always_inline bool half_is_valid(__u16 tag, __u32 half)
{
	return tag >> half & HALF_VALID;
}

static __always_inline __u32 half_lbtag(__u16 tag, __u32 half)
{
	return tag >> half >> 3 & (LBTAGS - 1);
}

static __always_inline __u8 half_metric(__u16 tag, __u32 half)
{
	return tag >> half & 7;
}

/* Raises CE to the metric of the link of the packet's port; a packet without CE does not change. */
static __always_inline __u16 conga_raise(const struct conga *conga, __u64 now, __u32 port, __u16 tag)
{
	__u8 metric = conga_link_metric(conga, now, port);

	if (!half_is_valid(tag, TAG_PATH))
		return tag;
	/* What is not valid is 0. */
	if (!half_is_valid(tag, TAG_FEEDBACK))
		tag &= 0xff << TAG_PATH;
	if (metric <= half_metric(tag, TAG_PATH))
		return tag;
	return (tag & ~(7 << TAG_PATH)) | metric << TAG_PATH;
}

/* ---- Tables (section 3.3) ---- */

static __always_inline bool conga_has_row(const struct conga *conga, __u32 leaf)
{
	return leaf < conga->place->tors && leaf < SWITCH_TORS;
}

static __always_inline bool conga_is_old(const struct conga *conga, const struct conga_metrics *row, __u64 now, __u32 lbtag)
{
	return since(now, row->updated[lbtag & (LBTAGS - 1)]) > conga->config->metric_age;
}

/* The metric, 0 once it is old. */
static __always_inline __u8 conga_read(const struct conga *conga, const struct conga_metrics *row, __u64 now, __u32 lbtag)
{
	return conga_is_old(conga, row, now, lbtag) ? 0 : row->value[lbtag & (LBTAGS - 1)];
}

static __always_inline void conga_store(struct conga_metrics *row, __u64 now, __u32 lbtag, __u8 value)
{
	row->value[lbtag & (LBTAGS - 1)] = value;
	row->updated[lbtag & (LBTAGS - 1)] = now;
}

/* A metric of a path from another leaf. */
static __always_inline void conga_store_from(const struct conga *conga, struct conga_from *row, __u64 now, __u32 lbtag,
					     __u8 value)
{
	row->valid |= 1 << lbtag;
	if (conga_read(conga, &row->metrics, now, lbtag) != value)
		row->changed |= 1 << lbtag;
	conga_store(&row->metrics, now, lbtag, value);
}

/* The half of a tag that feeds back the next metric: round robin, those that changed first; 0 if there is none. An old
 * one is fed back once, as 0. */
static __always_inline __u16 conga_feedback(const struct conga *conga, struct conga_from *row, __u64 now)
{
	__u32 candidates = row->changed ? row->changed : row->valid, lbtag = 0, ahead;
	__u8 value;

	for (ahead = 0; ahead < LBTAGS; ahead++) {
		lbtag = (row->round_robin + ahead) & (LBTAGS - 1);
		if (candidates >> lbtag & 1)
			break;
	}
	if (ahead == LBTAGS)
		return 0;
	row->round_robin = (lbtag + 1) & (LBTAGS - 1);
	row->changed &= ~(1 << lbtag);
	value = conga_read(conga, &row->metrics, now, lbtag);
	if (conga_is_old(conga, &row->metrics, now, lbtag))
		row->valid &= ~(1 << lbtag);
	return conga_half(lbtag, value);
}

/* ---- Packets ---- */

/* The order of an uplink for a flowlet, the least first: the fuller of its own link and its path, then the port of the
 * flowlet before, then chance (section 3.5). */
static __always_inline __u64 conga_rank(const struct conga *conga, __u64 now, __u32 random, const struct conga_packet *packet,
					__u32 place, __u16 port, __u16 before)
{
	__u8 metric = conga_link_metric(conga, now, port), path = 0;

	if (conga_has_row(conga, packet->dst_tor))
		path = conga_read(conga, &conga->tables->to[packet->dst_tor & (SWITCH_TORS - 1)], now, place & (LBTAGS - 1));
	if (path > metric)
		metric = path;
	return (__u64)metric << 33 | (__u64)(before != port) << 32 | mix(random, place);
}

static __always_inline __u16 conga_choose(const struct conga *conga, __u64 now, const struct conga_packet *packet, __u16 before,
					  const struct next_hops *hops)
{
	__u32 random = conga_random(conga);
	__u16 best = hops->ports[0];
	__u64 least = ~0ULL;

	for (__u32 place = 0; place < SWITCH_PORTS && place < hops->count; place++) {
		__u16 port = next_hop_at(hops, place);
		__u64 rank = conga_rank(conga, now, random, packet, place, port, before);

		if (rank < least) {
			least = rank;
			best = port;
		}
	}
	return best;
}

/* The place of a port among the next hops; SWITCH_PORTS: it is none. A global function, so that the verifier looks at
 * it by itself, and knows nothing of the place: each place would be a state of its own for all that follows. */
__noinline int place_of(const struct next_hops *hops, __u16 port)
{
	if (!hops)
		return SWITCH_PORTS;
	for (__u32 place = 0; place < SWITCH_PORTS && place < hops->count; place++)
		if (next_hop_at(hops, place) == port)
			return place;
	return SWITCH_PORTS;
}

/* The port of a packet of one of the leaf's hosts, which gets a tag with a CE of 0. */
static __always_inline __u16 conga_send(const struct conga *conga, __u64 now, __u32 hash, struct conga_packet *packet,
					const struct next_hops *hops)
{
	struct flowlet *slot = &conga->tables->flowlets[flowlet_slot(hash, conga->place->flowlet_slots)];
	__u16 port = hops->ports[0], before;
	__u32 place;

	if (hops->count > 1) {
		before = flowlet_port(slot);
		port = flowlet_touch(slot, now, conga->place->flowlet_gap, hops);
		if (port == NO_PORT) {
			port = conga_choose(conga, now, packet, before, hops);
			flowlet_assign(slot, port, conga->counts);
		}
	}
	place = place_of(hops, port);
	packet->tag = place < SWITCH_PORTS ? conga_half(place, 0) << TAG_PATH : 0;
	if (conga_has_row(conga, packet->dst_tor))
		packet->tag |= conga_feedback(conga, &conga->tables->from[packet->dst_tor & (SWITCH_TORS - 1)], now)
			       << TAG_FEEDBACK;
	return port;
}

/* The port of a data packet to another leaf. The packet's tag becomes that on departure. */
static __always_inline __u16 conga_forward(const struct conga *conga, __u64 now, struct conga_packet *packet,
					   const struct next_hops *hops)
{
	__u32 hash = mix(packet->flow_hash, conga->place->salt);
	__u16 port;

	if (conga->place->is_tor && packet->from_host)
		port = conga_send(conga, now, hash, packet, hops);
	else
		port = pick_hop(hash, hops);
	packet->tag = conga_raise(conga, now, port, packet->tag);
	return port;
}

/* A packet of leaf `from` at its destination leaf: its tag is read. */
static __always_inline void conga_receive(const struct conga *conga, __u64 now, __u16 from, __u16 tag)
{
	__u32 row = from & (SWITCH_TORS - 1);

	if (!conga->place->is_tor || !conga_has_row(conga, from))
		return;
	if (half_is_valid(tag, TAG_PATH))
		conga_store_from(conga, &conga->tables->from[row], now, half_lbtag(tag, TAG_PATH), half_metric(tag, TAG_PATH));
	if (half_is_valid(tag, TAG_FEEDBACK))
		conga_store(&conga->tables->to[row], now, half_lbtag(tag, TAG_FEEDBACK), half_metric(tag, TAG_FEEDBACK));
}

static __always_inline void conga_metrics_digest(const struct conga_metrics *row, __u64 *digest)
{
	for (__u32 lbtag = 0; lbtag < LBTAGS; lbtag++) {
		digest_word(digest, row->value[lbtag]);
		digest_word(digest, row->updated[lbtag]);
	}
}

/* A spine has no state. */
static __always_inline void conga_digest(const struct hula_config *place, const struct conga_tables *tables, __u64 *digest)
{
	if (!place->is_tor)
		return;
	flowlets_digest(tables->flowlets, place->flowlet_slots, digest);
	for (__u32 leaf = 0; leaf < place->tors && leaf < SWITCH_TORS; leaf++)
		conga_metrics_digest(&tables->to[leaf], digest);
	for (__u32 leaf = 0; leaf < place->tors && leaf < SWITCH_TORS; leaf++) {
		conga_metrics_digest(&tables->from[leaf].metrics, digest);
		digest_word(digest, tables->from[leaf].valid);
		digest_word(digest, tables->from[leaf].changed);
		digest_word(digest, tables->from[leaf].round_robin);
	}
}
