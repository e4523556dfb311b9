/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/* Claims on entries of the flow and token tables. */
#pragma once

#include <stdbool.h>

#include "common/native.h"
#include "include/abi.h"

/* Takes the entry for a writer, unless another was faster. */
static __always_inline bool claim(__u32 *seen, __u32 was)
{
	return __sync_val_compare_and_swap(seen, was, SEEN_BUSY) == was;
}
