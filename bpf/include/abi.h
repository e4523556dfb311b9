/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/* Types and constants that the balancer's programs share with their loader. Rust's types are generated from this file.
 *
 * Ports are in network order. Every number but addresses and ports is in the machine's order. Times are ticks of 2^24
 * ns (16.8 ms), which start anywhere and wrap within two years. 0 and SEEN_BUSY are no times. */
#pragma once

#include <linux/types.h>

#include "include/address.h"
#include "include/count.h"

/* Grows when a pinned map of an older daemon could not be read by this one. */
#define HEDDLE_ABI 12

#define TICK_SHIFT 24
#define BUCKET_ENTRIES 4
#define MAGLEV_SIZE 65537
#define MAGLEV_STRIDE 65538 /* slots from one Maglev table in `maglev` to the next: whole pairs */
#define RING_SHIFT 20
#define RING_SIZE (1 << (32 - RING_SHIFT))
#define NO_TARGET 0
#define STAMP_SHIFT 6 /* ticks of a stamp in a Maglev table, as a power of two: one second */
#define COUNTERS 128

/* ---- services ---- */

enum vip_kind {
	VIP_NONE,
	VIP_SERVICE,  /* flows are spread over backends by the table `table` */
	VIP_DIRECT,   /* everything goes to `target`: a backend's own address (mptcp = "c-flag") */
	VIP_ADDRESS,  /* port 0, protocol 0: some service has this address, for fragments, ICMP and ports without a service */
	VIP_STEERING, /* this balancer's own address: what the other balancers send */
};

enum mptcp_mode {
	MPTCP_OFF,
	MPTCP_SOURCE_IP,
	MPTCP_LEARN,
	MPTCP_ASSIGN,
};

/* VIP_ADDRESS: the operator's choices for packets to the address that are for none of its services; without one they
 * are passed. */
#define DROPS_UNPARSABLE 0x01 /* that cannot be read up to their ports */
#define DROPS_CLOSED 0x02     /* to a port without a service */
#define REFUSES_CLOSED 0x04   /* the same, answered as by a host where nothing listens */
#define DROPS_ECHO 0x08       /* ICMP echo requests */
#define ANSWERS_ECHO 0x10

/* VIP_SERVICE: the connection ids of QUIC that name its backends (bpf/common/quic.h). */
#define QUIC_SERVER_ID_BYTES 0x0f /* the length of a server id: 1 to 15; 0: connection ids are not looked at */
#define QUIC_ROTATION_SHIFT 4     /* and above it the config rotation, 0 to 6 */

/* VIP_SERVICE, VIP_DIRECT: what is asked about a packet's source. */
#define ACCESS_FILTERED 0x01 /* whether it is allowed: `access_rules` */
#define ACCESS_LIMITED 0x02  /* how many connections it has opened in this second: `access_limits` */

struct vip_key {
	struct address address;
	__be16 port;
	__u8 protocol;
	__u8 pad;
	__u32 pad2;
};

struct vip {
	__u16 id;           /* from 1; names the service in flows, tokens and counters */
	__u8 kind;          /* enum vip_kind */
	__u8 mode;          /* enum mptcp_mode */
	__u32 table;        /* first slot of its Maglev table in `maglev` */
	__u16 target;       /* VIP_DIRECT */
	__u8 choices;       /* VIP_ADDRESS: DROPS_UNPARSABLE and the others; VIP_SERVICE: QUIC_SERVER_ID_BYTES and the rotation */
	__u8 several_ports; /* VIP_SERVICE: true: this is one of the service's ports, */
	__u16 group; /* the id of the service under which tokens are stored of all services that have the same backends; 0: none has */
	__be16 first_port; /* and this one stands for all of them in hashes: the first one, or 0 */
	__u8 access;       /* VIP_SERVICE, VIP_DIRECT: ACCESS_FILTERED and ACCESS_LIMITED; 0: open to all */
	__u8 pad;
	__u16 pad2;
};

/* Two slots of a Maglev table: an array has an entry for every 8 bytes, whatever its values take. */
struct maglev_pair {
	__u32 words[2];
};

/* A backend's name in connection ids of QUIC. */
struct quic_server {
	__u64 server_id[2]; /* in network order, from its first byte on; zeros behind it */
	__u16 vip;
	__u8 rotation;
	__u8 length; /* of the server id, in bytes */
	__u32 pad;
};

/* ---- access by source ---- */

enum access_rule {
	ACCESS_NONE,
	ACCESS_ALLOW,
	ACCESS_DENY,
};

/* A service and an address, as of a packet. */
struct access_source {
	__u16 vip;
	__u16 pad;
	__u8 address[16];
};

/* A key of a longest-prefix match: the service whole, then the first bits of the address. */
struct access_prefix {
	__u32 bits; /* ACCESS_SERVICE_BITS more than the address's */
	struct access_source source;
};
#define ACCESS_SERVICE_BITS 32

/* Connections that were opened in a second of TOUCH ticks. */
struct connection_count {
	__u32 second;
	__u32 connections;
};

/* The connections that a service's clients may open in a second at this balancer; 0: any number. */
struct access_limit {
	__u32 service;
	__u32 source;   /* the same from one source prefix, */
	__u8 ipv4_bits; /* of so many bits: 97 to 128, as of a mapped address, */
	__u8 ipv6_bits; /* or 1 to 128 */
	__u16 pad;
	struct connection_count opened; /* by all; the program writes it */
};

/* Whose connections are counted: a source prefix, zeros behind it. */
struct connection_source {
	struct address prefix;
	__u16 vip;
	__u16 pad;
	__u32 pad2;
};

/* ---- targets of packets: backends, and the other balancers ---- */

enum target_state {
	TARGET_NONE,
	TARGET_UP = 1,   /* also while it drains: then no table names it, and its flows and tokens stay */
	TARGET_DOWN = 2, /* its flows are hashed anew */
	/* Its checks have failed lately, which may be wrong: its flows, tokens and tables stay, and new connections go
	 * elsewhere. */
	TARGET_FAILING = 3,
	/* No service has it any more, or it has drained for long: its connections and tokens stay until they end,
	 * datagrams leave it, and nothing begins there. */
	TARGET_REMOVED = 5,
};

/* The bit that tells whether a target keeps its flows, and the one that tells that it is removed. */
#define TARGET_KEEPS_FLOWS 1
#define TARGET_IS_REMOVED 4

enum forwarding {
	FORWARD_L2, /* the destination's MAC address is rewritten */
	FORWARD_IPIP,
	FORWARD_GUE,      /* variant 1: the inner packet follows UDP at once */
	FORWARD_STEERING, /* another balancer */
};

struct target {
	struct address address; /* outer destination */
	__u32 id;               /* the name that all balancers use for it */
	__u32 ifindex;          /* out of this interface; the one that the packet came by: sent back */
	__u8 mac[6];            /* of the next hop */
	__u8 source_mac[6];
	__u16 mtu;       /* of the path to it, in bytes of IP; 0: not checked */
	__u8 state;      /* enum target_state */
	__u8 forwarding; /* enum forwarding */
	__u16 vlan;      /* the 802.1Q VLAN id of frames to it; 0: they have no tag */
	__u16 pad;
	__u32 pad2;
};

/* Signs of whether a target answers handshakes, by its index. The balancer sees no answer, but what clients send behind
 * it. */
struct target_signs {
	__u32 answered;    /* tick: a handshake went on; 0: none did */
	__u32 silent;      /* tick: a SYN came again; 0: none did */
	__u32 repeated;    /* such SYNs since the last handshake that went on */
	__u32 unexplained; /* of NO_TARGET: tick of the last flow without a token whose backend neither hash nor stamp explains */
	__u32 crowded;     /* of NO_TARGET: tick of the last flow that found no free place in its buckets */
};

/* A target seems dead when so many SYNs came again and no handshake went on in between, for so many ticks (2 s) behind
 * the last. */
#define SILENT_SYNS 3
#define SILENT_TIME 120
#define REPETITION 30      /* ticks (0.5 s) between a SYN and its repetition, at least: senders wait for 1 s (RFC 6298, 2.1) */
#define REPEATED_TWICE 120 /* ticks (2 s) from a SYN to its second repetition, at least: it comes after 3 s */

/* ---- the flow table: 5-tuple to target ---- */

enum flow_state {
	FLOW_FREE,
	FLOW_NEW, /* one packet seen */
	FLOW_LEARNING, /* SYN with MP_CAPABLE seen: packets are searched for keys; it has a token: the keys were seen, the token is registered */
	FLOW_JOINING, /* SYN with MP_JOIN seen */
	FLOW_ESTABLISHED,
	FLOW_CLOSING,          /* FIN or RST seen; the hash gives the target */
	FLOW_UDP,              /* two datagrams seen, or more */
	FLOW_CLOSING_STATEFUL, /* the same; the entry alone gives target or token: kept as an established flow, but gives way first */
};
#define FLOW_STATE_MASK 0x07
#define FLOW_FRESH 0x08         /* ESTABLISHED, UDP: of little age, and the hash gives the target: gives way early */
#define FLOW_TOKEN_PENDING 0x10 /* the next packet goes through the two balancers of the token's slot */
#define FLOW_OWNER_PENDING 0x20 /* the next packet goes through the two balancers of the flow's slot */
#define FLOW_KEYS_SECOND 0x40   /* LEARNING only: keys that come again go through the second balancer of their slot alone */
#define FLOW_GOES_ON 0x20       /* NEW, LEARNING only: more than SYNs was seen, so that no SYN opens anything in its place */
#define FLOW_NUMBERED 0x40      /* JOINING only: `epoch` is of its SYN's number; entries of older programs have a ring's there */
#define FLOW_UNSEEN 0x10        /* LEARNING only: another balancer told of the SYN, and no packet of the flow came here */
#define FLOW_TOLD 0x40          /* CLOSING_STATEFUL only: another balancer told of the end, and does so again at each refresh */
#define FLOW_CONTESTED 0x80     /* a SYN with MPTCP came since: there may be a candidate for the entry */

struct flow_key {
	struct address client;
	__be16 port;
	__u16 vip;
};

struct flow {
	struct address client;
	__be16 port;
	__u16 vip;
	__u32 token; /* 0: none known */
	__u16 target;
	__u8 state; /* enum flow_state and FLOW_* flags */
	__u8 epoch; /* of the ring, when it was last registered; FLOW_LEARNING, FLOW_NUMBERED, and FLOW_NEW of TCP: upper
		     * byte of the sequence number with which it opened */
	__u32 seen; /* tick; 0: free, SEEN_BUSY: being written */
};
#define SEEN_BUSY 0xffffffff
#define TOUCH 60 /* ticks (1 s): age of `seen` from which a packet renews it */

struct flow_bucket {
	struct flow flows[BUCKET_ENTRIES];
};

enum candidate_kind {
	CANDIDATE_CAPABLE = 1, /* its SYN had MP_CAPABLE: its keys will tell */
	CANDIDATE_JOIN,        /* its SYN had MP_JOIN: its ACK will tell */
	CANDIDATE_KEYS,        /* its SYN went to another balancer: its keys came, and the next packet will tell */
	CANDIDATE_PLAIN,       /* its SYN had neither */
};

/* A new handshake with the addresses and ports of a live flow. It takes the flow's entry over when it goes on. */
struct candidate {
	__u32 token;    /* CANDIDATE_JOIN: names the connection that it joins; CANDIDATE_KEYS: of the keys */
	__u32 sequence; /* of its SYN; of a SYN without data before its keys */
	__u32 reached;  /* bytes behind that: the furthest start of one of its packets */
	__u32 seen;     /* tick of its SYN */
	__u16 target;
	__u8 kind;  /* enum candidate_kind */
	__u8 marks; /* CANDIDATE_FOLLOWED, CANDIDATE_TOLD */
};
#define CANDIDATE_FOLLOWED 0x1 /* a packet behind its SYN came */
#define CANDIDATE_TOLD 0x2     /* its SYN came to another balancer, and what follows that may, too */

/* ---- the token table: token to backend ---- */

enum token_state {
	TOKEN_FREE,
	TOKEN_PROVISIONAL, /* keys seen once, behind their SYN: gives way to others, and expires soon */
	TOKEN_CONFIRMED,   /* its connection went on after the keys */
	TOKEN_UNOPENED,    /* as provisional, but no balancer saw a SYN of the keys: joins do not match it */
};

struct token_entry {
	__u32 token;
	__u16 vip;
	__u16 target;
	__u8 state;      /* enum token_state */
	__u8 joins;      /* since the last refresh */
	__u8 settled;    /* true: confirmed again, a second later */
	__u8 generation; /* differs with each change */
	__u32 seen;
};

struct token_bucket {
	struct token_entry tokens[BUCKET_ENTRIES];
};

/* Joins of one token from one address. */
struct join_source {
	struct address source;
	__u32 token;
	__u16 vip;
	__u16 pad;
};

struct join_count {
	__u32 since; /* tick of the first one */
	__u32 joins;
};

/* ---- fragments: the target of the first one, for the others ---- */

struct fragment_key {
	struct address source;
	struct address destination;
	__u32 id;
	__u32 protocol;
};

/* Places of packets' first fragments: bpf/balancer/fragment_table.h. */
#define FRAGMENT_WAYS 4

struct fragment_bucket {
	__u64 fragments[FRAGMENT_WAYS];
};

/* A later fragment whose first one is not known yet, in the ring `waiting`. */
#define WAITING_FRAME 2048
struct waiting_fragment {
	__u32 length; /* of the frame, from its Ethernet header on */
	__u32 pad;
	__u8 frame[WAITING_FRAME];
};
#define WAITING_BYTES (1 << 19) /* of the ring: some 250 fragments */
#define LOOPBACK 1              /* the interface by which a fragment that has waited comes once more */

/* ---- keys that the balancer chose (mptcp = "assign") ---- */

struct assigned_key {
	__u8 key[8];
	__u32 token;
	__u32 seen;
};

/* ---- settings ---- */

struct limit {
	__u32 per_tick; /* events that each tick adds; 0: no limit */
	__u32 burst;
};

/* An Ethernet address in the lower 48 bits, its first byte lowest, flags, and from MAC_VLAN_SHIFT on the VLAN of frames
 * to it; 0: with any tag, or none. */
#define MACS 16
#define MAC_BITS 0xffffffffffffULL
#define MAC_RECEIVED (1ULL << 48) /* frames to it are for this machine */
#define MAC_SENT (1ULL << 49)     /* no other machine sends frames from it */
#define MAC_VLAN_SHIFT 52

struct settings {
	__u64 seed[2];             /* of the flow and token tables; secret, this balancer's own */
	__u64 maglev_seed;         /* the same on all balancers */
	__u64 steering_keys[2][2]; /* of the steering headers' tags, secret: the first signs, both are accepted; zero: none */
	struct address own4;       /* source of what this balancer sends; zero: none */
	struct address own6;
	__be16 steering_port;
	__be16 gue_port;
	__u8 epoch;             /* of ring and tables: a change makes flows register anew */
	__u8 peers;             /* true: there are other balancers */
	__u8 most_joins;        /* of one token between two refreshes; 0: no limit */
	__u8 most_source_joins; /* of those from one address; 0: no limit */
	__u32 syn_timeout;      /* ticks, all of them */
	__u32 flow_timeout;
	__u32 closing_timeout;
	__u32 udp_timeout;
	__u32 provisional_timeout;
	__u32 token_timeout;
	__u32 refresh;         /* a flow with a token registers again after that long */
	__u32 learning;        /* time for which packets without keys are searched */
	struct limit learn;    /* tokens from flows that were never seen to open, per processor */
	struct limit query;    /* queries to owners of unknown flows, per processor */
	struct limit errors;   /* ICMP errors to clients, per processor (RFC 1812, 4.3.2.8; RFC 4443, 2.4 f) */
	__u32 fingerprint;     /* of seed, services and backends: sent with heartbeats, so that a balancer with others is seen */
	__u32 heartbeat;       /* ticks of silence after which another balancer is suspect; 0: there are no heartbeats */
	__u64 service_bits;    /* those of the services' addresses (source_bit in balancer/invalid.h) */
	__u64 macs[MACS];      /* this machine's, up to the first 0; none: frames' addresses are not compared */
	__u8 tables_changed;   /* true: a slot of the Maglev tables changed lately; sent with answers to heartbeats */
	__u8 ask_always;       /* true: another balancer may have placed flows where nothing here explains it */
	__u8 closes_ports;     /* true: an address of a service has DROPS_CLOSED or REFUSES_CLOSED */
	__u8 forwards_invalid; /* true: what no host sends is not dropped (balancer/invalid.h) */
	__u32 now;             /* the time, where the program was loaded with a clock of its own */
	__u32 abi;
};

/* ---- counters: per service (0: of none) and processor ---- */

/* Each packet has one verdict; the other counters are events in its processing. */
enum counter {
	/* passed to this machine's own stack */
	PASS_NOT_IP,     /* neither IPv4 nor IPv6 */
	PASS_PROTOCOL,   /* none of TCP, UDP and ICMP */
	PASS_TAGS,       /* more VLAN tags than one, or one that is not 802.1Q's */
	PASS_EXTENSIONS, /* more IPv6 extension headers than the parser walks */
	PASS_MALFORMED,  /* headers that fit neither the frame nor each other, or an IPv4-mapped address in IPv6 */
	PASS_NO_VIP,
	PASS_OTHER_HOST, /* for a service, but the frame was for another machine */
	PASS_ICMP,
	/* sent to a backend */
	SENT_FLOW,         /* the flow table has its 5-tuple */
	SENT_SYN,          /* SYN without MPTCP, by hash */
	SENT_CAPABLE,      /* SYN with MP_CAPABLE, by hash */
	SENT_MISS,         /* neither SYN nor known flow, by hash */
	SENT_JOIN,         /* SYN with MP_JOIN, by its token */
	SENT_JOIN_UNKNOWN, /* SYN with MP_JOIN of a token in no balancer's table, by hash */
	SENT_KEYS,         /* with keys whose token this balancer owns */
	SENT_RETURNED,     /* came back from a balancer that does not know its backend: not registered there */
	SENT_FOR_PEER,     /* from another balancer, after its token or flow was registered here */
	SENT_UDP,          /* first packet of a UDP flow, by hash */
	SENT_QUIC,         /* its connection id names the backend */
	SENT_DIRECT,
	SENT_FRAGMENT,
	SENT_ICMP, /* an error about a flow, to the flow's backend */
	/* sent to another balancer */
	QUERIED_JOIN,
	QUERIED_FLOW,
	STEERED_KEYS, /* to register a token with its owner */
	STEERED_FLOW, /* to register a flow with its owner */
	STEERED_JOIN, /* SYN with MP_JOIN, by its token, to register the flow with its owner */
	STEERED_FRAGMENT,
	STEERED_FORWARD, /* assign: a join's packets, always through the token's owner */
	REPLIED,         /* a query: back to the balancer that asked */
	RETURNED,        /* a registration of a backend that is not known here: back to the balancer that sent it */
	HEARTBEAT_ANSWERED,
	/* sent back to the client */
	TOO_BIG,        /* longer than the MTU to the backend: answered by ICMP, within limits */
	REFUSED_CLOSED, /* to a port without a service: answered by a TCP reset or ICMP, within limits */
	ANSWERED_ECHO,
	/* dropped */
	DROP_UNPARSABLE, /* as PASS_PROTOCOL, PASS_EXTENSIONS and PASS_MALFORMED, for a service that does not pass such packets */
	DROP_CLOSED,     /* to a port without a service, at an address that passes no such packets */
	DROP_ECHO,       /* ICMP echo request to an address that passes none */
	DROP_LOOP,       /* this machine has sent the frame itself */
	DROP_MALFORMED,
	DROP_NO_BACKEND,
	DROP_UNAUTHENTICATED, /* steering header from an address that is not a balancer's, or with a wrong tag */
	DROP_HOPS,            /* TTL or hop limit 0 */
	DROP_CHECKSUM,        /* wrong checksum of the IPv4 header */
	DROP_FLAGS,           /* TCP: SYN with FIN or RST, or no flag at all */
	DROP_SOURCE,          /* a source that no host has, or that is a service's address */
	DROP_ROUTE,           /* IPv4 source route, or IPv6 routing header 0 with segments left */
	DROP_DENIED,          /* its source may not use the service */
	DROP_SOURCE_RATE,     /* it opens a connection beyond its source's limit */
	DROP_SERVICE_RATE,    /* beyond the service's limit */
	DROP_FRAGMENT,        /* later fragment without a stored first one */
	DROP_FAILED,          /* no headroom for the outer header, or no key found */
	HEARTBEAT_HEARD,      /* the answer to this balancer's own: its content is in `peer_states` */
	FRAGMENT_WAITS,       /* later fragment without a stored first one: in `waiting`, from where it comes once more */
	FRAGMENT_HEARD,       /* another balancer's answer about a packet whose fragments wait here */
	VERDICTS,

	/* events */
	FLOW_ADDED = VERDICTS,
	FLOW_FULL,          /* no entry is free or may be evicted: not stored */
	FLOW_EVICTED,       /* a live entry was replaced by a new flow's */
	FLOW_REHASHED,      /* its target is down: hashed anew */
	FLOW_KEPT,          /* SYN for a live flow, which keeps its target */
	CANDIDATE_ADDED,    /* SYN with MPTCP for a live flow: stored as a candidate for its entry */
	CANDIDATE_ACCEPTED, /* the candidate's handshake goes on: the entry is its own */
	TOKEN_ADDED,
	TOKEN_FULL,
	TOKEN_EVICTED,
	TOKEN_COLLISION, /* the token is another backend's: not stored */
	TOKEN_CONFIRMS,
	TOKEN_REFRESHED,
	TOKEN_ZERO, /* key whose token is 0, the value for none: not learnt */
	LEARN_LIMITED,
	QUERY_LIMITED,
	JOINS_LIMITED,
	OPTIONS_MALFORMED,
	STEER_TOO_BIG, /* no room for a steering header within the MTU: sent without */
	REPLY_UNKNOWN, /* query for a token or flow that is not in the tables */
	KEY_READY,     /* assign: taken from the queue */
	KEY_GENERATED, /* assign: made on demand */
	KEY_REPEATED,  /* assign: a repeated SYN got its key again */
	KEY_NO_ROOM,   /* assign: no room for a key in the SYN's options or the MTU: sent without */
	ALL_COUNTERS,
};
_Static_assert(ALL_COUNTERS <= COUNTERS, "counters fit");

/* ---- between balancers: UDP to the steering port, this header, then the client's packet from its IP header on ---- */

#define STEERING_VERSION 2

enum steering_kind {
	STEER_TOKEN_QUERY = 1, /* asks for the backend of a token */
	STEER_FLOW_QUERY,      /* asks for the backend of a flow */
	STEER_REPLY,           /* `backend` has it; 0: not known */
	STEER_REGISTER,        /* `backend` has this token: remember, and send the packet there */
	STEER_CONFIRM,         /* as STEER_REGISTER, and its connection is alive */
	STEER_REGISTER_FLOW,   /* `backend` has this flow: remember, and send the packet there */
	STEER_FRAGMENT,        /* `backend` has this first fragment; 0: a later one */
	STEER_FORWARD,         /* treat it as your own (assign) */
	STEER_HEARTBEAT,       /* `token` is a number, `backend` the sender's fingerprint; no packet follows */
	STEER_HEARTBEAT_REPLY, /* the same number, and the answering balancer's fingerprint */
	STEER_FRAGMENT_QUERY,  /* asks for the backend of this packet's fragments: the head of one of them follows */
};

/* The places of a slot's entries (maps.h, `ring`). */
#define ASKED_FIRST 0x01
#define ASKED_SECOND 0x02
#define ASKED_FORMER 0x04
/* Of a reply about a flow: what the asker knows was seen later than what this says. */
#define ANSWER_OLDER 0x08
/* Ticks (67 ms): what two balancers saw less than that apart has no order. */
#define SAME_TIME 4

/* The balancers at which the receiver of a registration makes it. */
enum registration_reach {
	REGISTER_FURTHER, /* at itself, and at the other one of its slot */
	REGISTER_ONCE,
};

/* All in network order. */
struct steering {
	__u8 version;
	__u8 kind;
	__u8 query; /* of STEER_REPLY: the kind that it answers; of STEER_FRAGMENT: 1: of a flow that is in the flow table and has gone on; of STEER_REGISTER_FLOW: 1: the flow has ended; of STEER_REGISTER: 1: no balancer has seen a SYN before the keys */
	__u8 asked; /* of queries and the replies to them: ASKED_* of the balancers asked so far, ANSWER_OLDER; of registrations: registration_reach; of answers to heartbeats: TABLES_CHANGED, FLOWS_UNEXPLAINED */
	__u8 token[4];
	__u8 backend[4]; /* target.id; of STEER_FLOW_QUERY: ticks since the asker saw the flow that it knows, 0: it knows none */
	__u8 tag[8];     /* proves that the sender has the cluster's key (balancer/tag.h) */
};

/* ---- what is known of another balancer, by its target ---- */

struct peer_state {
	__u64 heard;       /* ns of CLOCK_MONOTONIC: its last answer to a heartbeat */
	__u32 sequence;    /* that answer's number */
	__u32 fingerprint; /* of its last heartbeat or answer */
	__u32 tick;        /* of its last message of any kind; 0: none */
	__u32 refused;     /* messages from its address with a wrong tag */
	__u32 changes;     /* of its last answer: TABLES_CHANGED, FLOWS_UNEXPLAINED */
	__u32 pad;
};
#define TABLES_CHANGED 0x1    /* a slot of its Maglev tables changed lately */
#define FLOWS_UNEXPLAINED 0x2 /* it knows flows whose backends neither hash nor stamps explain */

/* ---- explain: the decision of a program that was loaded for dry runs ---- */

struct trace {
	__u64 counters[COUNTERS / 64]; /* bit n % 64 of word n / 64: enum counter n */
	__u32 token;
	__u16 vip;
	__u16 target;
	__u16 owner;     /* the balancer asked; 0: this one */
	__u8 flow_state; /* as found */
	__u8 mode;
	__u32 pad;
};
