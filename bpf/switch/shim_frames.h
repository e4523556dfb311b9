/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/* Shims under MP-HULA, Shuttle and CONGA: read on arrival from the fabric, added at the source ToR, removed at the
 * destination ToR; and the handshakes from which a ToR learns to which connection a subflow belongs (MP-HULA,
 * Shuttle). */
#pragma once

#include "switch/flow.h"
#include "switch/handshake.h"
#include "switch/scheme.h"
#include "switch/visit.h"

#define SHIM_READY 0x100 /* no verdict: the frame goes on */

#ifdef SCHEME_HAS_SHIMS

#define CAPABLE_WITH_KEYS \
	20 /* bytes of the shortest MP_CAPABLE that has both keys: the only option that matters outside of SYNs */

/* The shim on the wire. */
struct shim_header {
	__be32 token_a;
	__be32 token_b;
	__be16 subflow; /* number less one in the upper 4 bits; the others are reserved */
	__be16 next;    /* EtherType */
};
_Static_assert(sizeof(struct shim_header) == SHIM_BYTES, "the shim's size");

static __always_inline int read_shim(frame *frame, struct visit *visit, __be16 *type)
{
	const struct shim_header *header;

	if (frame_is_second_pass(frame))
		return frame_cut_shim(frame) ? drop(frame, DROPPED_FAILED) : SHIM_READY;
	if (*type != bpf_htons(ETHERTYPE_SHIM))
		return SHIM_READY;
	if (visit->role == ROLE_HOST)
		return drop(frame, DROPPED_HOST_SHIM);
	header = network_at(frame, &visit->packet);
	if ((void *)(header + 1) > frame_end(frame) || !is_ip(header->next))
		return drop(frame, DROPPED_BAD_SHIM);
	visit->shim.id = (__u64)bpf_ntohl(header->token_a) << 32 | bpf_ntohl(header->token_b);
	visit->shim.subflow = (bpf_ntohs(header->subflow) >> 12) + 1;
	visit->shimmed = true;
	visit->packet.l3 += SHIM_BYTES;
	*type = header->next;
	return SHIM_READY;
}

/* Writes a shim whose scheme changes it on its way. */
static __always_inline int rewrite_shim(frame *frame, const struct visit *visit)
{
#ifdef SCHEME_WRITES_SHIMS
	struct shim_header *header = frame_data(frame) + ((visit->packet.l3 - SHIM_BYTES) & 63);

	if ((void *)(header + 1) > frame_end(frame))
		return drop(frame, DROPPED_FAILED);
	header->token_a = bpf_htonl(visit->shim.id >> 32);
#else
	(void)frame;
	(void)visit;
#endif
	return SHIM_READY;
}

/* Adds the shim of a packet from a host, and writes that of another one. */
static __always_inline int add_shim(frame *frame, struct visit *visit)
{
	__be16 next = bpf_htons(visit->packet.v6 ? ETH_P_IPV6 : ETH_P_IP);
	struct shim_header *header;

	if (!visit->shim.subflow)
		return SHIM_READY;
	if (visit->shimmed)
		return rewrite_shim(frame, visit);
	if (frame_is_gso(frame)) {
		count_event(GSO_WITHOUT_SHIM);
		return SHIM_READY;
	}
	if (frame_push_shim(frame, &visit->packet))
		return drop(frame, DROPPED_FAILED);
	header = network_at(frame, &visit->packet);
	if ((void *)(header + 1) > frame_end(frame))
		return drop(frame, DROPPED_FAILED);
	header->token_a = bpf_htonl(visit->shim.id >> 32);
	header->token_b = bpf_htonl(visit->shim.id);
	header->subflow = bpf_htons((__u16)(visit->shim.subflow - 1) << 12);
	header->next = next;
	visit->packet.l3 += SHIM_BYTES;
	return SHIM_READY;
}

/* Removes the shim at the destination ToR. */
static __always_inline int remove_shim(frame *frame, struct visit *visit)
{
	int popped;

	if (!visit->shimmed)
		return SHIM_READY;
	popped = frame_pop_shim(frame, &visit->packet);
	if (popped < 0)
		return drop(frame, DROPPED_FAILED);
	scheme_egress(&visit->shim, visit->now);
	visit->shimmed = false;
	if (popped != FRAME_AGAIN)
		return SHIM_READY;
	count_in(&verdicts, RECIRCULATED, frame_bytes(frame));
	return frame_receive_again(frame);
}

#ifdef SCHEME_READS_HANDSHAKES
/* Reads flags and MPTCP option of a TCP packet whose header is at `l4`. */
__noinline int read_handshake(frame *frame, __u32 l4, __u32 bytes, struct handshake *out)
{
	struct tcp_options options = {};

	if (!out || l4 > 0xffff)
		return -1;
	asm volatile("" : "+r"(bytes));
	if (bytes < 1 || bytes > MAX_OPTIONS)
		return 0;
	if (frame_load(frame, l4 + sizeof(struct tcphdr), options.bytes, bytes))
		return -1;
	return handshake_read(&options, bytes, out);
}

/* Lets the ToR learn from a packet between one of its hosts and another ToR's. */
static __always_inline void observe(frame *frame, const struct visit *visit, const struct switch_destination *destination,
				    const struct switch_config *to)
{
	bool from_host = visit->role == ROLE_HOST, to_host = destination->tor == to->tor;
	const struct packet *packet = &visit->packet;
	struct handshake handshake = { .flags = packet->tcp_flags, .from_host = from_host };

	bool opens_or_ends = packet->tcp_flags & (TCP_SYN | TCP_FIN | TCP_RST);

	if (packet->protocol != IPPROTO_TCP || packet->later_fragment || from_host == to_host)
		return;
	if (!opens_or_ends && packet->options < CAPABLE_WITH_KEYS)
		return;
	if (read_handshake(frame, packet->l4, packet->options, &handshake))
		return;
	if (handshake.option == HANDSHAKE_NONE && !opens_or_ends)
		return;
	handshake.out_hash = flow_hash(packet, !from_host);
	count_event(HANDSHAKES);
	if (scheme_observe(&handshake, visit->now))
		count_event(CONTENDED);
}
#else
static __always_inline void observe(frame *frame, const struct visit *visit, const struct switch_destination *destination,
				    const struct switch_config *to)
{
	(void)frame;
	(void)visit;
	(void)destination;
	(void)to;
}
#endif
#endif
