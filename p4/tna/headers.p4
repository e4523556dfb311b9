/* SPDX-License-Identifier: Apache-2.0 */
/* Headers, and the parser of what hosts and switches send. The headers are those of p4/common. */

#include "../common/headers.p4"

struct tna_headers_t {
    ethernet_t ethernet;
    vlan_t vlan;
    shim_t shim;
    probe_t probe;
    ipv4_t ipv4;
    ipv6_t ipv6;
    ports_t ports;
}

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
