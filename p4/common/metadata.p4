/* SPDX-License-Identifier: Apache-2.0 */
/* A packet's way through the switch, and the sizes of tables. `scheme_t` is the scheme's own part. */

#ifndef SWITCH_TORS
#define SWITCH_TORS 1024
#endif

#define SWITCH_PORTS 64 /* a set of ports is a word */

/* The far end of a port. */
typedef bit<8> role_t;
const role_t ROLE_NONE = 0; /* not configured */
const role_t ROLE_HOST = 1;
const role_t ROLE_UP = 2;   /* a switch of a higher tier */
const role_t ROLE_DOWN = 3; /* a switch of a lower or the same tier */
const role_t ROLE_CPU = 4;  /* the control plane, whose frames are due probes */

/* Each packet has one verdict. */
typedef bit<8> verdict_t;
const verdict_t FORWARDED = 0; /* to another switch */
const verdict_t DELIVERED = 1; /* to a host of this ToR */
const verdict_t PROBE_TAKEN = 2; /* a probe that went no further */
const verdict_t PROBE_FORWARDED = 3;
const verdict_t PROBE_SENT = 4; /* a probe of this ToR */
const verdict_t DROPPED_NO_ROUTE = 5;
const verdict_t DROPPED_TTL = 6;
const verdict_t DROPPED_MALFORMED = 7;
const verdict_t DROPPED_NOT_IP = 8; /* ARP and the like, which hosts and control plane settle without the switch */
const verdict_t DROPPED_HOST_PROBE = 9;
const verdict_t DROPPED_HOST_SHIM = 10;
const verdict_t DROPPED_BAD_PROBE = 11;
const verdict_t DROPPED_BAD_SHIM = 12;
const verdict_t DROPPED_NO_PORT = 13; /* it came by a port that is not configured */
const verdict_t OBSERVED = 14; /* read, not forwarded: a copy with tokens from the control plane; handshakes in the test build */
const verdict_t ASKED = 15; /* a join that waits for tokens on their way from the control plane: it comes back, and has another verdict then */
const verdict_t DROPPED_TOO_BIG = 16; /* longer than the MTU of its port, with its shim */
#define VERDICTS 17

/* Counters of the schemes, as in bpf/switch/abi.h. */
const bit<32> COUNT_FLOWLETS = 0;
const bit<32> COUNT_MOVES = 1;
const bit<32> COUNT_FALLBACKS = 2;
const bit<32> COUNT_PROBES = 3;
const bit<32> COUNT_SHIMS = 4;
const bit<32> COUNT_SHARED = 5;
const bit<32> COUNT_CONTROLLED = 6;
const bit<32> COUNT_HASHED = 7;
const bit<32> COUNT_CONNECTIONS = 8;
const bit<32> COUNT_JOINS = 9;
const bit<32> COUNT_UNKNOWN_TOKENS = 10;
const bit<32> COUNT_TOKEN_COLLISIONS = 11;
const bit<32> COUNT_TABLE_COLLISIONS = 12;
const bit<32> COUNT_WRAPS = 13;
#define COUNTS 16

/* The option of MPTCP that a packet carries. */
typedef bit<8> mptcp_t;
const mptcp_t MPTCP_NONE = 0;
const mptcp_t MPTCP_CAPABLE = 1;
const mptcp_t MPTCP_JOIN_SYN = 2; /* MP_JOIN with a token */
const mptcp_t MPTCP_JOIN = 3;     /* MP_JOIN in another form */

#ifndef COPIED
#define COPIED /* fields that a copy of the packet has, too */
#endif

struct metadata_t {
    bit<64> now; /* ns */
    verdict_t verdict;
    /* The switch */
    bit<32> salt; /* of its hashes; CFLB's router number */
    bit<24> tors; /* of the fabric */
    bit<24> own_tor;
    bit<1> is_tor;
    bit<64> up; /* bit i: port i is up */
    bit<8> tau; /* the estimators' tau is 2^tau ns */
    bit<16> controller; /* the CPU port; NO_PORT: none */
    bit<32> mtu; /* the least of all ports; of a longer packet that of its port */
    /* The port of arrival */
    COPIED bit<16> arrival;
    COPIED role_t role;
    bit<16> probe_group; /* multicast group of a probe that arrives here: never has the port itself */
    bit<96> inverse;     /* ceil(2^88 / bytes that the link carries in tau) */
    bit<16> link_util;   /* transmit utilisation, of 65536 */
    /* The packet */
    bit<1> shimmed; /* it arrived with a shim */
    bit<1> v6;
    bit<1> has_ports;
    bit<8> protocol;
    bit<8> ttl;
    bit<32> length; /* of IP, with the shim on departure */
    bit<32> flow_hash;
    bit<32> murmur; /* of Murmur */
    bit<32> word;  /* of MURMUR_WORD */
    bit<32> mixed; /* the flow's hash, mixed with the salt */
    bit<16> probe_util; /* of a probe on arrival, then on departure */
    bit<320> options;   /* the parser's: TCP options not yet read, the next byte in front */
    bit<8> options_left;
    mptcp_t mptcp;
    COPIED bit<8> mptcp_version;
    bit<8> mptcp_keys; /* 0 to 2 */
    COPIED bit<64> key_a;
    COPIED bit<64> key_b;
    bit<32> token;
    /* Its destination */
    bit<1> local; /* a host of this ToR */
    bit<24> tor;
    bit<64> hops;    /* set of the next hops' ports */
    bit<8> count;    /* of next hops */
    bit<16> group;   /* of next hops, in order: table members */
    bit<64> usable;  /* bit i: next hop number i is up */
    bit<8> index;    /* number of the next hop */
    bit<16> port;    /* of departure; NO_PORT: to be taken from `index` */
    scheme_t scheme;
}
