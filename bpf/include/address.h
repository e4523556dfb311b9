/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/* IP addresses in maps and packets. */
#pragma once

#include <linux/types.h>

/* 16 bytes in network order; IPv4 is mapped (::ffff:a.b.c.d). */
struct address {
	__u64 high;
	__u64 low;
};
