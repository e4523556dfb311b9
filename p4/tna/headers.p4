/* SPDX-License-Identifier: Apache-2.0 */
/* Headers, parsers and deparsers of the programs for Tofino (TNA). The headers of hosts and of probes are those of p4/common.
 *
 * Between ingress and egress, and on the recirculation port, each packet has a bridge header in front. A port without one is a host's or a switch's. */

#include "../common/headers.p4"

/* The recirculation port of the pipe, which is the packet generator's too. */
const PortId_t RECIRCULATION = 68;

typedef bit<8> pass_t;
const pass_t PASS_DATA = 0x80;     /* to egress: a packet */
const pass_t PASS_MEASURE = 0x81;  /* to egress and back: a probe, for the utilisation of its port of arrival */
const pass_t PASS_MEASURED = 0x82; /* from there: it has it */
const pass_t PASS_PROBE = 0x83;    /* to egress: replicas of a probe; a copy for the recirculation port comes back as PASS_SET_BEST */
const pass_t PASS_SET_BEST = 0x84; /* from there: the port is the best hop to the probe's ToR */

header bridge_t {
    pass_t pass;
    @padding bit<7> padding;
    PortId_t port; /* of a probe's arrival */
    bit<8> util;   /* of that port */
}

struct tna_headers_t {
    bridge_t bridge;
    pktgen_timer_header_t timer;
    ethernet_t ethernet;
    vlan_t vlan;
    shim_t shim;
    probe_t probe;
    ipv4_t ipv4;
    ipv6_t ipv6;
    ports_t ports;
}

struct egress_metadata_t {
    PortId_t port;   /* whose estimator is used */
    bit<32> bytes;   /* that it sends */
    bit<32> rate;    /* its answer */
}

parser IngressParser(packet_in packet, out tna_headers_t hdr, out metadata_t meta,
                     out ingress_intrinsic_metadata_t intrinsic) {
    state start {
        packet.extract(intrinsic);
        packet.advance(PORT_METADATA_SIZE);
        meta.source_port = 0;
        meta.destination_port = 0;
        meta.local = 0;
        meta.sends = 0;
        transition select(intrinsic.ingress_port) {
            RECIRCULATION: looped;
            default: ethernet;
        }
    }

    /* A generated packet's first byte has three zeros in front. */
    state looped {
        transition select(packet.lookahead<bit<8>>()) {
            0x80 &&& 0x80: recirculated;
            default: generated;
        }
    }

    state recirculated {
        packet.extract(hdr.bridge);
        transition ethernet;
    }

    state generated {
        packet.extract(hdr.timer);
        transition ethernet;
    }

    /* From Ethernet on. Packets with IPv4 options or in fragments are hashed without ports. */
    state ethernet {
        packet.extract(hdr.ethernet);
        transition select(hdr.ethernet.ether_type) {
            ETHERTYPE_VLAN: vlan;
            ETHERTYPE_SHIM: shim;
            ETHERTYPE_PROBE: probe;
            ETHERTYPE_IPV4: ipv4;
            ETHERTYPE_IPV6: ipv6;
            default: accept;
        }
    }

    state vlan {
        packet.extract(hdr.vlan);
        transition select(hdr.vlan.ether_type) {
            ETHERTYPE_IPV4: ipv4;
            ETHERTYPE_IPV6: ipv6;
            default: accept;
        }
    }

    state shim {
        packet.extract(hdr.shim);
        transition accept;
    }

    state probe {
        packet.extract(hdr.probe);
        transition accept;
    }

    state ipv4 {
        packet.extract(hdr.ipv4);
        transition select(hdr.ipv4.ihl, hdr.ipv4.more_fragments, hdr.ipv4.offset, hdr.ipv4.protocol) {
            (5, 0, 0, PROTOCOL_TCP): ports;
            (5, 0, 0, PROTOCOL_UDP): ports;
            default: accept;
        }
    }

    state ipv6 {
        packet.extract(hdr.ipv6);
        transition select(hdr.ipv6.next) {
            PROTOCOL_TCP: ports;
            PROTOCOL_UDP: ports;
            default: accept;
        }
    }

    state ports {
        packet.extract(hdr.ports);
        meta.source_port = hdr.ports.source;
        meta.destination_port = hdr.ports.destination;
        transition accept;
    }
}

control IngressDeparser(packet_out packet, inout tna_headers_t hdr, in metadata_t meta,
                        in ingress_intrinsic_metadata_for_deparser_t intrinsic) {
    apply {
        packet.emit(hdr);
    }
}

parser EgressParser(packet_in packet, out tna_headers_t hdr, out egress_metadata_t meta,
                    out egress_intrinsic_metadata_t intrinsic) {
    state start {
        packet.extract(intrinsic);
        packet.extract(hdr.bridge);
        packet.extract(hdr.ethernet);
        transition select(hdr.ethernet.ether_type) {
            ETHERTYPE_PROBE: probe;
            default: accept;
        }
    }

    state probe {
        packet.extract(hdr.probe);
        transition accept;
    }
}

control EgressDeparser(packet_out packet, inout tna_headers_t hdr, in egress_metadata_t meta,
                       in egress_intrinsic_metadata_for_deparser_t intrinsic) {
    apply {
        packet.emit(hdr);
    }
}
