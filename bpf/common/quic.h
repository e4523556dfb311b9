/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/* The server id in a QUIC packet's destination connection id (draft-ietf-quic-load-balancers, without encryption):
 *
 *   first octet: config rotation (3 bits), length or random (5 bits) | server id | nonce, four bytes or more
 *
 * A packet's place for the connection id is the same in all versions (RFC 8999): behind five bytes and its length in a
 * long header, behind one byte, and without a length, in a short one. No other field is read. */
#pragma once

#include "common/options.h"
#include "common/packet.h"

#define QUIC_LONG_HEADER 0x80
#define QUIC_LONG_ID 6
#define QUIC_SHORT_ID 1
#define QUIC_CONFIG_SHIFT 5
#define QUIC_LEAST_NONCE 4
#define QUIC_MOST_SERVER_ID 15

/* A long header up to a server id of any length, and one byte more: that is read at once. QUIC sends no shorter packet
 * with such a connection id: behind a short header and six bytes of it come at least 20 of number and ciphertext (RFC
 * 9001, section 5.4.2). */
#define QUIC_LEAST (QUIC_LONG_ID + 1 + QUIC_MOST_SERVER_ID + 1)

/* The first `length` bytes of two words, as they lie in memory. */
static __always_inline void keep_bytes(__u64 words[2], __u32 length)
{
	__u32 first = length < 8 ? length : 8, second = length - first;

	words[0] &= bpf_cpu_to_be64(~0ULL << (64 - 8 * first));
	words[1] &= second ? bpf_cpu_to_be64(~0ULL << (64 - 8 * second)) : 0;
}

/* Reads the server id of `length` bytes, 1 to QUIC_MOST_SERVER_ID, with zeros behind it. False: the UDP packet is too
 * short for one, or its connection id is, or that has another config rotation. */
static __always_inline bool read_server_id(struct xdp_md *ctx, const struct packet *packet, __u32 rotation, __u32 length,
					   __u64 server_id[2])
{
	void *end = (void *)(long)ctx->data_end;
	struct udphdr *udp = (void *)(long)ctx->data + (packet->l4 & MAX_TCP_OFFSET);
	__u8 *quic = (void *)(udp + 1), *id;
	__u32 bytes = packet->l3 + packet->length - packet->l4, room;

	if ((void *)(quic + QUIC_LEAST) > end)
		return false;
	if (bpf_ntohs(udp->len) < bytes)
		bytes = bpf_ntohs(udp->len);
	if (bytes < sizeof(*udp) + QUIC_LEAST)
		return false;
	bytes -= sizeof(*udp);
	if (quic[0] & QUIC_LONG_HEADER) {
		id = quic + QUIC_LONG_ID;
		room = quic[QUIC_LONG_ID - 1];
		if (room > bytes - QUIC_LONG_ID)
			return false;
	} else {
		id = quic + QUIC_SHORT_ID;
		room = bytes - QUIC_SHORT_ID;
	}
	if (room < 1 + length + QUIC_LEAST_NONCE || (void *)(id + 1 + 16) > end || id[0] >> QUIC_CONFIG_SHIFT != rotation)
		return false;
	server_id[0] = *(const __u64 *)(id + 1);
	server_id[1] = *(const __u64 *)(id + 9);
	keep_bytes(server_id, length);
	return true;
}
