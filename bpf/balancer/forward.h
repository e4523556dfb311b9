/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/* Sends a packet to a target: a backend, or another balancer. */
#pragma once

#include "balancer/vlan.h"
#include "common/outer.h"
#include "include/abi.h"

struct sending {
	const struct settings *settings;
	const struct target *target;
	__u32 flow_hash; /* spreads encapsulated flows over paths and receive queues */
};

/* With the frame as it was, but for its VLAN tag. */
enum {
	SEND_FAILED = -1, /* no room in front of the packet, or no address of our own to send from */
	SEND_TOO_BIG = -2,
};

#define STEERING_SHIM (UDP_SIZE + sizeof(struct steering))

/* The bytes between the outer IP header and the packet. */
struct shim {
	__u32 size;  /* 0: nothing; else UDP, and what the caller writes behind it */
	__be16 port; /* UDP destination */
};

static __always_inline bool too_long(const struct packet *packet, const struct target *target, __u32 overhead)
{
	__u32 most = target->mtu ? target->mtu : 0xffff;

	return packet->length + overhead > most;
}

/* Bytes that forwarding adds to a packet for this target. */
static __always_inline __u32 overhead(const struct target *target)
{
	__u32 ip = is_ipv4(&target->address) ? IPV4_SIZE : IPV6_SIZE;

	switch (target->forwarding) {
	case FORWARD_IPIP:
		return ip;
	case FORWARD_GUE:
		return ip + UDP_SIZE;
	case FORWARD_STEERING:
		return ip + STEERING_SHIM;
	default:
		return 0;
	}
}

/* The longest packet that fits into the target's MTU together with what forwarding adds, in bytes of IP; 0: none
 * does. */
static __always_inline __u32 inner_mtu(const struct target *target)
{
	__u32 added = overhead(target);

	return target->mtu > added ? target->mtu - added : 0;
}

/* Back out of the interface that it came by, or out of another. */
static __always_inline int transmit(struct xdp_md *ctx, const struct target *target)
{
	if (ctx->ingress_ifindex == target->ifindex)
		return XDP_TX;
	return bpf_redirect(target->ifindex, 0);
}

_Static_assert(offsetof(struct target, mac) % 8 == 0, "one load");
_Static_assert(offsetof(struct target, source_mac) == offsetof(struct target, mac) + ETH_ALEN, "as in a frame");

/* The link to the target, of a frame with this VLAN tag or none. */
static __always_inline struct link link_to(const struct target *target, __be32 tag, __u32 size)
{
	return (struct link){
		.macs = *(const __u64 *)target->mac,
		.macs_end = *(const __u32 *)(target->mac + 8),
		.tag = tag,
		.size = size,
	};
}

static __always_inline struct outer outer_to(const struct sending *sending, const struct packet *packet,
					     const struct address *own, const struct shim *shim)
{
	return (struct outer){
		.source = *own,
		.destination = sending->target->address,
		.flow = sending->flow_hash,
		.length = packet->length + shim->size,
		.protocol = shim->size   ? IPPROTO_UDP
			    : packet->v6 ? IPPROTO_IPV6
					 : IPPROTO_IPIP,
	};
}

/* Puts the outer headers for the target in front of a frame in its VLAN. The shim behind the outer IP header, or NULL.
 * Inlined once for each size; what the target and the settings say is read behind the helper's call, which leaves few
 * registers. */
static __always_inline void *put_in_front(struct xdp_md *ctx, const struct packet *packet, const struct sending *sending, bool v6,
					  const struct shim *shim)
{
	const __u32 ip_size = v6 ? IPV6_SIZE : IPV4_SIZE;
	const struct address *own = v6 ? &sending->settings->own6 : &sending->settings->own4;
	struct outer outer;
	struct link link;
	__be32 tag, first;
	__u32 size;
	void *data;

	if (!own->low)
		return NULL;
	size = link_size(packet);
	data = (void *)(long)ctx->data;
	if (data + size + sizeof(first) > end_of_frame(ctx))
		return NULL;
	tag = *(__be32 *)(data + 12);
	first = *(__be32 *)(data + size);
	data = move_start(ctx, -(int)(ip_size + shim->size), size + ip_size + shim->size);
	if (!data)
		return NULL;
	link = link_to(sending->target, tag, size);
	write_link(data, &link, bpf_htons(v6 ? ETH_P_IPV6 : ETH_P_IP));
	outer = outer_to(sending, packet, own, shim);
	outer.traffic_class = traffic_class(first, packet);
	if (v6)
		write_ipv6(data + size, &outer);
	else
		write_ipv4(data + size, &outer);
	if (shim->size)
		write_udp(data + size + ip_size, &outer, shim->port);
	return data + size + ip_size;
}

/* The same of any frame: first it gets the target's VLAN. */
static __always_inline void *encapsulate(struct xdp_md *ctx, struct packet *packet, const struct sending *sending, bool v6,
					 const struct shim *shim)
{
	const struct address *own = v6 ? &sending->settings->own6 : &sending->settings->own4;

	if (!own->low || !enter_vlan(ctx, packet, sending->target))
		return NULL;
	return put_in_front(ctx, packet, sending, v6, shim);
}

static __always_inline int forward_inside(struct xdp_md *ctx, struct packet *packet, const struct sending *sending,
					  const struct shim *shim)
{
	bool v6 = !is_ipv4(&sending->target->address);

	if (too_long(packet, sending->target, (v6 ? IPV6_SIZE : IPV4_SIZE) + shim->size))
		return SEND_TOO_BIG;
	if (v6 ? !encapsulate(ctx, packet, sending, true, shim) : !encapsulate(ctx, packet, sending, false, shim))
		return SEND_FAILED;
	return transmit(ctx, sending->target);
}

/* Writes the target's addresses, in a frame in its VLAN. Neither the TTL nor anything else of IP changes: the backend
 * sees what the client sent. */
static __always_inline int readdress(struct xdp_md *ctx, const struct target *target)
{
	void *data = (void *)(long)ctx->data;

	if (data + ETH_HLEN > end_of_frame(ctx))
		return SEND_FAILED;
	*(__u64 *)data = *(const __u64 *)target->mac;
	*(__u32 *)(data + 8) = *(const __u32 *)(target->mac + 8);
	return transmit(ctx, target);
}

static __always_inline int forward_l2(struct xdp_md *ctx, struct packet *packet, const struct target *target)
{
	if (too_long(packet, target, 0))
		return SEND_TOO_BIG;
	return enter_vlan(ctx, packet, target) ? readdress(ctx, target) : SEND_FAILED;
}

/* An XDP verdict, SEND_FAILED or SEND_TOO_BIG. `packet` follows a change of the frame's tag. */
static __always_inline int forward(struct xdp_md *ctx, struct packet *packet, const struct sending *sending)
{
	const struct shim none = {};
	const struct shim gue = { .size = UDP_SIZE, .port = sending->settings->gue_port };

	switch (sending->target->forwarding) {
	case FORWARD_L2:
		return forward_l2(ctx, packet, sending->target);
	case FORWARD_IPIP:
		return forward_inside(ctx, packet, sending, &none);
	case FORWARD_GUE:
		return forward_inside(ctx, packet, sending, &gue);
	default: /* a balancer, where steering has failed */
		return too_long(packet, sending->target, overhead(sending->target)) ? SEND_TOO_BIG : SEND_FAILED;
	}
}

static __always_inline int forward_untagged_inside(struct xdp_md *ctx, const struct packet *packet, const struct sending *sending,
						   const struct shim *shim)
{
	bool v6 = !is_ipv4(&sending->target->address);

	if (too_long(packet, sending->target, (v6 ? IPV6_SIZE : IPV4_SIZE) + shim->size))
		return SEND_TOO_BIG;
	if (v6 ? !put_in_front(ctx, packet, sending, true, shim) : !put_in_front(ctx, packet, sending, false, shim))
		return SEND_FAILED;
	return transmit(ctx, sending->target);
}

/* The same of a frame without a tag, to a target in no VLAN. */
static __always_inline int forward_untagged(struct xdp_md *ctx, const struct packet *packet, const struct sending *sending)
{
	const struct shim none = {};
	const struct shim gue = { .size = UDP_SIZE, .port = sending->settings->gue_port };

	switch (sending->target->forwarding) {
	case FORWARD_L2:
		return too_long(packet, sending->target, 0) ? SEND_TOO_BIG : readdress(ctx, sending->target);
	case FORWARD_IPIP:
		return forward_untagged_inside(ctx, packet, sending, &none);
	case FORWARD_GUE:
		return forward_untagged_inside(ctx, packet, sending, &gue);
	default:
		return SEND_FAILED;
	}
}
