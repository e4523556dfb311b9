/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/* Types that the program which translates assigned keys on backends shares with its loader. Addresses are as in
 * abi.h. */
#pragma once

#include <linux/types.h>

#include "include/address.h"

/* A subflow, from its packets to the backend. */
struct subflow_key {
	struct address client;
	struct address server;
	__be16 client_port;
	__be16 server_port;
	__u32 pad;
};

/* A connection that has one key of the server's to its client and another to the backend's kernel. Keys are in network
 * order, numbers in the machine's. */
struct translation {
	__u8 assigned[8];     /* the server's key that the balancer chose: the client's view */
	__u8 kernel[8];       /* the one that the kernel chose */
	__u8 client[8];       /* the client's key; zeros in a handshake */
	__u64 assigned_start; /* the initial data sequence numbers that follow from the server's keys */
	__u64 kernel_start;
	__u32 assigned_token; /* their tokens */
	__u32 kernel_token;
	__u32 version; /* of MPTCP */
	__u32 pad;
};

/* A subflow of such a connection. Nonces are those of a join, in network order. */
struct subflow {
	struct translation connection;
	__u32 client_nonce;
	__u32 server_nonce;
	__u32 kind; /* enum opening_kind */
	__u32 pad;
};

enum opening_kind {
	OPENING_NONE,
	OPENING_CAPABLE,
	OPENING_JOIN,
	OPENING_SERVER_JOIN,
};

/* A handshake: what the client's last SYN had, and what the kernel has answered; or the kernel's own SYN. */
struct opening {
	__u32 kind;    /* enum opening_kind, of the SYN */
	__u32 version; /* OPENING_CAPABLE: of MPTCP */
	__u8 assigned[8];
	__u32 token; /* OPENING_JOIN: of the assigned key, in the machine's order */
	__u32 nonce; /* the client's */
	struct subflow answered;
};

/* Events: each counted by processor. */
enum translate_counter {
	TRANSLATE_KEYS_TAKEN,     /* SYNs with an assigned key, which was taken out */
	TRANSLATE_ANSWERED,       /* SYN/ACKs with the assigned key in place of the kernel's */
	TRANSLATE_OPENED,         /* connections: their client has sent both keys */
	TRANSLATE_JOINS,          /* SYNs of joins with the token of an assigned key */
	TRANSLATE_JOINS_ANSWERED, /* SYN/ACKs of joins, with the HMAC of the assigned key */
	TRANSLATE_JOINED,         /* joins whose client has sent the right HMAC */
	TRANSLATE_HMAC_WRONG,     /* HMACs of clients that are not of the assigned key: left as they are */
	TRANSLATE_RECEIVED,       /* segments of clients whose DATA_ACK was rewritten */
	TRANSLATE_SENT,           /* segments to clients whose data sequence number was rewritten */
	TRANSLATE_ADDRESSES,      /* HMACs of ADD_ADDR, either way */
	TRANSLATE_FAST_CLOSES,    /* MP_FASTCLOSE of clients */
	TRANSLATE_FAILURES,       /* MP_FAIL of clients */
	TRANSLATE_SERVER_JOINS,   /* SYNs of the kernel's own joins, to addresses that clients have announced */
	TRANSLATE_SERVER_JOINED,  /* those whose client has answered with the right HMAC */
	TRANSLATE_TOKEN_TAKEN,    /* assigned keys that were not used: another connection has their token */
	TRANSLATE_MALFORMED,      /* options that make no sense: left as they are */
	TRANSLATE_COUNTERS,
};
