/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/* The time by which a packet is treated. */
#pragma once

#include "balancer/maps.h"
#include "balancer/ticks.h"

static __always_inline __u32 now(void)
{
	return SETTINGS_CLOCK ? valid_tick(settings.now) : kernel_tick();
}
