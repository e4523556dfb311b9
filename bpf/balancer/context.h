/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/* The state of the packet in process, and its counters. */
#pragma once

#include "balancer/flow_entry.h"
#include "balancer/hash.h"
#include "balancer/maps.h"
#include "common/packet.h"

/* One packet for one service, in process. It has no pointers, so that global functions can take it: the verifier checks
 * those once and not at each call. What is a key of a map is copied from here first: before Linux 6.2 the verifier
 * takes none in memory that a function was given. */
struct packet_context {
	struct packet packet;
	struct vip_key service;
	struct flow_key key;
	struct vip vip;            /* id 0: none of this packet's */
	__u64 hash;                /* of the flow, in this balancer's tables */
	struct flow_snapshot flow; /* of the flow's entry, if `known` */
	__u32 bucket;              /* the place of that entry, or of the one that the flow `replaces` */
	__u32 slot;
	__u32 now;               /* tick */
	__u32 peer;              /* the balancer that sent the packet here, */
	struct address sender;   /* from this address, */
	struct steering message; /* with this in front */
	__u32 sequence;          /* of a TCP packet off the fast path */
	__u32 maglev_word;       /* off the fast path: what the flow's slot has in the service's Maglev table */
	__u32 named;             /* off the fast path: the target that the connection id of QUIC names; NO_TARGET: none */
	__u32 passed_over;       /* off the fast path: a target that has not answered this packet's SYN; NO_TARGET: none */
	bool known;
	bool replaces;  /* not `known`, but the place has an entry of its addresses and ports that is another flow's */
	bool forwarded; /* another balancer sent it here to be treated as this one's own */
};

/* True if `seen` is less than `ticks` ago. Another processor's clock may have been a tick ahead of this one's. */
static __always_inline bool within(__u32 now, __u32 seen, __u32 ticks)
{
	return (__s32)(now - seen) < (__s32)ticks;
}

static __always_inline void add_bytes(struct count *count, __u32 times, __u32 bytes)
{
	if (!count)
		return;
	count->packets += times;
	count->bytes += times * bytes;
}

static __always_inline void add_to(struct count *count, const struct packet_context *context, __u32 times)
{
	add_bytes(count, times, context->packet.length);
}

/* Counts an event or a verdict, as often as it was. For act.h, and for what it calls. */
static __always_inline void count_times(const struct packet_context *context, enum counter counter, __u32 times)
{
	__u32 index = context->vip.id * COUNTERS + counter;

	add_to(bpf_map_lookup_elem(&counters, &index), context, times);
}

static __always_inline void count(const struct packet_context *context, enum counter counter)
{
	count_times(context, counter, 1);
}

static __always_inline void count_target(const struct packet_context *context, __u32 target)
{
	add_to(bpf_map_lookup_elem(&target_counts, &target), context, 1);
}
