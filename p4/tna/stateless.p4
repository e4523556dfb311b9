/* SPDX-License-Identifier: Apache-2.0 */
/* The pipeline of a scheme without probes and state: ECMP and CFLB. The scheme's own part stands in front of this file: Forward,
 * which sets meta.port. */

parser IngressParser(packet_in packet, out tna_headers_t hdr, out metadata_t meta, out ingress_intrinsic_metadata_t intrinsic) {
    HostHeaders() host_headers;

    state start {
        packet.extract(intrinsic);
        packet.advance(PORT_METADATA_SIZE);
        meta.source_port = 0;
        meta.destination_port = 0;
        meta.local = 0;
        meta.arrival = intrinsic.ingress_port;
        host_headers.apply(packet, hdr, meta);
        transition accept;
    }
}

control Ingress(inout tna_headers_t hdr, inout metadata_t meta, in ingress_intrinsic_metadata_t intrinsic,
                in ingress_intrinsic_metadata_from_parser_t from_parser, inout ingress_intrinsic_metadata_for_deparser_t for_deparser,
                inout ingress_intrinsic_metadata_for_tm_t for_tm) {
    Counter<bit<64>, verdict_t>(VERDICTS, CounterType_t.PACKETS_AND_BYTES) verdicts;
    Ports() ports;
    Routes() routes;
    Forward() forward;
    DecrementTtl() decrement_ttl;

    apply {
        meta.port = NO_PORT;
        meta.by_hash = NO_PORT;
        meta.verdict = FORWARDED;
        ports.apply(meta);
        if (meta.role == ROLE_NONE) {
            meta.verdict = DROPPED_NO_PORT;
        } else if (hdr.probe.isValid()) {
            meta.verdict = PROBE_TAKEN;
            if (meta.role == ROLE_HOST) {
                meta.verdict = DROPPED_HOST_PROBE;
            }
        } else if (hdr.shim.isValid()) {
            meta.verdict = DROPPED_BAD_SHIM;
        } else if (hdr.ipv4.isValid() || hdr.ipv6.isValid()) {
            routes.apply(hdr, meta);
            if (meta.verdict == FORWARDED && meta.ttl <= 1) {
                meta.verdict = DROPPED_TTL;
            } else if (meta.local == 1) {
                meta.verdict = DELIVERED;
            }
        } else {
            meta.verdict = DROPPED_NOT_IP;
        }
        if (meta.verdict == FORWARDED) {
            forward.apply(hdr, meta);
            if (meta.port == NO_PORT) {
                meta.verdict = DROPPED_NO_ROUTE;
            }
        }
        if (meta.verdict == FORWARDED || meta.verdict == DELIVERED) {
            for_tm.ucast_egress_port = meta.port;
            decrement_ttl.apply(hdr);
        } else {
            for_deparser.drop_ctl = 1;
        }
        verdicts.count(meta.verdict);
    }
}

struct egress_metadata_t {
}

parser EgressParser(packet_in packet, out tna_headers_t hdr, out egress_metadata_t meta, out egress_intrinsic_metadata_t intrinsic) {
    state start {
        packet.extract(intrinsic);
        packet.extract(hdr.ethernet);
        transition accept;
    }
}

control Egress(inout tna_headers_t hdr, inout egress_metadata_t meta, in egress_intrinsic_metadata_t intrinsic,
               in egress_intrinsic_metadata_from_parser_t from_parser, inout egress_intrinsic_metadata_for_deparser_t for_deparser,
               inout egress_intrinsic_metadata_for_output_port_t for_port) {
    Links() links;

    apply {
        links.apply(hdr, intrinsic);
    }
}

control EgressDeparser(packet_out packet, inout tna_headers_t hdr, in egress_metadata_t meta,
                       in egress_intrinsic_metadata_for_deparser_t intrinsic) {
    apply {
        packet.emit(hdr);
    }
}

Pipeline(IngressParser(), Ingress(), IngressDeparser(), EgressParser(), Egress(), EgressDeparser()) pipe;
Switch(pipe) main;
