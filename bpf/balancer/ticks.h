/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/* The kernel's time in ticks.
 *
 * Jiffies advance with CLOCK_MONOTONIC, and are read without a call: the verifier puts a load in the place of the
 * helper. */
#pragma once

#include "common/native.h"
#include "include/abi.h"

/* Nanoseconds between two jiffies, which the kernel's CONFIG_HZ decides. Set by the loader. */
const volatile __u32 JIFFY = 4000000;

/* 0 and SEEN_BUSY mean something else where a time is expected. */
static __always_inline __u32 valid_tick(__u32 tick)
{
	return tick + 1 > 1 ? tick : 1;
}

static __always_inline __u32 kernel_tick(void)
{
	return valid_tick(bpf_jiffies64() * JIFFY >> TICK_SHIFT);
}
