/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/* Times of the switch's own clock, in nanoseconds. */
#pragma once

#include <linux/types.h>

#include "common/native.h"

/* Time since `then`. Time that goes backwards counts as no time. */
static __always_inline __u64 since(__u64 now, __u64 then)
{
	return now > then ? now - then : 0;
}
