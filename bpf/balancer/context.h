/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/* The state of the packet in process, and its counters. */
#pragma once

#include "balancer/flow_entry.h"
#include "balancer/hash.h"
#include "balancer/maps.h"
#include "common/packet.h"

/* One packet for one service, in process. It has no pointers, so that global functions can take it: the verifier checks those once and
 * not at each call. What is a key of a map is copied from here first: before Linux 6.2 the verifier takes none in memory that a function was given. */
struct packet_context {
	struct packet packet;
	struct vip_key service;
	struct flow_key key;
	struct vip vip;            /* id 0: none of this packet's */
	__u64 hash;                /* of the flow, in this balancer's tables */
	struct flow_snapshot flow; /* of the flow's entry, if `known` */
	__u32 bucket;              /* the place of that entry */
	__u32 slot;
	__u32 now;               /* tick */
	__u32 peer;              /* the balancer that sent the packet here, */
	struct address sender;   /* from this address, */
	struct steering message; /* with this in front */
	__u32 sequence;          /* of a TCP packet off the fast path */
	__u32 named;             /* off the fast path: the target that the connection id of QUIC names; NO_TARGET: none */
	bool known;
	bool forwarded; /* another balancer sent it here to be treated as this one's own */
};

/* True if `seen` is less than `ticks` ago. Another processor's clock may have been a tick ahead of this one's. */
static __always_inline bool within(__u32 now, __u32 seen, __u32 ticks)
{
	return (__s32)(now - seen) < (__s32)ticks;
}

static __always_inline struct trace *current_trace(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&traces, &zero);
}

static __always_inline void count(const struct packet_context *context, enum counter counter)
{
	__u32 index = context->vip.id * COUNTERS + counter;
	struct count *count;

	if (DRY_RUN) {
		struct trace *trace = current_trace();

		if (trace)
			trace->counters[counter / 64 % (COUNTERS / 64)] |= 1ull << counter % 64;
		return;
	}
	count = bpf_map_lookup_elem(&counters, &index);
	if (!count)
		return;
	count->packets += 1;
	count->bytes += context->packet.length;
}

static __always_inline void count_target(const struct packet_context *context, __u32 target)
{
	struct count *count;

	if (DRY_RUN) {
		struct trace *trace = current_trace();

		if (trace)
			trace->target = target;
		return;
	}
	count = bpf_map_lookup_elem(&target_counts, &target);
	if (!count)
		return;
	count->packets += 1;
	count->bytes += context->packet.length;
}

/* True if `limit` allows one more event now; counts it. */
static __always_inline bool within_limit(enum limit_kind which, const struct limit *limit, __u32 now)
{
	struct rate_limit *rest = bpf_map_lookup_elem(&rate_limits, &which);
	__u64 grown;

	if (!limit->per_tick || DRY_RUN)
		return true;
	if (!rest)
		return false;
	grown = rest->left + (__u64)(now - rest->tick) * limit->per_tick;
	if (grown > limit->burst || !rest->tick)
		grown = limit->burst;
	rest->tick = now;
	rest->left = grown ? grown - 1 : 0;
	return grown != 0;
}
