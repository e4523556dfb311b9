/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/* The next hops of a packet: ports of the switch, in the order of its routing table. */
#pragma once

#include <linux/types.h>
#include <stdbool.h>

#include "common/native.h"
#include "switch/abi.h"
#include "switch/hash.h"

/* True for a port of the set. */
static __always_inline bool has_port(__u64 set, __u32 port)
{
	return port < SWITCH_PORTS && set >> port & 1;
}

/* Next hop number `index`, which is below `count`. */
static __always_inline __u16 next_hop_at(const struct next_hops *hops, __u32 index)
{
	return hops->ports[index & (SWITCH_PORTS - 1)];
}

/* The next hop that 32 uniform bits select. */
static __always_inline __u16 pick_hop(__u32 uniform, const struct next_hops *hops)
{
	return next_hop_at(hops, pick(uniform, hops->count));
}
