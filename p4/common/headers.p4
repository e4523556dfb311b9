/* SPDX-License-Identifier: Apache-2.0 */
/* Headers on the wire: those of hosts, and Heddle's own (crates/shared/wire): MP-HULA's shim, HULA's probe. */

const bit<16> ETHERTYPE_IPV4 = 0x0800;
const bit<16> ETHERTYPE_VLAN = 0x8100;
const bit<16> ETHERTYPE_IPV6 = 0x86dd;
const bit<16> ETHERTYPE_SHIM = 0x88b5; /* IEEE Std 802: local experimental EtherTypes */
const bit<16> ETHERTYPE_PROBE = 0x88b6;

const bit<8> PROTOCOL_TCP = 6;
const bit<8> PROTOCOL_UDP = 17;

header ethernet_t {
    bit<48> destination;
    bit<48> source;
    bit<16> ether_type;
}

header vlan_t {
    bit<16> tag;
    bit<16> ether_type;
}

/* MP-HULA section 2.2: token A, token B, the subflow's number less one. */
header shim_t {
    bit<64> id;
    bit<4> subflow;
    bit<12> reserved;
    bit<16> ether_type;
}

const bit<32> SHIM_BYTES = 12;

/* HULA section 4.2: the ToR that sent it, and the utilisation of the best path to it. */
header probe_t {
    bit<24> tor;
    bit<8> util;
}

/* Of no registry: frames on the CPU port alone. */
const bit<16> ETHERTYPE_REPORT = 0x7402;
#ifdef EXTERNAL_TOKENS
const bit<16> ETHERTYPE_TOKENS = 0x7401;
#endif

/* In front of a packet that is dropped, on its way to the control plane, which tells the sender by ICMP. */
header report_t {
    bit<16> ether_type; /* of the packet */
    bit<32> mtu;        /* of the port that it is too long for; 0: its TTL has ended */
}

#ifdef EXTERNAL_TOKENS

/* In front of a packet of a handshake on its way to the control plane, which computes the tokens of its keys, and back. */
header tokens_t {
    bit<16> ether_type; /* of the packet */
    bit<16> arrival;    /* its port */
    bit<8> role;        /* and that port's */
    bit<8> task;        /* in which the tokens are needed */
    bit<8> version;     /* of MPTCP: 0 hashes by SHA-1, 1 by SHA-256 */
    bit<8> answered;    /* 1 on the way back */
    bit<64> key_a;
    bit<64> key_b;
    bit<32> token_a;
    bit<32> token_b;
}
#endif

header ipv4_t {
    bit<4> version;
    bit<4> ihl;
    bit<8> tos;
    bit<16> length;
    bit<16> identification;
    bit<1> reserved;
    bit<1> dont_fragment;
    bit<1> more_fragments;
    bit<13> offset;
    bit<8> ttl;
    bit<8> protocol;
    bit<16> checksum;
    bit<32> source;
    bit<32> destination;
}

header ipv4_options_t {
    varbit<320> options;
}

header ipv6_t {
    bit<4> version;
    bit<8> traffic_class;
    bit<20> flow_label;
    bit<16> length;
    bit<8> next;
    bit<8> hop_limit;
    bit<128> source;
    bit<128> destination;
}

header ports_t {
    bit<16> source;
    bit<16> destination;
}

/* TCP behind its ports. */
header tcp_t {
    bit<32> sequence;
    bit<32> acknowledgement;
    bit<4> offset;
    bit<4> reserved;
    bit<8> flags;
    bit<16> window;
    bit<16> checksum;
    bit<16> urgent;
}

/* Four bytes of TCP's options. */
header tcp_word_t {
    bit<32> word;
}

#define TCP_WORDS 10

#ifdef TEST_INPUTS
/* In front of a packet in the test build: what a switch of the vectors is given, and a v1model program cannot hold exactly. */
header test_input_t {
    bit<64> now;       /* ns */
    bit<32> flow_hash; /* of the 5-tuple; of a handshake, in the direction from the ToR's host */
    bit<32> bytes;     /* of a packet that starts transmission */
    bit<16> port;      /* of arrival */
    bit<16> util;      /* of a probe, with more bits than its header has */
    bit<16> link_util; /* of the port of arrival, of 65536 */
    bit<8> kind;       /* TEST_... */
    bit<4> ports;      /* 0: by the protocol, 1: the packet has ports, 2: it has none */
    bit<4> any_ttl;    /* 1: packets with a TTL of 1 or 0 go on, as in CFLB's traces */
}

const bit<8> TEST_PACKET = 0;      /* any packet: what the switch does with one */
const bit<8> TEST_HANDSHAKE = 1;   /* a packet that a ToR reads, and does not forward */
const bit<8> TEST_SENT = 2;        /* the port of arrival starts to transmit a packet */
const bit<8> TEST_UTILISATION = 3; /* its utilisation is read */
const bit<8> TEST_HASH_ALONE = 4;  /* CFLB: a packet of which its hash alone is known */
const bit<8> TEST_LOADED = 5;      /* Shuttle: as TEST_PACKET, with random bits and loads of ports behind this header */

#ifdef HAS_LOADS
/* Behind test_input_t: what the switch draws and reads of its own ports, that of port 0 in the lowest bits. */
header test_loads_t {
    bit<32> random;
    bit<1024> utils;  /* transmit utilisation, of 65536 */
    bit<2048> queues; /* bytes */
}
#endif

/* In front of each packet in the test build when it comes back by the port on which it came: the decision. */
header test_output_t {
    bit<16> port;    /* 0xffff: none */
    bit<16> group;   /* multicast group; 0: none */
    bit<16> util;    /* of a probe, or of a port */
    bit<16> digit;   /* CFLB */
    bit<8> position; /* CFLB */
    bit<8> reason;   /* CFLB */
    bit<8> verdict;
    bit<8> copied;   /* MP-HULA: a copy went to the CPU port */
}
#endif

struct headers_t {
#ifdef TEST_INPUTS
    test_input_t test_input;
#ifdef HAS_LOADS
    test_loads_t test_loads;
#endif
    test_output_t test_output;
#endif
    ethernet_t ethernet;
#ifdef EXTERNAL_TOKENS
    tokens_t tokens;
#endif
    report_t report;
    vlan_t vlan;
    shim_t shim;
    probe_t probe;
    ipv4_t ipv4;
    ipv4_options_t ipv4_options;
    ipv6_t ipv6;
    ports_t ports;
    tcp_t tcp;
    tcp_word_t[TCP_WORDS] tcp_options;
}
