/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/* The MPTCP option by which a balancer finds a packet's connection.
 *
 * In a SYN that is MP_CAPABLE or MP_JOIN, in other packets MP_CAPABLE with both keys, DSS, or the MP_JOIN that ends a
 * join's handshake; the first of them counts. Reads nothing beyond the options or the frame. */
#pragma once

#include <bpf/bpf_endian.h>

#include "common/mptcp.h"

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

#define OPTIONS_OFFSET 20     /* where options start in a TCP header */
#define MAX_TCP_OFFSET 0x7fff /* where a TCP header may start; the verifier follows offsets of 16 bits */
#define OPTIONS_SYN 0x02
#define OPTIONS_ACK 0x10

#define FORMS_OF_SYN (FORM_BIT(FORM_CAPABLE) | FORM_BIT(FORM_CAPABLE_V0) | FORM_BIT(FORM_JOIN_SYN))
#define FORMS_OF_OTHERS (FORM_BIT(FORM_CAPABLE_KEYS) | FORM_BIT(FORM_JOIN_ACK) | FORM_BIT(FORM_DSS))

static __always_inline __u8 kind_of_form(__u8 form)
{
	switch (form) {
	case FORM_CAPABLE:
	case FORM_CAPABLE_V0:
		return MPTCP_CAPABLE_SYN;
	case FORM_CAPABLE_KEYS:
		return MPTCP_CAPABLE_KEYS;
	case FORM_JOIN_SYN:
		return MPTCP_JOIN_SYN;
	case FORM_JOIN_ACK:
		return MPTCP_JOIN_ACK;
	case FORM_DSS:
		return MPTCP_DSS;
	case FORM_NONE:
		return MPTCP_NONE;
	case FORM_OTHER:
		return MPTCP_OTHER;
	default:
		return MPTCP_MALFORMED;
	}
}

static __always_inline void take_found(const struct mptcp_option *option, struct mptcp_found *out)
{
	out->kind = kind_of_form(option->form);
	out->version = option->version;
	out->flags = option->flags;
	out->at = option->at;
	out->length = option->length;
	out->token = option->token;
	__builtin_memcpy(out->key, option->form == FORM_CAPABLE_KEYS ? option->keys + 8 : option->keys, sizeof(out->key));
}

/* Words of the options that Linux has in front of MPTCP's: size, selective acknowledgements, time and scale in a SYN,
 * else time. */
#define LINUX_SIZE 0x02040000 /* and 16 bits of it */
#define LINUX_SACK_TIME 0x0402080a
#define LINUX_SCALE 0x01030300 /* and 8 bits of it */
#define LINUX_TIME 0x0101080a

/* Bytes of such options in front, which a search need not walk; 0: there are others. */
static __always_inline __u32 usual_options(struct xdp_md *ctx, __u32 l4, __u32 bytes)
{
	const __be32 *words = (void *)(long)ctx->data + l4 + OPTIONS_OFFSET;
	const void *end = (void *)(long)ctx->data_end;

	if (bytes < 12 || (const void *)(words + 3) > end)
		return 0;
	if (words[0] == bpf_htonl(LINUX_TIME))
		return 12;
	if (bytes < 20 || (const void *)(words + 5) > end || (words[0] & bpf_htonl(0xffff0000)) != bpf_htonl(LINUX_SIZE) ||
	    words[1] != bpf_htonl(LINUX_SACK_TIME) || (words[4] & bpf_htonl(0xffffff00)) != bpf_htonl(LINUX_SCALE))
		return 0;
	return 20;
}

/* Finds the option in a frame whose TCP header starts at byte `l4` and has `bytes` of options. Returns its kind. */
__noinline int find_mptcp(struct xdp_md *ctx, __u32 l4, __u32 bytes, __u32 tcp_flags, struct mptcp_found *out)
{
	bool syn = (tcp_flags & (OPTIONS_SYN | OPTIONS_ACK)) == OPTIONS_SYN;
	struct tcp_options options = {};
	struct mptcp_option option;
	__u32 usual, last;

	if (!out)
		return MPTCP_MALFORMED;
	*out = (struct mptcp_found){};
	out->kind = MPTCP_MALFORMED;
	if (l4 > MAX_TCP_OFFSET - 64 || (void *)(long)ctx->data + l4 + OPTIONS_OFFSET > (void *)(long)ctx->data_end)
		return MPTCP_MALFORMED;
	if (bytes > MAX_OPTIONS)
		return MPTCP_MALFORMED;
	usual = usual_options(ctx, l4, bytes);
	bytes -= usual;
	if (!bytes)
		return out->kind = MPTCP_NONE;
	last = bytes - 1;
	asm volatile("" : "+r"(last)); /* bounded by itself: Linux 6.1 learns nothing from `!= 0` */
	if (last >= MAX_OPTIONS || bpf_xdp_load_bytes(ctx, l4 + OPTIONS_OFFSET + usual, options.bytes, last + 1))
		return MPTCP_MALFORMED;
	find_option(&options, bytes, syn ? FORMS_OF_SYN : FORMS_OF_OTHERS, &option);
	if (option.length)
		option.at += usual;
	take_found(&option, out);
	return out->kind;
}
