/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/* Postcards: what a switch tells user space of a sample of the packets that it forwards. No packet changes.
 *
 * The sample is drawn by a hash of what no switch changes in a packet (trajectory sampling; Duffield and Grossglauser,
 * 2001), so that all switches of a path tell of the same packets. Without a sample POSTCARD_BELOW is 0 when the
 * verifier reads it, which takes all of this away. */
#pragma once

#include "switch/flow.h"
#include "switch/meter.h"
#include "switch/visit.h"

#ifdef __bpf__
/* The sample: packets whose hash is below, of 2^32. */
const volatile __u64 POSTCARD_BELOW = 0;

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 65536); /* bytes: the largest page; more where there is a sample */
} postcards SEC(".maps");

/* Of the 5-tuple and the 8 bytes behind the ports: TCP's numbers, UDP's length and checksum with data, ICMP's data. */
static __always_inline __u32 packet_hash(frame *frame, const struct packet *packet)
{
	__u32 words[2] = {};

	/* A packet without them all is told by its 5-tuple. */
	if (frame_load(frame, packet->l4 + 4, words, sizeof(words)))
		words[0] = words[1] = 0;
	return murmur_end(murmur_word(murmur_word(flow_hash(packet, false), words[0]), words[1]), 12);
}

static __noinline void write_postcard(frame *frame, const struct visit *visit, const struct switch_config *to, __u32 number)
{
	__u32 hash = packet_hash(frame, &visit->packet);
	const struct switch_port *port = get_port(number);
	struct port_load load = {};
	struct postcard *card;

	if (hash >= POSTCARD_BELOW)
		return;
	card = bpf_ringbuf_reserve(&postcards, sizeof(*card), 0);
	if (!card) {
		count_event(POSTCARDS_LOST);
		return;
	}
	if (port && port->role != ROLE_HOST)
		load = meter_load(number, visit->now, to->dre_shift, port->full);
	*card = (struct postcard){
		.at = visit->now,
		.source = visit->packet.source,
		.destination = visit->packet.destination,
		.packet = hash,
		.queue = load.queue,
		.source_port = bpf_ntohs(visit->packet.source_port),
		.destination_port = bpf_ntohs(visit->packet.destination_port),
		.from = visit->port,
		.to = number,
		.util = load.util,
		.length = visit->packet.length,
		.protocol = visit->packet.protocol,
	};
	bpf_ringbuf_submit(card, BPF_RB_NO_WAKEUP);
}

/* Tells of a packet that leaves by port `number`, if it is in the sample. */
static __always_inline void send_postcard(frame *frame, const struct visit *visit, const struct switch_config *to, __u32 number)
{
	if (POSTCARD_BELOW)
		write_postcard(frame, visit, to, number);
}
#else
static __always_inline void send_postcard(frame *frame, const struct visit *visit, const struct switch_config *to, __u32 number)
{
	(void)frame;
	(void)visit;
	(void)to;
	(void)number;
}
#endif
