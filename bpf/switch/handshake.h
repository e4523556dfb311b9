/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/* A TCP packet that opens or ends a subflow, as a ToR reads it: its flags and the first well-formed MPTCP option (RFC 6824, RFC 8684).
 *
 * Sizes of all subtypes are checked: an option that is malformed is passed over. */
#pragma once

#include <linux/types.h>
#include <stdbool.h>

#include "common/native.h"

#define HANDSHAKE_OPTIONS 40 /* bytes that a TCP header has room for */
#define HANDSHAKE_BUFFER 72  /* and what is read behind an option's start */

enum handshake_option {
	HANDSHAKE_NONE,     /* no MPTCP option, or another one */
	HANDSHAKE_CAPABLE,  /* MP_CAPABLE */
	HANDSHAKE_JOIN_SYN, /* MP_JOIN with a token */
	HANDSHAKE_JOIN,     /* MP_JOIN in another form */
};

#define HANDSHAKE_FIN 0x01
#define HANDSHAKE_SYN 0x02
#define HANDSHAKE_RST 0x04
#define HANDSHAKE_ACK 0x10

/* The option area of a TCP header, and room behind it. */
struct handshake_options {
	__u8 bytes[HANDSHAKE_BUFFER];
};

struct handshake {
	__u32 out_hash; /* of the 5-tuple in the direction from the ToR's host */
	__u32 token;    /* HANDSHAKE_JOIN_SYN */
	__u8 keys[16];  /* HANDSHAKE_CAPABLE: the sender's, the receiver's */
	__u8 key_count; /* 0 to 2 */
	__u8 version;   /* HANDSHAKE_CAPABLE: 0 is RFC 6824, 1 is RFC 8684 */
	__u8 option;    /* enum handshake_option */
	__u8 flags;     /* TCP's, CWR to FIN */
	__u8 from_host; /* 1: from the ToR's host; 0: to it */
	__u8 pad[3];
};

static __always_inline bool capable_is_well_formed(__u8 version, __u32 bytes)
{
	if (bytes == 12 || bytes == 20)
		return version <= 1;
	return version == 1 && (bytes == 4 || bytes == 22 || bytes == 24);
}

static __always_inline bool dss_is_well_formed(__u8 flags, __u32 bytes)
{
	__u32 expected = 4;

	if (flags & 0x01) /* A: an acknowledgement, whose bit a makes it 8 bytes */
		expected += flags & 0x02 ? 8 : 4;
	if (flags & 0x04) /* M: a mapping, whose bit m makes its sequence number 8 bytes */
		expected += flags & 0x08 ? 14 : 10;
	return bytes == expected || (flags & 0x04 && bytes == expected + 2);
}

/* An address, perhaps a port; behind them an HMAC, or in version 1's echo nothing. Version 0 has the address family in the nibble. */
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

/* Of an option with at least 3 bytes, the third of which has subtype and nibble. */
static __always_inline bool mptcp_is_well_formed(__u8 subtype, __u8 nibble, __u8 flags, __u32 bytes)
{
	switch (subtype) {
	case 0:
		return capable_is_well_formed(nibble, bytes);
	case 1:
		return bytes == 12 || bytes == 16 || bytes == 24;
	case 2:
		return bytes >= 4 && dss_is_well_formed(flags, bytes);
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

static __always_inline void handshake_take(const __u8 *option, __u32 bytes, struct handshake *out)
{
	__u8 subtype = option[2] >> 4;

	if (subtype == 0) {
		out->option = HANDSHAKE_CAPABLE;
		out->version = option[2] & 0xf;
		out->key_count = bytes >= 20 ? 2 : bytes == 12;
		__builtin_memcpy(out->keys, option + 4, sizeof(out->keys));
	} else if (subtype == 1 && bytes == 12) {
		out->option = HANDSHAKE_JOIN_SYN;
		out->token = (__u32)option[4] << 24 | (__u32)option[5] << 16 | (__u32)option[6] << 8 | option[7];
	} else if (subtype == 1) {
		out->option = HANDSHAKE_JOIN;
	}
}

/* Reads the MPTCP option of `length` bytes at this offset if it is well-formed: MP_CAPABLE and MP_JOIN; others say nothing. Returns 1 if it is. A
 * global function, as the one below: the verifier looks at it once, and not in each round of a loop. */
__noinline int handshake_read_option(const struct handshake_options *options, __u32 at, __u32 length, struct handshake *out)
{
	const __u8 *option;

	if (!options || !out || at >= HANDSHAKE_OPTIONS || length < 3)
		return 0;
	option = options->bytes + at;
	if (!mptcp_is_well_formed(option[2] >> 4, option[2] & 0xf, option[3], length))
		return 0;
	handshake_take(option, length, out);
	return 1;
}

/* Finds the option among `bytes` bytes of options. The buffer is longer than these, so that reading one needs no check. */
__noinline int handshake_read(const struct handshake_options *options, __u32 bytes, struct handshake *out)
{
	__u32 length;

	if (!options || !out)
		return -1;
	out->option = HANDSHAKE_NONE;
	if (bytes > HANDSHAKE_OPTIONS)
		bytes = HANDSHAKE_OPTIONS;
	for (__u32 at = 0; at < bytes; at += length) {
		const __u8 *option = options->bytes + at;

		if (option[0] == 0)
			break;
		length = 1;
		if (option[0] == 1)
			continue;
		length = option[1];
		if (at + 1 >= bytes || length < 2 || length > bytes - at)
			break;
		if (option[0] == 30 && handshake_read_option(options, at, length, out))
			break;
	}
	return 0;
}
