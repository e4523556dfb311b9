/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/* Types and sizes that the programs of a switch share with user space: configurations, counters, probes. Rust's types
 * are generated from this file. Numbers are in the machine's order, times in nanoseconds of the switch's own clock. */
#pragma once

#include <linux/types.h>

#define SWITCH_PORTS 64 /* a set of ports is a word */

/* ToRs of the largest fabric. A configuration may have fewer. */
#ifndef SWITCH_TORS
#define SWITCH_TORS 1024
#endif

/* Slots of the flowlet table, a power of two. A configuration may use fewer. */
#ifndef FLOWLET_SLOTS
#define FLOWLET_SLOTS 65536
#endif

/* k at most. */
#ifndef BEST_HOPS
#define BEST_HOPS 8
#endif

/* Rows of the subflow mapping tables, a power of two. A configuration may use fewer. */
#ifndef MAPPING_ROWS
#define MAPPING_ROWS 65536
#endif

/* Slots of the association table, a power of two. A configuration may use fewer, but 4. */
#ifndef ASSOCIATION_SLOTS
#define ASSOCIATION_SLOTS 65536
#endif

#define SUBFLOWS 16 /* of a connection: 4 bits */

/* Sets of selectors that a CFLB switch keeps, a power of two. */
#ifndef MEMO_SETS
#define MEMO_SETS 32768
#endif
#define MEMO_WAYS 4

/* The schemes by their numbers. The switch's part of each is scheme_<name>.h. */
#define SWITCH_SCHEMES(SCHEME)           \
	SCHEME(ecmp, ECMP)               \
	SCHEME(hula, HULA)               \
	SCHEME(mp_hula, MP_HULA)         \
	SCHEME(cflb, CFLB)               \
	SCHEME(shuttle, SHUTTLE)         \
	SCHEME(let_it_flow, LET_IT_FLOW) \
	SCHEME(conga, CONGA)

#define SWITCH_NUMBER(name, NAME) SWITCH_##NAME,
enum switch_scheme {
	SWITCH_SCHEMES(SWITCH_NUMBER)
};

/* The schemes' counters. One structure for each processor needs no atomic operations. */
struct scheme_counters {
	__u64 flowlets;   /* started */
	__u64 moves;      /* flowlets on another port than the one before in their slot */
	__u64 fallbacks;  /* flowlets that the ECMP hash assigned, for want of a usable best hop */
	__u64 probes;     /* received */
	__u64 shims;      /* added */
	__u64 shared;     /* flowlets of subflows that share their hop, all k being in use */
	__u64 controlled; /* packets forwarded by their selector (CFLB) */
	__u64 hashed;     /* packets forwarded by a hash (CFLB) */
	__u64 connections;
	__u64 joins;
	__u64 unknown_tokens;
	__u64 token_collisions;
	__u64 table_collisions;
	__u64 wraps; /* restarts of subflow numbers at 2 */
};

/* The next hops of a packet: ports of the switch, in the order of its routing table. */
struct next_hops {
	__u64 set;   /* bit i: port i is a next hop */
	__u32 count; /* 1 to SWITCH_PORTS */
	__u32 pad;
	__u16 ports[SWITCH_PORTS]; /* distinct; the first `count` count */
};

enum hula_update {
	HULA_REFRESH, /* lower, stale, or from the best hop itself (section 5.3) */
	HULA_LISTING, /* lower or stale only, as printed (figure 3b) */
};

struct hula_config {
	__u64 probe_period; /* T_p */
	__u64 fail_after;   /* T_fail: an entry not refreshed for longer gives way to any probe */
	__u64 flowlet_gap;  /* a longer idle time ends a flowlet */
	__u32 salt;
	__u32 flowlet_slots; /* a power of two, at most FLOWLET_SLOTS */
	__u16 tors;          /* at most SWITCH_TORS */
	__u16 tor;           /* this switch's number, if it is a ToR */
	__u8 is_tor;
	__u8 update;          /* enum hula_update */
	__u8 util_bits;       /* of the probe's field: 1 to 16 */
	__u8 local_detection; /* ports of the switch that are down are not used */
};

enum mp_hula_long {
	LONG_ALIKE, /* connections of several subflows use the best hop as all flows do */
	LONG_YIELD, /* they leave it to flows of one subflow, if there is another hop */
	LONG_APART, /* as ALIKE, and a further subflow leaves the hop that the first one takes */
};

enum shuttle_rule {
	SHUTTLE_WEIGHTED, /* at random, by weight */
	SHUTTLE_LEAST,    /* the least cost */
};

enum shuttle_subflows {
	SHUTTLE_APART,      /* each subflow avoids the others' hops */
	SHUTTLE_FIRST_FREE, /* each but the first does */
	SHUTTLE_ALIKE,      /* each chooses alone */
};

/* Shuttle's own parameters. */
struct shuttle_config {
	__u16 full_queue_shift; /* a queue of 2^full_queue_shift bytes counts as a full link; more than 31 counts as 31 */
	__u16 range_shift;      /* costs tell 2^range_shift links apart, at most 2^8; 0: probes carry no queues */
	__u32 draws;            /* of which the hop with the least loaded port counts: 1 or 2 */
	__u32 choice;           /* enum shuttle_rule */
	__u32 subflows;         /* enum shuttle_subflows */
};

/* MP-HULA's parameters, and Shuttle's, which has its tables. */
struct mp_hula_config {
	struct hula_config hula;
	__u64 idle_after;        /* idle timeout of a subflow in the association tables */
	__u32 best_k;            /* next hops remembered for each ToR: 1 to BEST_HOPS */
	__u32 mapping_rows;      /* a power of two, at most MAPPING_ROWS */
	__u32 association_slots; /* a power of two, 4 to ASSOCIATION_SLOTS */
	__u32 long_flows;        /* enum mp_hula_long; LONG_ALIKE for Shuttle */
	struct shuttle_config shuttle;
};

/* CONGA's own parameters, beside those of flowlets. */
struct conga_config {
	__u64 metric_age;  /* a metric that is older reads 0 */
	__u32 metric_bits; /* Q: 1 to 3, others count as the nearest of these */
	__u32 pad;
};

/* MP-HULA's header between ToRs (section 2.2). */
struct shim {
	__u64 id;     /* MPTCP ID: token A, token B */
	__u8 subflow; /* number of the subflow, 1 to SUBFLOWS; 0: the packet has no shim */
	__u8 pad[7];
};

/* A received probe. */
struct probe_arrival {
	__u16 port;      /* of arrival */
	__u16 tor;       /* that originated it */
	__u16 util;      /* of the best path, in the probe's quantisation */
	__u16 link_util; /* transmit utilisation of `port`, of 65536 (dre_util) */
	__u8 next_hop;   /* `port` is a next hop towards `tor` */
	__u8 pad[7];
};

/* Load of one of the switch's own ports. */
struct port_load {
	__u32 queue; /* bytes that wait, the frame in transmission included */
	__u16 util;  /* transmit utilisation, of 65536 (dre_util) */
	__u16 pad;
};

/* The outcome of a probe: the probe to replicate, if any. */
struct probe_result {
	__u16 tor;
	__u16 util;
	__u8 forward;
	__u8 pad[3];
};

/* ---- CFLB ---- */

enum cflb_field {
	FIELD_PORTS,       /* both ports: 32 bits */
	FIELD_SOURCE_PORT, /* the source port, if it is in a range */
	FIELD_FLOW_LABEL,  /* IPv6's flow label: 20 bits */
};

enum cflb_cipher {
	CIPHER_RC5,
	CIPHER_SKIP32,
	CIPHER_FEISTEL,
};

enum cflb_rules {
	RULES_EVEN,      /* each digit is shifted by a hash of its own; values that encode no path are hashed */
	RULES_PUBLISHED, /* equations 3 and 6 of the paper */
};

/* Network-wide constants. */
struct cflb_constants {
	__u8 key[16]; /* Skip32: the first 10 bytes */
	__u16 low;    /* FIELD_SOURCE_PORT: the lowest port */
	__u16 high;   /* and the highest, not below it */
	__u16 radix;  /* B */
	__u8 field;   /* enum cflb_field */
	__u8 cipher;  /* enum cflb_cipher: RC5 and Skip32 need FIELD_PORTS */
	__u8 rules;   /* enum cflb_rules */
	__u8 pad[7];
};

/* Header fields that a router reads. All numbers in the machine's order. */
struct cflb_fields {
	__u32 source[4]; /* words of the address, the first in front; of IPv4 the first alone */
	__u32 destination[4];
	__u32 flow_label;
	__u16 source_port;
	__u16 destination_port;
	__u8 protocol;
	__u8 ttl;       /* on arrival */
	__u8 v6;        /* the addresses are of IPv6 */
	__u8 has_ports; /* not in fragments but the first, nor in a protocol without */
};

enum cflb_reason {
	REASON_ALONE,          /* one next hop */
	REASON_CONTROLLED,     /* the digit at the router's position */
	REASON_DIGIT_TOO_HIGH, /* a hash: the digit has no next hop */
	REASON_NO_SELECTOR,    /* a hash: the value encodes no path */
	REASON_NO_FIELD,       /* a hash: the packet has none of the controllable fields */
};

/* A router's choice, with its reason. */
struct cflb_decision {
	__u16 next_hop; /* its number, from 0 */
	__u16 digit;    /* REASON_CONTROLLED, REASON_DIGIT_TOO_HIGH */
	__u8 position;  /* likewise: TTL mod L */
	__u8 reason;    /* enum cflb_reason */
	__u16 pad;
};
