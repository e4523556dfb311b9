/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/* Utilisation and queues of the ports, measured on frames that leave.
 *
 * A tc program sees a frame before the queue of its device, and an XDP program before the driver: a port with a backlog
 * would read more than a link can carry. So the register is limited to what the link carries in tau: an overloaded port
 * reads 1, as one that counts at the start of transmission (dre.h).
 *
 * No program can read the queue of another port's device. Shuttle computes it: each frame adds its bytes, and the link
 * drains it at its rate. A frame that the device drops is counted all the same, so the queue is limited to the one that
 * fills the range of costs: more would change no choice. */
#pragma once

#include "switch/dre.h"
#include "switch/lock.h"
#include "switch/switch_maps.h"

/* The queue of a link that carries `full` bytes in tau, at most 2^36, after the time since the last frame. */
static __always_inline __u32 drained_queue(const struct port_meter *meter, __u64 now, __u32 shift, __u64 full)
{
	__u64 dt = since(now, meter->last), most = 1ULL << DRE_MAX_SHIFT, gone;

	gone = (dt < most ? dt : most) * full >> dre_shift(shift);
	return gone < meter->queue ? meter->queue - gone : 0;
}

/* The queue behind a frame of so many bytes. */
static __always_inline __u32 queue_with(const struct port_meter *meter, __u64 now, __u32 bytes, const struct switch_config *to,
					__u64 full)
{
	__u32 shift = to->mp_hula.shuttle.full_queue_shift + to->mp_hula.shuttle.range_shift;
	__u64 most = 1ULL << (shift < 31 ? shift : 31);
	__u64 queue = (__u64)drained_queue(meter, now, to->dre_shift, full) + bytes;

	return queue < most ? queue : most;
}

static __always_inline void meter_sent(__u32 port, __u64 now, __u32 bytes, const struct switch_config *to, __u64 full)
{
	struct port_meter *meter = bpf_map_lookup_elem(&meters, &port);
	struct dre dre;

	if (!meter || !try_lock(&meter->lock))
		return;
	if (to->scheme == SWITCH_SHUTTLE)
		meter->queue = queue_with(meter, now, bytes, to, full);
	dre = (struct dre){ .bytes = meter->bytes, .last = meter->last };
	dre_add(&dre, now, bytes, to->dre_shift);
	meter->bytes = dre.bytes < full ? dre.bytes : full;
	meter->last = dre.last;
	unlock(&meter->lock);
}

static __always_inline struct port_load meter_load(__u32 port, __u64 now, __u32 shift, __u64 full)
{
	const struct port_meter *meter = bpf_map_lookup_elem(&meters, &port);
	struct dre dre;

	if (!meter)
		return (struct port_load){};
	dre = (struct dre){ .bytes = meter->bytes, .last = meter->last };
	return (struct port_load){
		.queue = drained_queue(meter, now, shift, full),
		.util = dre_util(&dre, now, shift, full),
	};
}

/* Of 65536. */
static __always_inline __u16 meter_util(__u32 port, __u64 now, __u32 shift, __u64 full)
{
	return meter_load(port, now, shift, full).util;
}
