/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/* A frame at XDP: whole, in one piece, with its VLAN tag in it. */
#pragma once

#include <stdbool.h>

#include "common/outer.h"
#include "switch/switch_abi.h"

typedef struct xdp_md frame;

#define FRAME_PASS XDP_PASS
#define FRAME_DROP XDP_DROP

/* Devices by port. */
struct {
	__uint(type, BPF_MAP_TYPE_DEVMAP);
	__uint(max_entries, SWITCH_PORTS);
	__type(key, __u32);
	__type(value, __u32);
} devices SEC(".maps");

static __always_inline void *frame_data(const frame *frame)
{
	return (void *)(long)frame->data;
}

static __always_inline void *frame_end(const frame *frame)
{
	return end_of_frame(frame);
}

static __always_inline __u32 frame_bytes(const frame *frame)
{
	return bpf_xdp_get_buff_len((struct xdp_md *)frame);
}

static __always_inline __u32 frame_interface(const frame *frame)
{
	return frame->ingress_ifindex;
}

static __always_inline bool frame_is_tagged(const frame *frame, __be16 type)
{
	(void)frame;
	return type == bpf_htons(ETH_P_8021Q);
}

static __always_inline bool frame_is_gso(const frame *frame)
{
	(void)frame;
	return false;
}

static __always_inline int frame_pull(frame *frame)
{
	(void)frame;
	return 0;
}

static __always_inline int frame_load(frame *frame, __u32 at, void *to, __u32 bytes)
{
	return bpf_xdp_load_bytes(frame, at, to, bytes);
}

static __always_inline int frame_send(frame *frame, __u32 port, const struct switch_port *to)
{
	(void)frame;
	(void)to;
	return bpf_redirect_map(&devices, port, XDP_DROP);
}

/* The link header of a packet whose IP header is behind a shim. */
static __always_inline struct link link_of(const frame *frame, const struct packet *packet, __u32 shim)
{
	const void *data = frame_data(frame);
	struct link link = {};

	if (data + LINK_READ > frame_end(frame))
		return link;
	link = read_link(data, packet);
	link.size = packet->l3 - shim == ETH_HLEN + VLAN_SIZE ? ETH_HLEN + VLAN_SIZE : ETH_HLEN;
	return link;
}

static __always_inline int move_link(frame *frame, const struct link *link, int by, __be16 type)
{
	void *data = link->size ? move_start(frame, by, ETH_HLEN + VLAN_SIZE + SHIM_BYTES) : NULL;

	if (!data)
		return -1;
	write_link(data, link, type);
	return 0;
}

/* Makes room for a shim between the link header, which moves to the front, and IP. */
static __always_inline int frame_push_shim(frame *frame, const struct packet *packet)
{
	struct link link = link_of(frame, packet, 0);

	return move_link(frame, &link, -SHIM_BYTES, bpf_htons(ETHERTYPE_SHIM));
}

/* Cuts out the shim. */
static __always_inline int frame_pop_shim(frame *frame, struct packet *packet)
{
	struct link link = link_of(frame, packet, SHIM_BYTES);

	if (move_link(frame, &link, SHIM_BYTES, bpf_htons(packet->v6 ? ETH_P_IPV6 : ETH_P_IP)))
		return -1;
	packet->l3 -= SHIM_BYTES;
	packet->l4 -= SHIM_BYTES;
	return 0;
}

/* There is one pass. */
#define FRAME_AGAIN 1

static __always_inline bool frame_is_second_pass(const frame *frame)
{
	(void)frame;
	return false;
}

static __always_inline int frame_cut_shim(frame *frame)
{
	(void)frame;
	return -1;
}

static __always_inline int frame_receive_again(frame *frame)
{
	(void)frame;
	return FRAME_DROP;
}
