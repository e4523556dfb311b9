/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/* Backends that have stopped to answer, before a health check says so. A client whose SYN has no answer sends it again
 * after a second (RFC 6298), and one that has an answer sends the third packet of the handshake. So a backend of which
 * several SYNs come again while no handshake goes on seems dead: new connections pass it over, and so do the SYNs that
 * come again. One more handshake that goes on ends that, as does time, so that it is tried again.
 *
 * Anybody can send either: forged signs send new connections to another backend, or leave it to the health check.
 * Nothing that is established follows them. */
#pragma once

#include "balancer/flow_table.h"
#include "common/atomic.h"

/* True of a SYN of a flow whose handshake is in progress, with the number of the one before. */
static __always_inline bool opens_again(const struct packet_context *context)
{
	return (context->packet.tcp_flags & (TCP_SYN | TCP_ACK)) == TCP_SYN && context->known && is_syn_alone(&context->flow) &&
	       opening_number(context) == context->flow.epoch;
}

/* True of a packet that only a client sends that has an answer. */
static __always_inline bool goes_on(const struct packet_context *context)
{
	return context->packet.protocol == IPPROTO_TCP && half_open(&context->flow) &&
	       (context->packet.tcp_flags & (TCP_SYN | TCP_ACK | TCP_RST)) == TCP_ACK;
}

/* True if the known flow's SYN has come again, not just twice from the network. */
static __always_inline bool is_repeated(const struct packet_context *context)
{
	return !within(context->now, context->flow.seen, REPETITION);
}

/* True if the SYN of the known flow, which came again, is better sent elsewhere: with this one its target seems dead,
 * or it has answered nobody since the first one, and that came again twice. */
static __always_inline bool is_unanswered(const struct packet_context *context)
{
	const struct flow_snapshot *flow = &context->flow;
	const struct target_signs *signs;
	__u32 index = flow->target;

	if (!is_repeated(context))
		return false;
	signs = bpf_map_lookup_elem(&target_signs, &index);
	if (!signs)
		return false;
	if (signs->repeated + 1 >= SILENT_SYNS && within(context->now, signs->silent, SILENT_TIME))
		return true;
	return !within(context->now, flow->seen, REPEATED_TWICE) &&
	       (!signs->answered || (__s32)(signs->answered - flow->seen) < 0);
}

/* Notes that there are flows which only entries explain. */
static __always_inline void write_unexplained(const struct packet_context *context)
{
	__u32 index = NO_TARGET;
	struct target_signs *signs = bpf_map_lookup_elem(&target_signs, &index);

	if (signs && signs->unexplained != context->now)
		WRITE_ONCE(signs->unexplained, context->now);
}

/* Notes what the packet says of its flow's target. */
__noinline int write_signs(const struct packet_context *context, __u32 answered)
{
	struct target_signs *signs;
	__u32 index;

	if (!context)
		return 0;
	index = context->flow.target;
	signs = bpf_map_lookup_elem(&target_signs, &index);
	if (!signs)
		return 0;
	if (!answered) {
		if (within(context->now, signs->silent, SILENT_TIME))
			__sync_fetch_and_add(&signs->repeated, 1);
		else
			WRITE_ONCE(signs->repeated, 1);
		WRITE_ONCE(signs->silent, context->now);
	} else if (signs->answered != context->now || signs->repeated) {
		WRITE_ONCE(signs->answered, context->now);
		WRITE_ONCE(signs->repeated, 0);
	}
	return 0;
}
