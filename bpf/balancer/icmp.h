/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/* ICMP errors about a flow go where the flow goes: the backend must hear that its packets are too big (RFC 1191, RFC 8201).
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

static __always_inline bool quote_v4(void *quoted, void *end, struct job *job, void **ports)
{
	struct iphdr *ip = quoted;

	if ((void *)(ip + 1) > end || ip->version != 4 || ip->ihl < 5 || ip->frag_off & bpf_htons(0x1fff))
		return false;
	job->service.address = mapped(ip->saddr);
	job->service.protocol = ip->protocol;
	job->key.client = mapped(ip->daddr);
	*ports = quoted + ip->ihl * 4;
	return true;
}

static __always_inline bool quote_v6(void *quoted, void *end, struct job *job, void **ports)
{
	struct ipv6hdr *ip = quoted;

	if ((void *)(ip + 1) > end || ip->version != 6)
		return false;
	__builtin_memcpy(&job->service.address, &ip->saddr, 16);
	__builtin_memcpy(&job->key.client, &ip->daddr, 16);
	job->service.protocol = ip->nexthdr;
	*ports = quoted + sizeof(*ip);
	return true;
}

/* Takes the flow that the error is about out of its quote. */
static __always_inline bool read_quote(struct xdp_md *ctx, struct job *job)
{
	void *data = (void *)(long)ctx->data;
	void *end = (void *)(long)ctx->data_end;
	__u8 *icmp = data + (job->packet.l4 & OPTIONS_FARTHEST);
	void *ports;

	if ((void *)(icmp + ICMP_SIZE) > end || !icmp_error(&job->packet, icmp[0]))
		return false;
	if (job->packet.v6 ? !quote_v6(icmp + ICMP_SIZE, end, job, &ports) : !quote_v4(icmp + ICMP_SIZE, end, job, &ports))
		return false;
	if (ports + 4 > end)
		return false;
	job->service.port = *(__be16 *)ports;
	job->key.port = *(__be16 *)(ports + 2);
	return true;
}

/* The flow's backend; another balancer may know it, if this one does not. */
__noinline int decide_icmp(const struct job *job, struct decision *decision)
{
	struct flow *flow;
	__u32 owner;

	if (!job || !decision)
		return 0;
	flow = known_flow(job);
	if (flow && target_up(flow->target)) {
		decide_send(decision, flow->target, SENT_ICMP);
		return 0;
	}
	decide_send(decision, own_hashed_target(job), SENT_ICMP);
	owner = flow ? NO_TARGET : flow_owner(job);
	if (job->vip.mode == MPTCP_LEARN && owner != NO_TARGET && steerable(job, owner))
		decide_steer(decision, owner, STEER_FORWARD, STEERED_FORWARD);
	return 0;
}
