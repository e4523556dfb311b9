/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/* Answers to a client whose packet is longer than the MTU to the backend: ICMP "fragmentation needed" (RFC 792, 1191),
 * ICMPv6 "packet too big" (RFC 4443, 8201).
 *
 * It comes from the address that the packet was sent to, the service's: the balancer's own may mean nothing to the
 * client's network, or be filtered on the way there, while the service's answers do arrive.
 *
 * IPv4 without DF is answered too. A router would fragment it; here one frame cannot become two, and the backend's
 * program takes no outer fragments. It is lost in any case, and its sender may heed the answer.
 */
#pragma once

#include "common/icmp_error.h"

#define FRAGMENTATION_NEEDED 0x03040000 /* type, code */
#define PACKET_TOO_BIG 0x02000000

#define IPV4_LEAST_MTU 68 /* RFC 791 */
#define IPV6_LEAST_MTU 1280

static __always_inline struct icmp_error too_big_error(const struct packet *packet, bool v6, __u32 mtu)
{
	return (struct icmp_error){
		.source = packet->destination,
		.first = v6 ? PACKET_TOO_BIG : FRAGMENTATION_NEEDED,
		.second = mtu,
	};
}

static __always_inline int answer_v4(struct xdp_md *ctx, const struct packet *packet, __u32 mtu)
{
	struct icmp_error error = too_big_error(packet, false, mtu);

	if (mtu < IPV4_LEAST_MTU || packet->length < IPV4_LEAST_MTU)
		return XDP_DROP;
	if (packet->length < IPV4_QUOTE)
		return answer(ctx, packet, false, &error, IPV4_SHORT_QUOTE);
	return answer(ctx, packet, false, &error, IPV4_QUOTE);
}

/* No sender heeds less than the least (RFC 8201, 4), and none can help where that is too long still. */
static __always_inline int answer_v6(struct xdp_md *ctx, const struct packet *packet, __u32 mtu)
{
	struct icmp_error error = too_big_error(packet, true, mtu < IPV6_LEAST_MTU ? IPV6_LEAST_MTU : mtu);

	if (packet->length <= IPV6_LEAST_MTU)
		return XDP_DROP;
	return answer(ctx, packet, true, &error, IPV6_QUOTE);
}

/* Turns a packet into the ICMP error that tells its sender the path's MTU, in bytes of IP: XDP_TX. XDP_DROP where no
 * error may be sent, or where `mtu` is 0: nothing fits. */
static __noinline __attribute__((unused)) int answer_too_big(struct xdp_md *ctx, const struct packet *packet, __u32 mtu)
{
	if (!mtu || !may_report(packet))
		return XDP_DROP;
	return packet->v6 ? answer_v6(ctx, packet, mtu) : answer_v4(ctx, packet, mtu);
}
