/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/* Types and sizes that the programs of a switch share with user space: configurations, counters, probes. Rust's types are generated from this
 * file. Numbers are in the machine's order, times in nanoseconds of the switch's own clock. */
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

/* What the schemes count. One structure for each processor needs no atomic operations. */
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

/* A received probe. */
struct probe_arrival {
	__u16 port;      /* of arrival */
	__u16 tor;       /* that originated it */
	__u16 util;      /* of the best path, in the probe's quantisation */
	__u16 link_util; /* transmit utilisation of `port`, of 65536 (dre_util) */
	__u8 next_hop;   /* `port` is a next hop towards `tor` */
	__u8 pad[7];
};

/* What becomes of a probe: the one to replicate, if any. */
struct probe_result {
	__u16 tor;
	__u16 util;
	__u8 forward;
	__u8 pad[3];
};
