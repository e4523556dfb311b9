/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/* The MPTCP option among the options of a TCP header (RFC 6824, RFC 8684), read from a copy of them.
 *
 * Sizes of all subtypes are checked strictly, as the kernel's own MPTCP does. A reader says which forms of the option
 * it looks for; the first option in one of them counts. */
#pragma once

#include <linux/types.h>
#include <stdbool.h>

#include "common/native.h"

#define MAX_OPTIONS 40    /* bytes that a TCP header has room for */
#define OPTIONS_BUFFER 72 /* and what is read behind an option's start */

/* The kind of an option by its bytes alone. */
enum mptcp_form {
	FORM_NONE,
	FORM_CAPABLE,        /* MP_CAPABLE of version 1 without keys */
	FORM_CAPABLE_V0,     /* of version 0 with the sender's key, */
	FORM_CAPABLE_SENDER, /* and of version 1, as in a SYN/ACK */
	FORM_CAPABLE_KEYS,   /* with both keys */
	FORM_JOIN_SYN,       /* MP_JOIN with a token */
	FORM_JOIN_ANSWER,    /* of a SYN/ACK */
	FORM_JOIN_ACK,       /* ends a join's handshake */
	FORM_DSS,
	FORM_OTHER,     /* well-formed, and none of these */
	FORM_UNKNOWN,   /* of a version or a subtype that is not known, or another subtype's in a size that it never has */
	FORM_MALFORMED, /* its length or that of an option before it makes no sense */
};

#define FORM_BIT(form) (1u << (form))

/* The option area of a TCP header, and room behind it, so that reading an option needs no check. */
struct tcp_options {
	__u8 bytes[OPTIONS_BUFFER];
};

/* The option found. Absent fields are 0. */
struct mptcp_option {
	__u8 form;    /* enum mptcp_form */
	__u8 version; /* MP_CAPABLE: 0 is RFC 6824, 1 is RFC 8684 */
	__u8 flags;   /* MP_CAPABLE: A to H */
	__u8 at;      /* where it starts: bytes into the options */
	__u8 length;
	__u8 pad[3];
	__u32 token;   /* FORM_JOIN_SYN: names the connection to join; in the machine's order */
	__u8 keys[16]; /* MP_CAPABLE: the sender's, the receiver's, as far as its form has them */
};

#define OPTION_END 0
#define OPTION_NOP 1
#define OPTION_MPTCP 30

/* The sender's key, the receiver's, and in version 1 there may be the length and the checksum of the first data. */
static __always_inline __u8 capable_form(__u8 version, __u32 bytes)
{
	if (version > 1)
		return FORM_UNKNOWN;
	if (bytes == 20 || (version == 1 && (bytes == 22 || bytes == 24)))
		return FORM_CAPABLE_KEYS;
	if (bytes == 12)
		return version ? FORM_CAPABLE_SENDER : FORM_CAPABLE_V0;
	return version == 1 && bytes == 4 ? FORM_CAPABLE : FORM_MALFORMED;
}

static __always_inline __u8 join_form(__u32 bytes)
{
	return bytes == 12 ? FORM_JOIN_SYN : bytes == 16 ? FORM_JOIN_ANSWER : bytes == 24 ? FORM_JOIN_ACK : FORM_MALFORMED;
}

/* The flags give the size, except for the checksum behind a mapping. */
static __always_inline bool dss_is_well_formed(__u8 flags, __u32 bytes)
{
	__u32 expected = 4;

	if (bytes < 4)
		return false;
	if (flags & 0x01) /* A: an acknowledgement, whose bit a makes it 8 bytes */
		expected += flags & 0x02 ? 8 : 4;
	if (flags & 0x04) /* M: a mapping, whose bit m makes its sequence number 8 bytes */
		expected += flags & 0x08 ? 14 : 10;
	return bytes == expected || (flags & 0x04 && bytes == expected + 2);
}

/* An address, perhaps a port; behind them an HMAC, or in version 1's echo nothing. Version 0 has the address family in
 * the nibble. */
static __always_inline bool add_addr_is_well_formed(__u8 nibble, __u32 bytes)
{
	bool v6 = bytes >= 20;
	__u32 left = bytes - (v6 ? 20 : 8);

	if (left == 2 || left == 10)
		left -= 2;
	if (left == 8)
		return !(nibble & 1);
	return left == 0 && (nibble & 1 || nibble == (v6 ? 6 : 4));
}

/* The subtypes that say nothing about a connection's keys, joins and data. */
static __always_inline bool other_is_well_formed(__u8 subtype, __u8 nibble, __u32 bytes)
{
	switch (subtype) {
	case 3:
		return bytes >= 8 && add_addr_is_well_formed(nibble, bytes);
	case 4:
		return bytes >= 4;
	case 5:
		return bytes == 3 || bytes == 4;
	case 6:
	case 7:
		return bytes == 12;
	case 8:
		return bytes == 4;
	}
	return false;
}

/* Of an option of at least three bytes, the third of which has subtype and nibble. */
static __always_inline __u8 mptcp_form(const __u8 *option, __u32 bytes)
{
	__u8 subtype = option[2] >> 4, nibble = option[2] & 0xf;

	switch (subtype) {
	case 0:
		return capable_form(nibble, bytes);
	case 1:
		return join_form(bytes);
	case 2:
		return dss_is_well_formed(option[3], bytes) ? FORM_DSS : FORM_MALFORMED;
	default:
		return other_is_well_formed(subtype, nibble, bytes) ? FORM_OTHER : FORM_UNKNOWN;
	}
}

static __always_inline void take_capable(const __u8 *option, __u8 form, struct mptcp_option *out)
{
	out->version = option[2] & 0xf;
	out->flags = option[3];
	if (form != FORM_CAPABLE)
		__builtin_memcpy(out->keys, option + 4, 8);
	if (form == FORM_CAPABLE_KEYS)
		__builtin_memcpy(out->keys + 8, option + 12, 8);
}

/* Reads the MPTCP option of `length` bytes at this offset. Its form; one of those that are `wanted` is written to
 * `out`. A global function, as the one below: the verifier looks at it once, and not in each round of a loop. */
__noinline int read_mptcp(const struct tcp_options *options, __u32 at, __u32 length, __u32 wanted, struct mptcp_option *out)
{
	const __u8 *option;
	__u8 form;

	if (!options || !out || at >= MAX_OPTIONS || length < 3)
		return FORM_MALFORMED;
	option = options->bytes + at;
	form = mptcp_form(option, length);
	if (!(wanted & FORM_BIT(form)))
		return form;
	out->form = form;
	out->at = at;
	out->length = length;
	if (form >= FORM_CAPABLE && form <= FORM_CAPABLE_KEYS)
		take_capable(option, form, out);
	if (form == FORM_JOIN_SYN)
		out->token = (__u32)option[4] << 24 | (__u32)option[5] << 16 | (__u32)option[6] << 8 | option[7];
	return form;
}

/* Notes an option that is passed over: the worst of them is told. */
static __always_inline void pass_over(__u8 form, struct mptcp_option *out)
{
	if (form == FORM_MALFORMED || !out->form)
		out->form = form == FORM_MALFORMED ? FORM_MALFORMED : FORM_OTHER;
}

/* Finds the first option in one of the `wanted` forms (FORM_BIT) among `bytes` bytes of options. Returns its form,
 * FORM_OTHER if there was no other MPTCP option than ones that make sense, FORM_MALFORMED if something made none, or
 * FORM_NONE. Each round goes on by a byte at least: so the loop ends, and the verifier sees it. Before Linux 6.8 it
 * learns the bounds of `at` from a comparison with a constant only. */
__noinline int find_option(const struct tcp_options *options, __u32 bytes, __u32 wanted, struct mptcp_option *out)
{
	__u32 length;

	if (!options || !out)
		return FORM_MALFORMED;
	*out = (struct mptcp_option){};
	if (bytes > MAX_OPTIONS)
		bytes = MAX_OPTIONS;
	for (__u32 at = 0; at < MAX_OPTIONS && at < bytes; at += length) {
		const __u8 *option = options->bytes + at;
		__u8 form;

		if (option[0] == OPTION_END)
			break;
		length = 1;
		if (option[0] == OPTION_NOP)
			continue;
		length = option[1];
		if (at + 1 >= bytes || length < 2 || length > bytes - at) {
			out->form = FORM_MALFORMED;
			break;
		}
		if (option[0] != OPTION_MPTCP)
			continue;
		form = read_mptcp(options, at, length, wanted, out);
		if (wanted & FORM_BIT(form))
			break;
		pass_over(form, out);
	}
	return out->form;
}
