/* SPDX-License-Identifier: Apache-2.0 */
/* CFLB (Detal et al., Computer Networks 2013) for Tofino, with both ports as the field that a sender controls, and RC5-32/12/16
 * as F.
 *
 * Ingress and egress have two rounds each, so a packet crosses the recirculation port three times and is decided in its fourth
 * pass: of a pipe's 400 Gbps of recirculation a quarter is left for such packets. cflb.p4 needs one pass, with the source port
 * alone. The radix is a power of two: digits are bits. */

#include <core.p4>
#include <tna.p4>

#define HAS_BRIDGE
#define ROUNDS 12

/* In front of a packet between its passes, and to egress. */
header bridge_t {
    bit<8> rounds; /* that are left */
    bit<16> left;
    bit<16> right;
}

struct scheme_t {
    bit<32> selector;
    bit<8> position; /* TTL mod L */
    bit<2> bytes;    /* of the digit's place in the selector */
    bit<3> bits;     /* and bits beyond them */
    bit<32> mask;    /* of a digit */
    bit<32> above;   /* bits that are zero in selectors of paths */
    bit<12> hash;    /* H(u, position) */
    bit<8> shift;
    bit<8> digit;
}

#include "switch.p4"
#include "headers.p4"
#include "routes.p4"
#include "rc5.p4"
#include "digit.p4"

/* The decision: the digit's hop if the selector is a path's, else the hash's. Both ports are the sender's, so H(u) has none. */
control Decide(inout tna_headers_t hdr, inout metadata_t meta) {
    Hash<bit<12>>(HashAlgorithm_t.CRC16) hash_of_v4;
    Hash<bit<12>>(HashAlgorithm_t.CRC16) hash_of_v6;
    Position() position;
    Shift() shift;
    Digit() digit;
    Steer() steer;
    bit<32> beyond = 0;

    action set_above(bit<32> above) {
        meta.scheme.above = above;
    }

    table selectors {
        actions = {
            set_above;
        }
        default_action = set_above(0);
    }

    action hash_v4() {
        meta.scheme.hash = hash_of_v4.get({hdr.ipv4.source, hdr.ipv4.destination, hdr.ipv4.protocol, meta.scheme.position});
    }

    action hash_v6() {
        meta.scheme.hash = hash_of_v6.get({hdr.ipv6.source, hdr.ipv6.destination, hdr.ipv6.next, meta.scheme.position});
    }

    apply {
        selectors.apply();
        position.apply(meta);
        if (hdr.ipv4.isValid()) {
            hash_v4();
        } else {
            hash_v6();
        }
        shift.apply(meta);
        beyond = meta.scheme.selector & meta.scheme.above;
        if (beyond != 0) {
            meta.port = meta.by_hash;
        } else {
            digit.apply(meta);
            steer.apply(meta);
        }
    }
}

parser IngressParser(packet_in packet, out tna_headers_t hdr, out metadata_t meta, out ingress_intrinsic_metadata_t intrinsic) {
    HostHeaders() host_headers;

    state start {
        packet.extract(intrinsic);
        packet.advance(PORT_METADATA_SIZE);
        meta.source_port = 0;
        meta.destination_port = 0;
        meta.local = 0;
        transition select(intrinsic.ingress_port) {
            RECIRCULATION: recirculated;
            default: host;
        }
    }

    state recirculated {
        packet.extract(hdr.bridge);
        transition host;
    }

    state host {
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
    RoundKeys() round_keys;
    Rounds() rounds;
    Decide() decide;
    DecrementTtl() decrement_ttl;
    round_keys_t keys = {0, 0, 0, 0};

    action begin() {
        meta.arrival = intrinsic.ingress_port;
        meta.port = NO_PORT;
        meta.by_hash = NO_PORT;
        meta.verdict = FORWARDED;
    }

    action begin_rounds() {
        hdr.bridge.setValid();
        hdr.bridge.rounds = ROUNDS;
        hdr.bridge.left = meta.source_port;
        hdr.bridge.right = meta.destination_port;
    }

    action to_recirculation() {
        for_tm.ucast_egress_port = RECIRCULATION;
        meta.verdict = RECIRCULATED;
    }

    action take_selector() {
        meta.scheme.selector[31:16] = hdr.bridge.left - keys.first;
        meta.scheme.selector[15:0] = hdr.bridge.right - keys.second;
    }

    action leave() {
        for_tm.ucast_egress_port = meta.port;
        hdr.bridge.setValid();
        hdr.bridge.rounds = 0xff;
    }

    apply {
        begin();
        ports.apply(meta);
        if (hdr.bridge.isValid()) {
            meta.role = ROLE_SWITCH;
        }
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
            if (!hdr.bridge.isValid() && hdr.ports.isValid()) {
                begin_rounds();
            }
            if (!hdr.bridge.isValid()) {
                meta.port = meta.by_hash;
            } else {
                round_keys.apply(hdr.bridge.rounds, keys);
                if (hdr.bridge.rounds == 0) {
                    take_selector();
                    decide.apply(hdr, meta);
                } else {
                    rounds.apply(hdr.bridge, keys);
                    to_recirculation();
                }
            }
            if (meta.verdict == FORWARDED && meta.port == NO_PORT) {
                meta.verdict = DROPPED_NO_ROUTE;
            }
        }
        if (meta.verdict == FORWARDED || meta.verdict == DELIVERED) {
            leave();
            decrement_ttl.apply(hdr);
        } else if (meta.verdict != RECIRCULATED) {
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
        packet.extract(hdr.bridge);
        packet.extract(hdr.ethernet);
        transition accept;
    }
}

control Egress(inout tna_headers_t hdr, inout egress_metadata_t meta, in egress_intrinsic_metadata_t intrinsic,
               in egress_intrinsic_metadata_from_parser_t from_parser, inout egress_intrinsic_metadata_for_deparser_t for_deparser,
               inout egress_intrinsic_metadata_for_output_port_t for_port) {
    Links() links;
    RoundKeys() round_keys;
    Rounds() rounds;
    round_keys_t keys = {0, 0, 0, 0};

    apply {
        if (intrinsic.egress_port == RECIRCULATION) {
            /* Ingress has had two rounds of these four: its keys are those of the count, ours of two fewer. */
            round_keys.apply(hdr.bridge.rounds, keys);
            rounds.apply(hdr.bridge, keys);
            hdr.bridge.rounds = hdr.bridge.rounds - 4;
        } else {
            links.apply(hdr, intrinsic);
            hdr.bridge.setInvalid();
        }
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
