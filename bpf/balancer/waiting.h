/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/* Later fragments that wait for their first one. A program cannot keep a packet: user space does, within the room of
 * `waiting`, and has the program process it once more, when it has learnt from another balancer, or from a first
 * fragment that came here, where it goes; or after a moment, and then it is dropped. */
#pragma once

#include "balancer/decision.h"

/* True if it has waited already. In tests, whose clock is their own, all frames come by loopback. */
static __always_inline bool has_waited(const struct xdp_md *ctx)
{
	return ctx->ingress_ifindex == LOOPBACK && !SETTINGS_CLOCK;
}

/* Gives the frame to user space. False: it has waited already, or there is no room. */
__noinline bool keep_waiting(struct xdp_md *ctx)
{
	__u32 length = bpf_xdp_get_buff_len(ctx);
	struct waiting_fragment *kept;

	if (has_waited(ctx) || length < ETH_HLEN || length > WAITING_FRAME)
		return false;
	kept = bpf_ringbuf_reserve(&waiting, sizeof(*kept), 0);
	if (!kept)
		return false;
	kept->length = length;
	if (bpf_xdp_load_bytes(ctx, 0, kept->frame, length)) {
		bpf_ringbuf_discard(kept, 0);
		return false;
	}
	bpf_ringbuf_submit(kept, 0);
	return true;
}
