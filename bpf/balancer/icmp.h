/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/* ICMP errors about a flow go to the flow's backend: it must learn that its packets are too big (RFC 1191, RFC 8201).
 *
 * The error quotes a packet that the backend sent: the service is its source, the client its destination. */
#pragma once

#include "balancer/service.h"

#define ICMP_UNREACHABLE 3
#define ICMP_TIME 11
#define ICMP_PARAMETER 12
#define ICMPV6_ERRORS 4 /* 1 to 4 */
#define ICMP_SIZE 8

static __always_inline bool icmp_error(const struct packet *packet, __u8 type)
{
	if (packet->v6)
		return type >= 1 && type <= ICMPV6_ERRORS;
	return type == ICMP_UNREACHABLE || type == ICMP_TIME || type == ICMP_PARAMETER;
}

static __always_inline bool quote_v4(void *quoted, void *end, struct packet_context *context, void **ports)
{
	struct iphdr *ip = quoted;

	if ((void *)(ip + 1) > end || ip->version != 4 || ip->ihl < 5 || ip->frag_off & bpf_htons(0x1fff))
		return false;
	context->service.address = mapped(ip->saddr);
	context->service.protocol = ip->protocol;
	context->key.client = mapped(ip->daddr);
	*ports = quoted + ip->ihl * 4;
	return true;
}

/* Where the transport header of the quoted IPv6 packet starts, behind the extension headers that it may have (a
 * fragmented answer, destination options): bytes into the frame. 0: it is a later fragment, or has more of them than
 * EXTENSION_HEADERS. */
static __always_inline __u32 quoted_transport(void *data, void *end, __u32 at, __u8 *next)
{
	for (int i = 0; i < EXTENSION_HEADERS && is_extension(*next); i++) {
		__u8 *header = data + (at & MAX_TCP_OFFSET);
		bool fragment = *next == IPV6_FRAGMENT;

		if ((void *)(header + 8) > end || (fragment && *(__be16 *)(header + 2) & bpf_htons(0xfff8)))
			return 0;
		*next = header[0];
		at += fragment ? 8 : (header[1] + 1) * 8;
	}
	return is_extension(*next) ? 0 : at;
}

static __always_inline bool quote_v6(void *data, void *end, __u32 at, struct packet_context *context, void **ports)
{
	struct ipv6hdr *ip = data + at;
	__u32 transport;
	__u8 next;

	if ((void *)(ip + 1) > end || ip->version != 6)
		return false;
	__builtin_memcpy(&context->service.address, &ip->saddr, 16);
	__builtin_memcpy(&context->key.client, &ip->daddr, 16);
	if (is_ipv4(&context->service.address) || is_ipv4(&context->key.client))
		return false;
	next = ip->nexthdr;
	transport = quoted_transport(data, end, at + sizeof(*ip), &next);
	context->service.protocol = next;
	*ports = data + (transport & MAX_TCP_OFFSET);
	return transport;
}

/* Takes the flow that the error is about out of its quote. */
static __always_inline bool read_quote(struct xdp_md *ctx, struct packet_context *context)
{
	void *data = (void *)(long)ctx->data;
	void *end = (void *)(long)ctx->data_end;
	__u32 at = context->packet.l4 & MAX_TCP_OFFSET;
	__u8 *icmp = data + at;
	void *ports;

	if ((void *)(icmp + ICMP_SIZE) > end || !icmp_error(&context->packet, icmp[0]))
		return false;
	if (context->packet.v6 ? !quote_v6(data, end, at + ICMP_SIZE, context, &ports)
			       : !quote_v4(icmp + ICMP_SIZE, end, context, &ports))
		return false;
	if (ports + 4 > end)
		return false;
	context->service.port = *(__be16 *)ports;
	context->key.port = *(__be16 *)(ports + 2);
	return true;
}

/* The flow's backend. If this balancer has no entry, another one may have. */
__noinline int decide_icmp(const struct packet_context *context, struct decision *decision)
{
	const struct flow_snapshot *flow;
	__u32 owner;
	__u8 asked = 0;

	if (!context || !decision)
		return 0;
	flow = known_flow(context);
	if (flow && keeps_flows(flow->target)) {
		decide_send(decision, flow->target, SENT_ICMP);
		return 0;
	}
	decide_send(decision, own_hashed_target(context), SENT_ICMP);
	owner = flow ? NO_TARGET : next_to_ask(context, slot_of_flow(context), &asked);
	if (context->vip.mode == MPTCP_LEARN && owner != NO_TARGET && steerable(context, owner))
		decide_steer(decision, owner, STEER_FORWARD, STEERED_FORWARD);
	return 0;
}
