/* SPDX-License-Identifier: Apache-2.0 */
/* Parsers of HULA and MP-HULA: packets, probes between their passes, and those of the packet generator. */

parser IngressParser(packet_in packet, out tna_headers_t hdr, out metadata_t meta, out ingress_intrinsic_metadata_t intrinsic) {
    HostHeaders() host_headers;

    state start {
        packet.extract(intrinsic);
        packet.advance(PORT_METADATA_SIZE);
        meta.source_port = 0;
        meta.destination_port = 0;
        meta.local = 0;
        meta.scheme.sends = 0;
#ifdef HAS_SHIMS
        meta.scheme.keys = 0;
        meta.scheme.flags = 0;
#endif
        transition select(intrinsic.ingress_port) {
            RECIRCULATION: looped;
            default: host;
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
        transition select(hdr.bridge.pass) {
            PASS_SET_HOP: accept;
            default: host;
        }
    }

    state generated {
        packet.extract(hdr.timer);
        transition host;
    }

    state host {
        host_headers.apply(packet, hdr, meta);
        transition accept;
    }
}
