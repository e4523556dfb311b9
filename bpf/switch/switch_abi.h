/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/* Maps of the switch's programs that the daemon fills and reads. Numbers are in the machine's order, addresses and MAC
 * addresses as on the wire. */
#pragma once

#include <linux/types.h>

#include "include/address.h"
#include "switch/abi.h"

#define SWITCH_ABI 11 /* raised with each change of a pinned map's structure */
#define SWITCH_DESTINATIONS 65536
#define SWITCH_GROUPS 1024 /* sets of next hops; number 0 is none */
#define SWITCH_PREFIXES 16384
#define SWITCH_NO_TOR 0xffff
#define SWITCH_NO_PORT 0xffff
#define SWITCH_NEAR_INTERFACES 4096 /* numbers of interfaces that an array has, and no hash table */

#define ETHERTYPE_SHIM 0x88b5 /* IEEE Std 802: local experimental EtherTypes */
#define ETHERTYPE_PROBE 0x88b6
#define SHIM_BYTES 12

/* The far end of a port. */
enum switch_role {
	ROLE_HOST,
	ROLE_UP,   /* a switch of a higher tier */
	ROLE_DOWN, /* a switch of a lower or the same tier */
};

/* A port. Its number is the fabric's: that of Fabric::ports_of. */
struct switch_port {
	__u64 own_mac;     /* 6 bytes */
	__u64 peer_mac;    /* 6 bytes; 0: not known yet */
	__u64 probe_group; /* ports to which a probe that arrives here is replicated */
	__u64 full;        /* bytes that the link carries in tau */
	__u32 ifindex;     /* 0: the port has no device */
	__u32 mtu;         /* bytes of IP */
	__u8 role;         /* enum switch_role */
	__u8 learns;       /* the peer's MAC address is that of the last frame from there */
	__u8 own_sources;  /* packets from there have a source address of the host at this port, or are dropped */
	__u8 pad[5];
};

/* A key of a trie: the longest prefix of an address. */
struct address_prefix {
	__u32 bits; /* that count, of IPv4 as of a mapped address */
	__u8 address[16];
};

/* A host address, or the addresses of a prefix. */
struct switch_destination {
	__u16 tor;
	__u16 port; /* at this ToR, to the host; SWITCH_NO_PORT elsewhere, and where the kernel delivers */
	__u32 pad;
};

struct switch_config {
	__u64 up; /* bit i: port i is up */
	__u32 abi;
	__u32 salt;
	__u32 router; /* number of the switch, ToRs first: CFLB's */
	__u16 tors;
	__u16 tor;           /* this switch's number, SWITCH_NO_TOR if it is no ToR */
	__u32 dre_shift;     /* tau of the estimators is 2^dre_shift ns */
	__u32 scheme;        /* enum switch_scheme: the one that the tables are of */
	__u8 probe_protocol; /* IPv4's protocol number of probes; 0: none are behind IPv4 */
	__u8 kernel_routes;  /* destinations are those of `prefixes`, too; the kernel gets what goes no further here */
	__u8 pad[6];
	struct address answers_v4; /* source of ICMP "time exceeded"; zeros: none is sent */
	struct address answers_v6;
	struct mp_hula_config mp_hula; /* with HULA's in its front; and Shuttle's */
	struct conga_config conga;
};

/* Counters. Each frame that a port receives is in exactly one of the verdicts. */
enum switch_counter {
	FORWARDED,       /* to another switch */
	DELIVERED,       /* to a host of this ToR */
	PASSED,          /* to the machine's own stack: ARP, neighbour discovery, frames that are not IP */
	RECIRCULATED,    /* without its shim, to be delivered in a second pass */
	PROBE_TAKEN,     /* a probe that went no further */
	PROBE_FORWARDED, /* a probe that was replicated */
	ANSWERED,        /* too long with the shim: ICMP told the sender */
	TIME_EXCEEDED,   /* the TTL ended: ICMP told the sender */
	DROPPED_NO_ROUTE,
	DROPPED_TTL, /* the TTL ended, and no answer may be sent */
	DROPPED_MALFORMED,
	DROPPED_TOO_BIG,    /* longer than the MTU, and no answer may be sent */
	DROPPED_HOST_PROBE, /* a probe from a host */
	DROPPED_HOST_SHIM,  /* a shim from a host */
	DROPPED_BAD_PROBE,  /* a probe that is cut short or names no ToR */
	DROPPED_BAD_SHIM,   /* a shim that is cut short, or under a scheme without shims */
	DROPPED_SOURCE,     /* from a host, with a source address that is not its own */
	DROPPED_NO_PORT,    /* the port has no device */
	DROPPED_FAILED,     /* the kernel refused a change of the frame */
	SWITCH_VERDICTS,
	/* Events */
	UTIL_CLAMPED = SWITCH_VERDICTS, /* a probe said more than a link can have */
	GSO_WITHOUT_SHIM,               /* a segmentation super-packet that should have had a shim */
	CONTENDED,                      /* a probe or a handshake met another one in the tables, and was left out */
	HANDSHAKES,                     /* packets of handshakes and teardowns that a ToR has read */
	POSTCARDS_LOST,                 /* postcards for which the daemon has left no room */
	SWITCH_COUNTERS,
};

/* Counters of a port. */
enum port_counter {
	PORT_RECEIVED,
	PORT_SENT,
	PORT_COUNTERS,
};

/* A port's utilisation estimator, and its queue (Shuttle). */
struct port_meter {
	__u32 lock;
	__u32 queue; /* bytes that waited at `last`, the frame in transmission included */
	__u64 bytes;
	__u64 last;
};

/* A packet of a sample, at a switch that forwards it (postcard.h). */
struct postcard {
	__u64 at; /* ns of the monotonic clock */
	struct address source;
	struct address destination;
	__u32 packet; /* a hash: the same at all switches, and nearly always another one of another packet */
	__u32 queue;  /* bytes that wait at the port of departure, under Shuttle, which alone counts them */
	__u16 source_port;
	__u16 destination_port;
	__u16 from;   /* the port of arrival */
	__u16 to;     /* that of departure; SWITCH_NO_PORT: the kernel delivers */
	__u16 util;   /* its utilisation, of 65536; 0 of ports to hosts */
	__u16 length; /* bytes of IP */
	__u8 protocol;
	__u8 pad[3];
};
