/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/* What is known of the packet under way, and the counters of what becomes of it. */
#pragma once

#include "balancer/hash.h"
#include "balancer/maps.h"
#include "common/packet.h"

/* One packet for one service, on its way to a verdict. No pointers: so global functions, which the verifier looks at once
 * and not at each call, can take it. */
struct job {
	struct packet packet;
	struct vip_key service;
	struct flow_key key;
	struct vip vip; /* id 0: none of this packet's */
	__u64 hash;     /* of the flow, in this balancer's tables */
	__u32 bucket;   /* where the flow's entry is, if `known` */
	__u32 slot;
	__u32 now;      /* tick */
	bool known;
	bool forwarded; /* another balancer sent it here to be treated as this one's own */
};

/* Whether `seen` is less than `ticks` ago. Another processor's clock may have been a tick ahead of this one's. */
static __always_inline bool within(__u32 now, __u32 seen, __u32 ticks)
{
	return (__s32)(now - seen) < (__s32)ticks;
}

static __always_inline struct trace *trace_of_this(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&traces, &zero);
}

static __always_inline void count(const struct job *job, enum counter counter)
{
	__u32 index = job->vip.id * COUNTERS + counter;
	struct count *count;

	if (DRY_RUN) {
		struct trace *trace = trace_of_this();

		if (trace)
			trace->counters |= 1ull << counter;
		return;
	}
	count = bpf_map_lookup_elem(&counters, &index);
	if (!count)
		return;
	count->packets += 1;
	count->bytes += job->packet.length;
}

static __always_inline void count_target(const struct job *job, __u32 target)
{
	struct count *count;

	if (DRY_RUN) {
		struct trace *trace = trace_of_this();

		if (trace)
			trace->target = target;
		return;
	}
	count = bpf_map_lookup_elem(&target_counts, &target);
	if (!count)
		return;
	count->packets += 1;
	count->bytes += job->packet.length;
}

/* Whether one more of what `limit` bounds may happen now. */
static __always_inline bool allowed(__u32 which, const struct limit *limit, __u32 now)
{
	struct allowance *allowance = bpf_map_lookup_elem(&allowances, &which);
	__u64 grown;

	if (!limit->per_tick || DRY_RUN)
		return true;
	if (!allowance)
		return false;
	grown = allowance->left + (__u64)(now - allowance->tick) * limit->per_tick;
	if (grown > limit->burst || !allowance->tick)
		grown = limit->burst;
	allowance->tick = now;
	allowance->left = grown ? grown - 1 : 0;
	return grown != 0;
}
