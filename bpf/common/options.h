/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/* The MPTCP option of a TCP header (RFC 6824, RFC 8684) by which a balancer finds a packet's connection.
 *
 * In a SYN that is MP_CAPABLE or MP_JOIN, in other packets MP_CAPABLE with both keys, DSS, or the MP_JOIN that ends a join's handshake;
 * the first of them counts.
 * Sizes are checked strictly, as the kernel's own MPTCP does. Reads nothing beyond the options or the frame. */
#pragma once

#include <linux/types.h>
#include <stdbool.h>

#include "common/native.h"

enum mptcp_kind {
	MPTCP_NONE,
	MPTCP_CAPABLE_SYN,
	MPTCP_CAPABLE_KEYS,
	MPTCP_JOIN_SYN,
	MPTCP_DSS,
	MPTCP_JOIN_ACK,
	MPTCP_OTHER,     /* none of these, but another one, or one of these where it says nothing to a balancer */
	MPTCP_MALFORMED, /* none of these, and an MPTCP option or an option's length makes no sense */
};

/* The option found. Absent fields are 0. */
struct mptcp_found {
	__u8 kind;    /* enum mptcp_kind; the fields below are only of the five kinds that a balancer looks for */
	__u8 version; /* MP_CAPABLE: 0 is RFC 6824, 1 is RFC 8684 */
	__u8 flags;   /* MP_CAPABLE: A to H */
	__u8 at;      /* where it starts: bytes into the options */
	__u8 length;
	__u8 pad[3];
	__u32 token; /* MPTCP_JOIN_SYN: names the connection to join; in the machine's order */
	__u8 key[8]; /* MPTCP_CAPABLE_KEYS: the receiver's; MPTCP_CAPABLE_SYN of version 0: the sender's */
};

#define MAX_OPTIONS 40        /* bytes that a TCP header has room for */
#define OPTIONS_OFFSET 20     /* where they start in it */
#define MAX_TCP_OFFSET 0x7fff /* where a TCP header may start; the verifier follows offsets of 16 bits */
#define OPTION_END 0
#define OPTION_NOP 1
#define OPTION_MPTCP 30
#define OPTIONS_SYN 0x02
#define OPTIONS_ACK 0x10

/* One option, which lies in a frame that ends at `end`. */
struct tcp_option {
	const __u8 *bytes;
	const __u8 *end;
	__u32 length;
};

/* True if the option is at least that long. The verifier cannot infer the second half from the first. */
static __always_inline bool option_has(const struct tcp_option *option, __u32 bytes)
{
	return option->length >= bytes && option->bytes + bytes <= option->end;
}

static __always_inline bool capable_fits(__u8 version, __u32 length)
{
	if (length == 12 || length == 20)
		return true;
	return version == 1 && (length == 4 || length == 22 || length == 24);
}

/* 4 bytes without a key in version 1, 12 bytes with the sender's in version 0. */
static __always_inline __u8 read_capable_syn(const struct tcp_option *option, __u8 version, struct mptcp_found *out)
{
	if (version == 1)
		return option->length == 4 ? MPTCP_CAPABLE_SYN : MPTCP_OTHER;
	if (option->length != 12 || !option_has(option, 12))
		return MPTCP_OTHER;
	__builtin_memcpy(out->key, option->bytes + 4, sizeof(out->key));
	return MPTCP_CAPABLE_SYN;
}

/* The sender's key, the receiver's, and in version 1 there may be the length and the checksum of the first data. */
static __always_inline __u8 read_capable_keys(const struct tcp_option *option, struct mptcp_found *out)
{
	if (!option_has(option, 20))
		return MPTCP_OTHER;
	__builtin_memcpy(out->key, option->bytes + 12, sizeof(out->key));
	return MPTCP_CAPABLE_KEYS;
}

static __always_inline __u8 read_capable(const struct tcp_option *option, bool syn, struct mptcp_found *out)
{
	__u8 version = option->bytes[2] & 0xf, flags, kind;

	if (version > 1)
		return MPTCP_OTHER;
	if (!option_has(option, 4))
		return MPTCP_MALFORMED;
	flags = option->bytes[3];
	if (!capable_fits(version, option->length))
		return MPTCP_MALFORMED;
	kind = syn ? read_capable_syn(option, version, out) : read_capable_keys(option, out);
	if (kind == MPTCP_OTHER)
		return kind;
	out->version = version;
	out->flags = flags;
	return kind;
}

/* 12 bytes in a SYN, 16 in its answer, 24 in the ACK; only the first names a connection. The last proves that the client had the answer. */
static __always_inline __u8 read_join(const struct tcp_option *option, bool syn, struct mptcp_found *out)
{
	const __u8 *token = option->bytes + 4;

	if (option->length == 24)
		return syn ? MPTCP_OTHER : MPTCP_JOIN_ACK;
	if (option->length != 12)
		return option->length == 16 ? MPTCP_OTHER : MPTCP_MALFORMED;
	if (!syn || !option_has(option, 12))
		return MPTCP_OTHER;
	out->token = (__u32)token[0] << 24 | (__u32)token[1] << 16 | (__u32)token[2] << 8 | token[3];
	return MPTCP_JOIN_SYN;
}

/* The flags give the size, except for the checksum behind a mapping. */
static __always_inline __u8 read_dss(const struct tcp_option *option, bool syn)
{
	__u32 bytes = 4;
	__u8 flags;

	if (!option_has(option, 4))
		return MPTCP_MALFORMED;
	flags = option->bytes[3];
	if (flags & 0x01) /* A: an acknowledgement, whose bit a makes it 8 bytes */
		bytes += flags & 0x02 ? 8 : 4;
	if (flags & 0x04) /* M: a mapping, whose bit m makes its sequence number 8 bytes */
		bytes += flags & 0x08 ? 14 : 10;
	if (option->length != bytes && !(flags & 0x04 && option->length == bytes + 2))
		return MPTCP_MALFORMED;
	return syn ? MPTCP_OTHER : MPTCP_DSS;
}

static __always_inline const __u8 *frame_start(const struct xdp_md *ctx)
{
	return (const __u8 *)(long)ctx->data;
}

static __always_inline const __u8 *frame_end(const struct xdp_md *ctx)
{
	return (const __u8 *)(long)ctx->data_end;
}

/* The enum mptcp_kind of the MPTCP option at this offset of the frame. A global function, as the one below: the verifier
 * looks at it once, and not in each round of a loop. */
__noinline int read_mptcp(struct xdp_md *ctx, __u32 offset, __u32 length, bool syn, struct mptcp_found *out)
{
	struct tcp_option option = { .end = frame_end(ctx), .length = length };

	if (!out || offset > MAX_TCP_OFFSET)
		return MPTCP_MALFORMED;
	option.bytes = frame_start(ctx) + offset;
	if (!option_has(&option, 3))
		return MPTCP_MALFORMED;
	switch (option.bytes[2] >> 4) {
	case 0:
		return read_capable(&option, syn, out);
	case 1:
		return read_join(&option, syn, out);
	case 2:
		return read_dss(&option, syn);
	default:
		return MPTCP_OTHER;
	}
}

/* The length of an option that is not padding, with `left` bytes of options from it on; 0: it makes no sense. */
static __always_inline __u32 option_length(const __u8 *option, const __u8 *end, __u32 left)
{
	__u32 length;

	if (option + 2 > end)
		return 0;
	length = option[1];
	return length >= 2 && length <= left ? length : 0;
}

/* Notes an option on the walk. True: it is one that the search is for. */
static __always_inline bool note_mptcp(struct mptcp_found *out, __u8 kind, __u8 at, __u8 length)
{
	if (kind >= MPTCP_OTHER) {
		out->kind = kind > out->kind ? kind : out->kind;
		return false;
	}
	out->kind = kind;
	out->at = at;
	out->length = length;
	return true;
}

/* Each round goes on by a byte at least: so the loop ends, and the verifier sees it. Before Linux 6.8 it learns the bounds of `at` from a comparison
 * with a constant only. */
static __always_inline void walk_options(struct xdp_md *ctx, __u32 start, __u32 bytes, bool syn, struct mptcp_found *out)
{
	__u32 length;

	for (__u32 at = 0; at < MAX_OPTIONS && at < bytes; at += length) {
		const __u8 *option = frame_start(ctx) + start + at;

		if (option + 1 > frame_end(ctx) || *option == OPTION_END)
			return;
		length = 1;
		if (*option == OPTION_NOP)
			continue;
		length = option_length(option, frame_end(ctx), bytes - at);
		if (!length) {
			out->kind = MPTCP_MALFORMED;
			return;
		}
		if (*option == OPTION_MPTCP && note_mptcp(out, read_mptcp(ctx, start + at, length, syn, out), at, length))
			return;
	}
}

/* Finds the option in a frame whose TCP header starts at byte `l4` and has `bytes` of options. Returns its kind. */
__noinline int find_mptcp(struct xdp_md *ctx, __u32 l4, __u32 bytes, __u32 tcp_flags, struct mptcp_found *out)
{
	__u32 start = l4 + OPTIONS_OFFSET;

	if (!out)
		return MPTCP_MALFORMED;
	*out = (struct mptcp_found){ .kind = MPTCP_MALFORMED };
	if (l4 > MAX_TCP_OFFSET - 64 || bytes > MAX_OPTIONS || frame_start(ctx) + start + bytes > frame_end(ctx))
		return MPTCP_MALFORMED;
	out->kind = MPTCP_NONE;
	walk_options(ctx, start, bytes, (tcp_flags & (OPTIONS_SYN | OPTIONS_ACK)) == OPTIONS_SYN, out);
	return out->kind;
}
