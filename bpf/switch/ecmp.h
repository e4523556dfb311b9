/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/* ECMP: the next hop of a flow is a hash of its 5-tuple (RFC 2992). */
#pragma once

#include "switch/hash.h"
#include "switch/next_hops.h"

/* The port of a packet at the switch with this salt, which differs between switches. */
static __always_inline __u16 ecmp_forward(__u32 salt, __u32 flow_hash, const struct next_hops *hops)
{
	return pick_hop(mix(flow_hash, salt), hops);
}
