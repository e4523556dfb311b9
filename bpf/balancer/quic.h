/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/* Packets of QUIC whose connection id names a backend: they go there, from whatever address and port the client sends.
 *
 * The connection id is the server's own word, so it precedes the flow's entry and the hash. The flow is stored all the
 * same, for ICMP errors, and for packets from the same address and port that name no backend; an entry that is there
 * stays as it is, since a handshake on the same addresses and ports may depend on it. */
#pragma once

#include "balancer/by_hash.h"
#include "common/quic.h"

/* The backend that the packet's connection id names; NO_TARGET: it names none, or one that keeps no flows. */
__noinline __u32 named_target(struct xdp_md *ctx, const struct packet_context *context)
{
	struct quic_server server = {};
	__u32 *target;

	if (!context)
		return NO_TARGET;
	server.vip = context->vip.id;
	server.length = context->vip.choices & QUIC_SERVER_ID_BYTES;
	server.rotation = context->vip.choices >> QUIC_ROTATION_SHIFT;
	if (!read_server_id(ctx, &context->packet, server.rotation, server.length, server.server_id))
		return NO_TARGET;
	target = bpf_map_lookup_elem(&quic_servers, &server);
	return target && keeps_flows(*target) ? *target : NO_TARGET;
}

/* To the backend that the connection id names. */
static __always_inline void decide_named(const struct packet_context *context, enum counter verdict, struct decision *decision)
{
	if (!context->known || !keeps_flows(context->flow.target)) {
		decide_stored(context, context->named, FLOW_NEW, verdict, decision);
		return;
	}
	decide_send(decision, context->named, verdict);
	if (context->flow.target == context->named)
		touch_flow(context, decision);
}
