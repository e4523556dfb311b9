/* SPDX-License-Identifier: Apache-2.0 */
/* Headers, and the parser of what hosts and switches send. The headers are those of p4/common.
 *
 * A scheme whose packets have more than one pass has a header of its own in front of them between passes: bridge_t, and defines
 * HAS_BRIDGE. */

#include "../common/headers.p4"

/* The recirculation port of the pipe, which is the packet generator's too. */
@noWarn("unused")
const PortId_t RECIRCULATION = 68;

#ifdef HAS_SHIMS
#define TCP_STATE tcp
#else
#define TCP_STATE ports
#endif

struct tna_headers_t {
#ifdef HAS_BRIDGE
    bridge_t bridge;
    pktgen_timer_header_t timer;
#endif
    ethernet_t ethernet;
    vlan_t vlan;
    shim_t shim;
    probe_t probe;
    ipv4_t ipv4;
    ipv6_t ipv6;
    ports_t ports;
}

#ifdef HAS_SHIMS
/* TCP behind its ports. */
header tcp_start_t {
    bit<64> numbers;
    bit<8> offset;
    bit<8> flags;
}

header tcp_options_t {
    bit<128> start;
    bit<32> first;
}

header tcp_long_options_t {
    bit<128> start;
    bit<32> first;
    bit<64> timestamp;
    bit<32> third;
}

#define MP_CAPABLE 0x1e000000 &&& 0xff00f000 /* kind 30, subtype 0 */
#define TIMESTAMP 0x0101080a /* behind two that fill */
#endif

parser HostHeaders(packet_in packet, inout tna_headers_t hdr, inout metadata_t meta) {
    /* From Ethernet on. Packets with IPv4 options or in fragments are hashed without ports. */
    state start {
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
#ifdef HAS_SHIMS
        transition select(hdr.shim.ether_type) {
            ETHERTYPE_IPV4: ipv4;
            ETHERTYPE_IPV6: ipv6;
            default: accept;
        }
#else
        transition accept;
#endif
    }

    state probe {
        packet.extract(hdr.probe);
        transition accept;
    }

    state ipv4 {
        packet.extract(hdr.ipv4);
        transition select(hdr.ipv4.ihl, hdr.ipv4.more_fragments, hdr.ipv4.offset, hdr.ipv4.protocol) {
            (5, 0, 0, PROTOCOL_TCP): TCP_STATE;
            (5, 0, 0, PROTOCOL_UDP): ports;
            default: accept;
        }
    }

    state ipv6 {
        packet.extract(hdr.ipv6);
        transition select(hdr.ipv6.next) {
            PROTOCOL_TCP: TCP_STATE;
            PROTOCOL_UDP: ports;
            default: accept;
        }
    }

#ifdef HAS_SHIMS
    /* Packets that the control plane reads: SYN, FIN, RST, and MPTCP's option MP_CAPABLE in the first place or behind a
     * timestamp, as hosts put it. Only what a TCP header of this length has may be read. */
    state tcp {
        packet.extract(hdr.ports);
        meta.source_port = hdr.ports.source;
        meta.destination_port = hdr.ports.destination;
        meta.scheme.flags = packet.lookahead<tcp_start_t>().flags;
        transition select(packet.lookahead<tcp_start_t>().offset) {
            0xa0 &&& 0xf0: first_option;
            0xb0 &&& 0xf0: first_option;
            0xc0 &&& 0xf0: first_option;
            0xd0 &&& 0xf0: third_option;
            0xe0 &&& 0xf0: third_option;
            0xf0 &&& 0xf0: third_option;
            default: accept;
        }
    }

    state first_option {
        transition select(packet.lookahead<tcp_options_t>().first) {
            MP_CAPABLE: keys;
            default: accept;
        }
    }

    state third_option {
        transition select(packet.lookahead<tcp_options_t>().first, packet.lookahead<tcp_long_options_t>().third) {
            (MP_CAPABLE, _): keys;
            (TIMESTAMP, MP_CAPABLE): keys;
            default: accept;
        }
    }

    state keys {
        meta.scheme.keys = 1;
        transition accept;
    }
#endif

    state ports {
        packet.extract(hdr.ports);
        meta.source_port = hdr.ports.source;
        meta.destination_port = hdr.ports.destination;
        transition accept;
    }
}

control IngressDeparser(packet_out packet, inout tna_headers_t hdr, in metadata_t meta,
                        in ingress_intrinsic_metadata_for_deparser_t intrinsic) {
#ifdef HAS_SHIMS
    Mirror(HOP_SESSION) mirror;

    apply {
        if (intrinsic.mirror_type == HOP_SESSION) {
            mirror.emit<bridge_t>(HOP_SESSION, {PASS_SET_HOP, 0, meta.arrival, 0, meta.scheme.row, meta.scheme.way, meta.scheme.hop});
        }
#else
    apply {
#endif
        packet.emit(hdr);
    }
}
