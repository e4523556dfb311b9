/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/* Packets between balancers: IP, UDP, struct steering, and the client's packet from its IP header on.
 *
 * The caller authenticates messages (authenticate.h). */
#pragma once

#include "balancer/forward.h"

_Static_assert(sizeof(struct steering) == 20, "in whole words");

/* Sends the packet with `message` in front to another balancer, the target. An XDP verdict, SEND_FAILED or
 * SEND_TOO_BIG. */
static __always_inline int steer(struct xdp_md *ctx, struct packet *packet, const struct sending *sending,
				 const struct steering *message)
{
	const struct shim shim = { .size = STEERING_SHIM, .port = sending->settings->steering_port };
	bool v6 = !is_ipv4(&sending->target->address);
	void *udp;

	if (too_long(packet, sending->target, (v6 ? IPV6_SIZE : IPV4_SIZE) + shim.size))
		return SEND_TOO_BIG;
	udp = v6 ? encapsulate(ctx, packet, sending, true, &shim) : encapsulate(ctx, packet, sending, false, &shim);
	if (!udp)
		return SEND_FAILED;
	*(struct steering *)(udp + UDP_SIZE) = *message;
	return transmit(ctx, sending->target);
}

/* Reads the message of a packet that came to the steering port. False: it has none of this version. */
static __always_inline bool read_message(struct xdp_md *ctx, const struct packet *outer, struct steering *message)
{
	const __u32 ip_size = outer->v6 ? IPV6_SIZE : IPV4_SIZE;
	void *data = (void *)(long)ctx->data;
	void *behind = data + link_size(outer) + ip_size + STEERING_SHIM;

	if (outer->l4 - outer->l3 != ip_size || outer->length < ip_size + STEERING_SHIM)
		return false; /* balancers send no IP options */
	if (behind > end_of_frame(ctx))
		return false;
	*message = *(struct steering *)(behind - sizeof(*message));
	return message->version == STEERING_VERSION;
}

/* Takes the message off a packet of which it was read: `outer` is the packet as it came. Afterwards the frame holds the
 * client's packet, to be parsed anew. 0; or negative, with the frame as it was: too short, or no IP. */
static __always_inline int remove_steering(struct xdp_md *ctx, const struct packet *outer)
{
	const __u32 strip = (outer->v6 ? IPV6_SIZE : IPV4_SIZE) + STEERING_SHIM;
	void *data = (void *)(long)ctx->data;
	struct link link;
	void *inner;

	if (outer->length < strip + IPV4_SIZE)
		return -1;
	inner = data + link_size(outer) + strip;
	if (inner + IPV4_SIZE > end_of_frame(ctx))
		return -1;
	link = read_link(data, outer);
	return decapsulate_to(ctx, strip, &link, inner);
}
