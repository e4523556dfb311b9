/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/* A frame at tc's ingress hook (tcx). It may be a segmentation super-packet, and have its payload in fragments; a VLAN
 * tag is beside it. */
#pragma once

#include <stdbool.h>

#include "common/outer.h"
#include "switch/switch_abi.h"

typedef struct __sk_buff frame;

#define FRAME_PASS -1 /* TCX_NEXT: the next program, or the stack */
#define FRAME_DROP 2
#define FRAME_HEADERS 192      /* bytes that are made readable */
#define MEASURED 0x4844        /* tc_index of a frame that was counted and measured at ingress, until it leaves */
#define SECOND_PASS 0x48454444 /* mark of a frame whose shim is to be cut out; cleared between network namespaces and machines */

static __always_inline void *frame_data(const frame *frame)
{
	return (void *)(long)frame->data;
}

static __always_inline void *frame_end(const frame *frame)
{
	return (void *)(long)frame->data_end;
}

static __always_inline __u32 frame_bytes(const frame *frame)
{
	return frame->len;
}

static __always_inline __u32 frame_interface(const frame *frame)
{
	return frame->ifindex;
}

/* True if it has a VLAN tag, beside it or in it. */
static __always_inline bool frame_is_tagged(const frame *frame, __be16 type)
{
	return frame->vlan_present || type == bpf_htons(ETH_P_8021Q);
}

static __always_inline bool frame_is_gso(const frame *frame)
{
	return frame->gso_size;
}

/* Makes the headers readable. */
static __always_inline int frame_pull(frame *frame)
{
	__u32 bytes = frame->len < FRAME_HEADERS ? frame->len : FRAME_HEADERS;

	if (frame_data(frame) + FRAME_HEADERS <= frame_end(frame) || frame->data_end - frame->data >= frame->len)
		return 0;
	return bpf_skb_pull_data(frame, bytes);
}

static __always_inline int frame_load(frame *frame, __u32 at, void *to, __u32 bytes)
{
	return bpf_skb_load_bytes(frame, at, to, bytes);
}

static __always_inline int frame_send(frame *frame, __u32 port, const struct switch_port *to)
{
	(void)port;
	frame->tc_index = MEASURED;
	return bpf_redirect(to->ifindex, 0);
}

/* Makes room for a shim between the link header, which moves to the front, and IP. */
static __always_inline int frame_push_shim(frame *frame, const struct packet *packet)
{
	__be16 *type;

	(void)packet;
	if (bpf_skb_adjust_room(frame, SHIM_BYTES, BPF_ADJ_ROOM_MAC, BPF_F_ADJ_ROOM_NO_CSUM_RESET))
		return -1;
	type = frame_data(frame) + ETH_HLEN - sizeof(*type);
	if ((void *)(type + 1) > frame_end(frame))
		return -1;
	*type = bpf_htons(ETHERTYPE_SHIM);
	return 0;
}

/* True in the second pass of a frame (frame_pop_shim). */
static __always_inline bool frame_is_second_pass(const frame *frame)
{
	return frame->mark == SECOND_PASS;
}

/* Ends a second pass's difference from others: cuts out the shim. */
static __always_inline int frame_cut_shim(frame *frame)
{
	frame->mark = 0;
	return bpf_skb_adjust_room(frame, -SHIM_BYTES, BPF_ADJ_ROOM_MAC, BPF_F_ADJ_ROOM_NO_CSUM_RESET);
}

/* Removes the shim. The kernel cuts bytes out of IP packets only, and takes a frame for IP by the EtherType that it was
 * received with. So the frame is received once more, as what it will be, and its shim is cut out then: FRAME_AGAIN. */
#define FRAME_AGAIN 1

static __always_inline int frame_pop_shim(frame *frame, struct packet *packet)
{
	__be16 *type = frame_data(frame) + ETH_HLEN - 2;

	if ((void *)(type + 1) > frame_end(frame))
		return -1;
	*type = bpf_htons(packet->v6 ? ETH_P_IPV6 : ETH_P_IP);
	frame->mark = SECOND_PASS;
	return FRAME_AGAIN;
}

static __always_inline int frame_receive_again(frame *frame)
{
	return bpf_redirect(frame->ifindex, BPF_F_INGRESS);
}
