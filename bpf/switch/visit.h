/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/* A frame's visit to the switch: what is known of it until it leaves. */
#pragma once

#include "common/packet.h"
#include "switch/frame.h"
#include "switch/switch_maps.h"

struct visit {
	struct packet packet;
	struct shim shim; /* on arrival, from its decision on that on departure */
	__u64 now;
	__u32 port;       /* of arrival */
	__u8 role;        /* of the port of arrival */
	__u8 own_sources; /* likewise */
	__u8 shimmed;     /* the frame has a shim */
};

/* Where IP begins: link header, VLAN tag and shim are 30 bytes at most, and the verifier is to see a bound. */
static __always_inline void *network_at(const frame *frame, const struct packet *packet)
{
	return frame_data(frame) + (packet->l3 & 63);
}

/* Counts a verdict and returns the hook's for it. */
static __always_inline int drop(const frame *frame, __u32 counter)
{
	count_in(&verdicts, counter, frame_bytes(frame));
	return FRAME_DROP;
}

static __always_inline int pass(const frame *frame)
{
	count_in(&verdicts, PASSED, frame_bytes(frame));
	return FRAME_PASS;
}

/* An EtherType that `parse_network` reads. */
static __always_inline bool is_ip(__be16 type)
{
	return type == bpf_htons(ETH_P_IP) || type == bpf_htons(ETH_P_IPV6);
}

/* Multicast, link-local or broadcast: never forwarded, but the machine's own affair. */
static __always_inline bool stays_on_link(const struct packet *packet)
{
	__u64 high = bpf_be64_to_cpu(packet->destination.high), low = bpf_be64_to_cpu(packet->destination.low);
	__u32 v4 = low;

	if (packet->v6)
		return high >> 56 == 0xff || high >> 54 == 0x3fa;
	return v4 >> 28 >= 0xe || v4 >> 16 == 0xa9fe;
}
