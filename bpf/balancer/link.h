/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/* The Ethernet addresses of a frame, compared with this machine's, and its VLAN.
 *
 * A switch floods frames for an address that it has not learnt, or whose port is down. Balancers that forwarded what
 * was flooded, to the same address, would have it flooded again, and multiply it. */
#pragma once

#include "balancer/hash.h"
#include "balancer/maps.h"
#include "common/outer.h"

enum link_check {
	LINK_OURS,
	LINK_OTHER_HOST, /* to another machine, or in a VLAN that is not served */
	LINK_LOOP,       /* from this machine */
};

/* The address at `at`, as `settings.macs` has it. Eight bytes are read. */
static __always_inline __u64 mac_at(const void *at)
{
	return __builtin_bswap64(hash_be64(*(const __u64 *)at)) & MAC_BITS;
}

/* 1 if a number below 2^63 is 0, without a branch: the verifier follows each, here in each round of a loop. */
static __always_inline __u64 is_zero(__u64 number)
{
	return (number - 1) >> 63;
}

static __always_inline enum link_check compare_macs(__u64 destination, __u64 source, __u32 vlan)
{
	__u64 sent = 0, received = 0;

#pragma clang loop unroll(disable)
	for (int i = 0; i < MACS && settings.macs[i]; i++) {
		__u64 mac = settings.macs[i], wanted = mac >> MAC_VLAN_SHIFT;

		sent |= is_zero((mac ^ source) & MAC_BITS) & (mac / MAC_SENT);
		received |= is_zero((mac ^ destination) & MAC_BITS) & (mac / MAC_RECEIVED) &
			    (is_zero(wanted) | is_zero(wanted ^ vlan));
	}
	return sent & 1 ? LINK_LOOP : received & 1 ? LINK_OURS : LINK_OTHER_HOST;
}

static __always_inline enum link_check check_link(struct xdp_md *ctx)
{
	const void *data = (void *)(long)ctx->data;

	if (!settings.macs[0] || data + 2 * sizeof(__u64) > end_of_frame(ctx))
		return LINK_OURS;
	return compare_macs(mac_at(data), mac_at(data + ETH_ALEN), vlan_of(*(const __be32 *)(data + 2 * ETH_ALEN)));
}
