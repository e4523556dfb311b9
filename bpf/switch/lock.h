/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/* Short locks for tables that several processors change. Softirqs do not interrupt each other on one processor, so the
 * holder is always running; a waiter gives up all the same after a bounded number of attempts. */
#pragma once

#include "common/atomic.h"

#define LOCK_ATTEMPTS 64

/* 1: the caller has the lock. A global function, which the verifier looks at by itself. */
__noinline int try_lock(__u32 *word)
{
	if (!word)
		return 0;
	for (int attempt = 0; attempt < LOCK_ATTEMPTS; attempt++)
		if (!READ_ONCE(*word) && !__sync_val_compare_and_swap(word, 0, 1))
			return 1;
	return 0;
}

static __always_inline void unlock(__u32 *word)
{
	(void)__sync_lock_test_and_set(word, 0);
}
