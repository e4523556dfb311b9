/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/* Packets to a service's address that are for none of its services: ports without one, and ICMP echo. The operator
 * chooses whether they are passed to this machine's own stack, dropped or answered. */
#pragma once

#include "balancer/decision.h"
#include "balancer/known_vips.h"
#include "common/echo.h"
#include "common/refuse.h"

/* DROPS_UNPARSABLE and the others; 0: no service has the address. */
static __always_inline __u8 choices_of_address(const struct packet *packet)
{
	const struct vip_key key = { .address = packet->destination };
	const struct vip *vip = find_vip(&key);

	return vip ? vip->choices : 0;
}

/* To a port without a service, where such packets are not passed. */
static __always_inline void decide_closed(struct xdp_md *ctx, const struct packet_context *context, __u8 choices,
					  struct decision *decision)
{
	decide_drop(decision, DROP_CLOSED);
	if (choices & REFUSES_CLOSED && within_limit(context, LIMIT_REFUSALS, decision) &&
	    refuse(ctx, &context->packet) == XDP_TX) {
		decision->action = BOUNCE;
		decision->verdict = REFUSED_CLOSED;
	}
}

static __always_inline void decide_echo(struct xdp_md *ctx, const struct packet_context *context, struct decision *decision)
{
	if (context->vip.choices & ANSWERS_ECHO && answer_echo(ctx, &context->packet)) {
		decision->action = BOUNCE;
		decision->verdict = ANSWERED_ECHO;
	} else if (context->vip.choices & DROPS_ECHO) {
		decide_drop(decision, DROP_ECHO);
	}
}
