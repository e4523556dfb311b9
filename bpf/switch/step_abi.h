/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/* One step of any scheme as flat structures: the interface by which tests run the schemes' headers. Switches call the
 * headers themselves. */
#pragma once

#include <linux/types.h>

#include "switch/abi.h"

#define STEP_OPTIONS 72 /* the option area and room behind it (mptcp.h) */

#define STEP_DRE 0xff /* beside the schemes: a port's utilisation estimator */

enum step_kind {
	STEP_PACKET,
	STEP_EGRESS,
	STEP_HANDSHAKE,
	STEP_PROBE,
	STEP_ORIGINATE,
	STEP_SENT,
	STEP_UTILISATION,
};

struct dre_config {
	__u64 full;
	__u32 shift;
	__u32 pad;
};

/* A switch's scheme and parameters; those of the other schemes are not read. */
struct step_config {
	__u32 scheme;                  /* enum switch_scheme, or STEP_DRE */
	__u32 salt;                    /* ECMP's, and CFLB's router number */
	struct mp_hula_config mp_hula; /* with HULA's in its front; and Shuttle's */
	struct conga_config conga;
	struct cflb_constants cflb;
	struct dre_config dre;
};

struct step_input {
	__u64 now;
	__u32 kind; /* enum step_kind */
	/* STEP_PACKET */
	__u32 flow_hash;
	__u64 up; /* ports that are up */
	struct next_hops hops;
	__u16 dst_tor;
	__u16 src_tor; /* STEP_EGRESS: CONGA */
	__u16 tag;     /* STEP_PACKET, STEP_EGRESS: CONGA */
	__u16 pad;
	__u32 bytes; /* STEP_SENT */
	__u32 pad2;
	struct probe_arrival probe;
	struct shim shim;          /* STEP_PACKET, STEP_EGRESS */
	struct cflb_fields fields; /* STEP_PACKET, if has_fields */
	/* STEP_HANDSHAKE */
	__u32 out_hash;
	__u8 options[STEP_OPTIONS]; /* struct tcp_options */
	__u8 options_length;
	__u8 tcp_flags;
	__u8 from_host; /* STEP_PACKET, too */
	__u8 has_fields;
	__u32 random; /* 32 uniform bits */
	/* Shuttle: STEP_PACKET, STEP_PROBE */
	struct port_load load[SWITCH_PORTS]; /* by port */
};

#define STEP_BEST 8

struct step_output {
	__u16 port;
	__u16 util;
	struct probe_result probe;
	struct shim shim; /* STEP_PACKET, STEP_EGRESS */
	struct cflb_decision decision;
	/* After STEP_PROBE: the next hops known, in the order of the tables: best first, but for Shuttle. */
	__u32 best_count;
	__u16 best_port[STEP_BEST];
	__u16 best_util[STEP_BEST];
	__u32 has_decision;
	__u16 tag; /* STEP_PACKET: CONGA */
	__u16 pad[3];
};
