/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/* A TCP packet that opens or ends a subflow, as a ToR reads it: its flags and the first well-formed MPTCP option (RFC
 * 6824, RFC 8684).
 *
 * An option that is malformed is passed over. */
#pragma once

#include "common/mptcp.h"

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

/* All that are well-formed. */
#define FORMS_OF_HANDSHAKE (FORM_BIT(FORM_UNKNOWN) - FORM_BIT(FORM_CAPABLE))

/* Finds the option among `bytes` bytes of options. */
__noinline int handshake_read(const struct tcp_options *options, __u32 bytes, struct handshake *out)
{
	struct mptcp_option found;

	if (!options || !out)
		return -1;
	out->option = HANDSHAKE_NONE;
	find_option(options, bytes, FORMS_OF_HANDSHAKE, &found);
	if (found.form == FORM_JOIN_SYN) {
		out->option = HANDSHAKE_JOIN_SYN;
		out->token = found.token;
	} else if (found.form == FORM_JOIN_ANSWER || found.form == FORM_JOIN_ACK) {
		out->option = HANDSHAKE_JOIN;
	} else if (found.form >= FORM_CAPABLE && found.form <= FORM_CAPABLE_KEYS) {
		out->option = HANDSHAKE_CAPABLE;
		out->version = found.version;
		out->key_count = found.form == FORM_CAPABLE_KEYS ? 2 : found.form == FORM_CAPABLE ? 0 : 1;
		__builtin_memcpy(out->keys, found.keys, sizeof(out->keys));
	}
	return 0;
}
