/* SPDX-License-Identifier: Apache-2.0 */
/* HULA's and MP-HULA's egress: the estimator of each port, and what recirculated probes take back from it. */

struct egress_metadata_t {
    PortId_t port;   /* whose estimator is used */
    bit<32> bytes;   /* that it sends */
    bit<32> rate;    /* its answer */
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

/* The port's estimator (section 4.2) is the chip's low-pass filter: a packet adds its bytes, a probe adds none and reads it. */
control Egress(inout tna_headers_t hdr, inout egress_metadata_t meta, in egress_intrinsic_metadata_t intrinsic,
               in egress_intrinsic_metadata_from_parser_t from_parser, inout egress_intrinsic_metadata_for_deparser_t for_deparser,
               inout egress_intrinsic_metadata_for_output_port_t for_port) {
    Lpf<bit<32>, PortId_t>(512) estimator;
    Links() links;

    action set_util(bit<8> util) {
        hdr.bridge.util = util;
    }

    /* From the filter's output to 256ths of the port's rate: ranges that the control plane computes for each port. */
    table utilisations {
        key = {
            hdr.bridge.port: exact;
            meta.rate[19:0]: range;
        }
        actions = {
            set_util;
        }
        default_action = set_util(255);
        size = 2048;
    }

    apply {
        meta.port = intrinsic.egress_port;
        meta.bytes = (bit<32>)intrinsic.pkt_length;
        if (hdr.bridge.pass == PASS_MEASURE) {
            meta.port = hdr.bridge.port;
            meta.bytes = 0;
        }
        meta.rate = estimator.execute(meta.bytes, meta.port);
        if (intrinsic.egress_port != RECIRCULATION) {
            links.apply(hdr, intrinsic);
            hdr.bridge.setInvalid();
        } else if (hdr.bridge.pass == PASS_MEASURE) {
            utilisations.apply();
            hdr.bridge.pass = PASS_MEASURED;
        } else if (hdr.bridge.pass == PASS_PROBE) {
            hdr.bridge.pass = PASS_SET_BEST;
        }
    }
}
