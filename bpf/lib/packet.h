/* SPDX-License-Identifier: Apache-2.0 */
/* A packet as the balancer sees it: where its headers are, and the fields that decide where it goes.
 *
 * Offsets, not pointers, so that it outlives a change of the frame; whoever reads the frame checks bounds again. */
#pragma once

#include <linux/bpf.h>
#include <linux/types.h>
#include <stdbool.h>

#include "../include/abi.h"

struct packet {
	struct address source;
	struct address destination;
	__be16 source_port;
	__be16 destination_port;
	__u16 l3;     /* offset of the IP header: 14, or 18 behind a VLAN tag */
	__u16 l4;     /* offset of what follows IP */
	__u16 length; /* bytes from the IP header on, as the header says */
	__u8 protocol;
	__u8 tcp_flags;
	__u8 options; /* bytes of TCP options */
	bool v6;
	bool fragment;       /* a part of a packet: the first, or */
	bool later_fragment; /* one behind it, that has no ports */
	__u32 fragment_id;
};
