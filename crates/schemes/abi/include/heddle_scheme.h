/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A load-balancing scheme in a shared library, for Heddle's simulator.
 *
 * The library exports heddle_scheme(), which returns a table of functions. A scenario names it:
 *
 *     [scheme]
 *     kind = "external"
 *     library = "libmine.so"
 *     parameters = { flowlet_gap = "100us" }
 *
 * Rules. Functions have no clock, no I/O and no random generator: time, random bits and the switch's ports are
 * arguments, so that a seed gives the same run each time. Runs are on several threads at once, each with its own
 * configuration and switches: functions write to no memory but that of their arguments and their own state. Pointers in
 * arguments hold for the call alone. A function must return: no exception and no panic passes it.
 */
#ifndef HEDDLE_SCHEME_H
#define HEDDLE_SCHEME_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Version of this interface. A library of another version is refused. */
#define HEDDLE_SCHEME_ABI 1

/* Time and random bits of a step. */
struct heddle_step {
	uint64_t now;    /* by the switch's clock, in nanoseconds */
	uint32_t random; /* uniform, under HEDDLE_NEEDS_RANDOM; otherwise 0 */
};

/* A switch, from the control plane. */
struct heddle_switch {
	uint32_t salt;           /* for this switch's hashes */
	int32_t tor;             /* its number if it is a ToR, otherwise -1 */
	uint16_t ports;          /* number of ports, those to hosts included */
	uint16_t tors;           /* number of ToRs in the fabric */
	const uint8_t *same_pod; /* for each ToR, 1 if it is in this switch's pod; NULL in a fabric without pods */
};

/* Fields of a data packet. */
struct heddle_packet {
	uint32_t flow_hash;  /* of the 5-tuple, the same at every switch */
	uint16_t src_tor;    /* of the sending host */
	uint16_t dst_tor;    /* of the receiving host */
	uint16_t tag;        /* overlay header, which the scheme may write; 0 from a host */
	uint8_t from_host;   /* 1 from a host of this ToR, 0 from another switch */
	uint8_t subflow;     /* in MP-HULA's shim, 1 to 16; 0: no shim. Written under HEDDLE_USES_SHIM */
	uint64_t connection; /* in the shim. Written under HEDDLE_USES_SHIM */
};

struct heddle_probe {
	uint16_t tor;  /* that originated it */
	uint16_t util; /* the scheme's own figure */
};

struct heddle_probe_arrival {
	uint16_t port; /* ingress */
	struct heddle_probe probe;
	uint8_t is_next_hop; /* 0: no packet for the probe's ToR may leave by this port */
};

/* A TCP packet with SYN, FIN, RST or an MPTCP handshake option, at a ToR of either end. */
struct heddle_handshake {
	uint32_t out_hash; /* of the 5-tuple in the direction from the ToR's host */
	uint8_t from_host; /* 1 from the ToR's host, 0 to it */
	uint8_t flags;     /* byte 13 of the TCP header */
	uint16_t options_size;
	const uint8_t *options; /* the option area of the TCP header */
};

/* A switch's own ports; the functions' first argument is context. A port beyond the switch's reads 0. */
struct heddle_ports {
	void *context;
	uint16_t (*tx_util)(void *context, uint16_t port); /* of 65536, under HEDDLE_NEEDS_UTILISATION */
	uint32_t (*queue_bytes)(void *context, uint16_t port);
	uint8_t (*is_up)(void *context, uint16_t port);
};

/* A parameter: nanoseconds, bytes or bits per second if the scenario has a quantity; 0 or 1 for false or true. */
struct heddle_parameter {
	const char *name;
	uint64_t value;
};

#define HEDDLE_ERROR_SIZE 256

/* Results of configure. All is 0 before. */
struct heddle_setup {
	void *config;          /* for create and release */
	uint64_t tau;          /* of the utilisation estimator, ns, rounded up to a power of two; under HEDDLE_NEEDS_UTILISATION */
	uint64_t probe_period; /* between two probes of a ToR, ns; 0 without probes */
	char error[HEDDLE_ERROR_SIZE];
};

/* Events that a scheme counts, summed over switches in the results of a run. */
struct heddle_counters {
	uint64_t flowlets;  /* started */
	uint64_t moves;     /* flowlets on another port than the previous one in their slot */
	uint64_t fallbacks; /* flowlets by the ECMP hash, since no best hop was usable */
	uint64_t probes;    /* received */
	uint64_t shims;     /* added */
	uint64_t shared;    /* flowlets on the hop of another subflow of their connection */
	uint64_t connections;
	uint64_t joins;
	uint64_t unknown_tokens;
	uint64_t token_collisions;
	uint64_t table_collisions;
	uint64_t wraps;
};

#define HEDDLE_NEEDS_RANDOM 1u
#define HEDDLE_NEEDS_UTILISATION 2u
#define HEDDLE_USES_SHIM 4u

/* The functions of a scheme. Those that are marked (null) may be NULL. */
struct heddle_scheme {
	uint32_t abi;   /* HEDDLE_SCHEME_ABI */
	uint32_t needs; /* HEDDLE_NEEDS_RANDOM and its like */
	const char *name;
	/* (null: no parameters) Once for each run. Not 0: setup->error says why the parameters are refused. */
	int32_t (*configure)(const struct heddle_scheme *scheme, const struct heddle_parameter *parameters, size_t count,
			     struct heddle_setup *setup);
	void (*release)(void *config); /* (null) */
	/* A switch with empty tables. */
	void *(*create)(void *config, const struct heddle_switch *info);
	void (*destroy)(void *state);
	/* One of next_hops, of which there is at least one, for a data packet to another ToR. */
	uint16_t (*forward)(void *state, const struct heddle_step *step, struct heddle_packet *packet, const uint16_t *next_hops,
			    size_t count, const struct heddle_ports *ports);
	/* (null) At a ToR, before the packet itself. */
	void (*handshake)(void *state, const struct heddle_step *step, const struct heddle_handshake *packet);
	/* (null) A data packet from the fabric at its destination ToR. */
	void (*egress)(void *state, const struct heddle_step *step, struct heddle_packet *packet);
	/* (null) 1: probe is what a ToR sends on each uplink; 0: nothing is sent. */
	uint8_t (*originate)(void *state, const struct heddle_step *step, struct heddle_probe *probe);
	/* (null) A received probe. 1: forwarded is what to replicate; 0: it is dropped. */
	uint8_t (*probe)(void *state, const struct heddle_step *step, const struct heddle_probe_arrival *arrival,
			 const struct heddle_ports *ports, struct heddle_probe *forwarded);
	uint64_t (*state_bytes)(void *state);                               /* (null) that this switch would hold in its tables */
	void (*counters)(void *state, struct heddle_counters *counters); /* (null) */
};

/* The library's scheme. */
const struct heddle_scheme *heddle_scheme(void);

#ifdef __cplusplus
}
#endif

#endif
