/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/* Turns a frame back to where it came from. */
#pragma once

#include "common/outer.h"

static __always_inline void swap_macs(__u16 *macs)
{
#pragma unroll
	for (int i = 0; i < ETH_ALEN / 2; i++) {
		__u16 destination = macs[i];

		macs[i] = macs[i + ETH_ALEN / 2];
		macs[i + ETH_ALEN / 2] = destination;
	}
}

/* Those of an IP header. IPv4's header checksum stays as it is: the sum is the same. */
static __always_inline void swap_addresses(__u32 *ip, bool v6)
{
	const int words = v6 ? 4 : 1;
	__u32 *source = ip + (v6 ? 2 : 3);

	for (int i = 0; i < words; i++) {
		__u32 word = source[i];

		source[i] = source[i + words];
		source[i + words] = word;
	}
}

/* True for a unicast address that a host can have. */
static __always_inline bool one_host(const struct address *address, bool v6)
{
	const __u8 *bytes = (const __u8 *)address;

	if (v6)
		return address->high && bytes[0] != 0xff;
	return bytes[12] && bytes[12] != 127 && bytes[12] < 224;
}
