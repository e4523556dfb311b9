/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/* Destinations by the kernel's routes: the daemon tells which prefixes are behind which ToR. All others are this
 * switch's own, without a port: the kernel delivers, forwards or answers. So it does with frames that have a VLAN tag,
 * which are those of another interface, a port or not. */
#pragma once

#include "switch/visit.h"

/* By the longest prefix of a packet's destination; NULL: there is none. */
static __noinline const struct switch_destination *by_prefix(const struct packet *packet)
{
	struct address_prefix key = { .bits = 128 };

	__builtin_memcpy(key.address, &packet->destination, sizeof(key.address));
	return bpf_map_lookup_elem(&prefixes, &key);
}
