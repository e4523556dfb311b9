/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/* The 802.1Q tag of a frame, made that of its target: a frame may come in one VLAN and leave in another, or in none. */
#pragma once

#include "common/outer.h"
#include "include/abi.h"

#define TAG_PRIORITY 0xf000 /* of a tag: priority and drop eligibility, which the frame keeps */

/* A tag in front of the target's VLAN, or none; `link` is the frame's own, and its size becomes the new one. */
static __always_inline void retag(struct link *link, const struct target *target)
{
	__u32 kept = link->size == ETH_HLEN ? 0 : bpf_ntohl(link->tag) & TAG_PRIORITY;

	link->tag = bpf_htonl(ETH_P_8021Q << 16 | kept | (target->vlan & VLAN_ID));
	link->size = target->vlan ? ETH_HLEN + VLAN_SIZE : ETH_HLEN;
}

/* Of a frame in another VLAN than the target's. False: there is no room for a tag, and the frame is as it was. */
__noinline int change_vlan(struct xdp_md *ctx, struct packet *packet, const struct target *target)
{
	void *data = (void *)(long)ctx->data;
	struct link link;
	int growth;

	if (!packet || !target || data + ETH_HLEN + VLAN_SIZE > end_of_frame(ctx))
		return false;
	link = read_link(data, packet);
	growth = -(int)link.size;
	retag(&link, target);
	growth += link.size;
	data = move_start(ctx, -growth, ETH_HLEN + VLAN_SIZE);
	if (!data)
		return false;
	write_link(data, &link, bpf_htons(packet->v6 ? ETH_P_IPV6 : ETH_P_IP));
	packet->l3 += growth;
	packet->l4 += growth;
	return true;
}

/* True if the frame is in the target's VLAN now. */
static __always_inline bool enter_vlan(struct xdp_md *ctx, struct packet *packet, const struct target *target)
{
	const void *data = (void *)(long)ctx->data;

	if (data + ETH_HLEN + VLAN_SIZE > end_of_frame(ctx))
		return false;
	return vlan_of(*(const __be32 *)(data + 2 * ETH_ALEN)) == target->vlan || change_vlan(ctx, packet, target);
}
