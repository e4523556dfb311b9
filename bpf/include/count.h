/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/* Counters in per-processor maps. */
#pragma once

#include <linux/types.h>

struct count {
	__u64 packets;
	__u64 bytes; /* of the packets, as the map's owner measures them */
};
