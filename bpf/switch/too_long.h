/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/* Packets that are longer than the MTU of their port, with the shim that MP-HULA adds: ICMP tells the sender what fits (common/too_big.h), at a
 * limited rate. */
#pragma once

#include "common/too_big.h"
#include "switch/visit.h"

#define ANSWER_INTERVAL 1000000 /* ns between two answers of a processor (RFC 1812, 4.3.2.8; RFC 4443, 2.4 f) */

PER_PROCESSOR(last_answer, 1, __u64);

static __always_inline bool may_answer(__u64 now)
{
	__u64 *last = bpf_map_lookup_elem(&last_answer, &(__u32){ 0 });

	if (!last || (*last && now - *last < ANSWER_INTERVAL))
		return false;
	*last = now;
	return true;
}

#ifdef HEDDLE_XDP
static __always_inline int answer_frame(frame *frame, const struct visit *visit, __u32 mtu)
{
	return answer_too_big(frame, &visit->packet, mtu);
}
#else
/* As common/too_big.h's answer, for tc: quotes the first `quote` bytes. Inlined once for each family. */
static __always_inline int answer_family(frame *frame, const struct packet *packet, bool v6, __u32 mtu, __u32 quote)
{
	const __u32 headers = (v6 ? IPV6_SIZE : IPV4_SIZE) + ICMP_SIZE;
	void *data;
	__be16 *type;
	__u64 sum;

	if (bpf_skb_pull_data(frame, ETH_HLEN + quote))
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
	write_answer(data + ETH_HLEN, packet, v6, mtu, quote, sum);
	return bpf_redirect(frame->ifindex, 0);
}

static __always_inline int answer_frame(frame *frame, const struct visit *visit, __u32 mtu)
{
	const struct packet *packet = &visit->packet;

	if (!may_report(packet) || visit->shimmed)
		return FRAME_DROP;
	if (!packet->v6)
		return packet->length < IPV4_QUOTE ? FRAME_DROP : answer_family(frame, packet, false, mtu, IPV4_QUOTE);
	if (packet->length <= IPV6_LEAST_MTU)
		return FRAME_DROP;
	return answer_family(frame, packet, true, mtu < IPV6_LEAST_MTU ? IPV6_LEAST_MTU : mtu, IPV6_QUOTE);
}
#endif

/* Answers, or drops, a packet of which `mtu` bytes would have fitted. */
static __always_inline int too_long(frame *frame, const struct visit *visit, __u32 mtu)
{
	int verdict = FRAME_DROP;

	if (may_answer(visit->now))
		verdict = answer_frame(frame, visit, mtu);
	count_in(&verdicts, verdict == FRAME_DROP ? DROPPED_TOO_BIG : ANSWERED, visit->packet.length);
	return verdict;
}
