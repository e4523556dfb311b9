/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/* Hash of a packet's 5-tuple, the same at all switches (MurmurHash3 over addresses, ports and protocol). Fragments are
 * hashed without ports, so that all of a packet go one way. */
#pragma once

#include <bpf/bpf_endian.h>

#include "common/packet.h"
#include "switch/hash.h"

static __always_inline __u32 hash_address(__u32 state, const struct address *address, bool v6)
{
	if (v6) {
		state = murmur_word(state, bpf_be64_to_cpu(address->high) >> 32);
		state = murmur_word(state, bpf_be64_to_cpu(address->high));
		state = murmur_word(state, bpf_be64_to_cpu(address->low) >> 32);
	}
	return murmur_word(state, bpf_be64_to_cpu(address->low));
}

/* Both ports, the one of `from` in front; 0 without ports. */
static __always_inline __u32 flow_ports(const struct packet *packet, bool reverse)
{
	__u32 source = bpf_ntohs(packet->source_port), destination = bpf_ntohs(packet->destination_port);

	if (packet->fragment)
		return 0;
	return reverse ? destination << 16 | source : source << 16 | destination;
}

/* Of the 5-tuple, or, with `reverse`, of the flow's other direction. */
static __always_inline __u32 flow_hash(const struct packet *packet, bool reverse)
{
	const struct address *first = reverse ? &packet->destination : &packet->source;
	const struct address *second = reverse ? &packet->source : &packet->destination;
	__u32 state = hash_address(0, first, packet->v6);

	state = hash_address(state, second, packet->v6);
	state = murmur_word(state, flow_ports(packet, reverse));
	state = murmur_word(state, packet->protocol);
	return murmur_end(state, packet->v6 ? 10 : 4);
}
