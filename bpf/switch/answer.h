/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/* ICMP errors about packets that the switch does not forward, made of the packet and sent back out of the port where it
 * came in: at a limited rate, with a burst for a traceroute's probes, and not about a packet that has a shim. */
#pragma once

#include "common/icmp_error.h"
#include "switch/visit.h"

#define ANSWER_INTERVAL 1000000 /* ns an answer, of a kind and processor (RFC 1812, 4.3.2.8; RFC 4443, 2.4 f) */
#define ANSWER_BURST 32

enum answer_kind {
	ANSWER_TOO_LONG,
	ANSWER_EXPIRED,
	ANSWER_KINDS,
};

/* The time at which all answers until now will have been paid for, an interval each. */
PER_PROCESSOR(answers_paid, ANSWER_KINDS, __u64);

static __always_inline bool may_answer(__u32 kind, __u64 now)
{
	__u64 *paid = bpf_map_lookup_elem(&answers_paid, &kind);
	__u64 from;

	if (!paid)
		return false;
	from = *paid > now ? *paid : now;
	if (from - now >= (__u64)ANSWER_BURST * ANSWER_INTERVAL)
		return false;
	*paid = from + ANSWER_INTERVAL;
	return true;
}

#ifdef HEDDLE_XDP
static __always_inline int answer_frame(frame *frame, const struct packet *packet, bool v6, const struct icmp_error *error,
					__u32 quote)
{
	int action = answer(frame, packet, v6, error, quote);

	return action == XDP_TX ? action : FRAME_DROP;
}
#else
/* As common/icmp_error.h's answer, for tc: quotes the first `quote` bytes. Inlined once for each family and quote. */
static __always_inline int answer_frame(frame *frame, const struct packet *packet, bool v6, const struct icmp_error *error,
					__u32 quote)
{
	const __u32 headers = (v6 ? IPV6_SIZE : IPV4_SIZE) + ICMP_SIZE;
	void *data;
	__be16 *type;
	__u64 sum;

	/* A tag in the frame is an inner one: the outer is beside it. */
	if (packet->l3 != ETH_HLEN || bpf_skb_pull_data(frame, ETH_HLEN + quote))
		return FRAME_DROP;
	data = frame_data(frame);
	if (data + ETH_HLEN + quote > frame_end(frame))
		return FRAME_DROP;
	sum = sum_of(data + ETH_HLEN, quote);
	if (bpf_skb_change_tail(frame, ETH_HLEN + quote, 0) || bpf_skb_adjust_room(frame, headers, BPF_ADJ_ROOM_MAC, 0))
		return FRAME_DROP;
	data = frame_data(frame);
	if (data + ETH_HLEN + headers > frame_end(frame))
		return FRAME_DROP;
	type = data + ETH_HLEN - sizeof(*type);
	*type = bpf_htons(v6 ? ETH_P_IPV6 : ETH_P_IP);
	swap_macs(data);
	write_error(data + ETH_HLEN, packet, v6, error, quote, sum);
	return bpf_redirect(frame->ifindex, 0);
}
#endif
