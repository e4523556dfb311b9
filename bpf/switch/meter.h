/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/* Utilisation of the ports, measured on frames that leave.
 *
 * A tc program sees a frame before the queue of its device, and an XDP program before the driver: a port with a backlog would read more than a
 * link can carry. So the register is limited to what the link carries in tau: an overloaded port reads 1, as one that counts at the start of
 * transmission (dre.h). */
#pragma once

#include "switch/dre.h"
#include "switch/lock.h"
#include "switch/switch_maps.h"

static __always_inline void meter_sent(__u32 port, __u64 now, __u32 bytes, __u32 shift, __u64 full)
{
	struct port_meter *meter = bpf_map_lookup_elem(&meters, &port);
	struct dre dre;

	if (!meter || !try_lock(&meter->lock))
		return;
	dre = (struct dre){ .bytes = meter->bytes, .last = meter->last };
	dre_add(&dre, now, bytes, shift);
	meter->bytes = dre.bytes < full ? dre.bytes : full;
	meter->last = dre.last;
	unlock(&meter->lock);
}

/* Of 65536. */
static __always_inline __u16 meter_util(__u32 port, __u64 now, __u32 shift, __u64 full)
{
	const struct port_meter *meter = bpf_map_lookup_elem(&meters, &port);
	struct dre dre;

	if (!meter)
		return 0;
	dre = (struct dre){ .bytes = meter->bytes, .last = meter->last };
	return dre_util(&dre, now, shift, full);
}
