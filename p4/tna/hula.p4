/* SPDX-License-Identifier: Apache-2.0 */
/* HULA (Katta et al., SOSR 2016) for Tofino: the rules of p4/hula with what its stages have. A register is touched once in a
 * pass, in one stage, and by two comparisons; state of egress is not seen by ingress, nor that of other pipes.
 * p4/tna/README.md has what this changes.
 *
 * Time is in nanoseconds, 32 bits of it: gaps and periods are below 2 s, and what is older than 4 s may look fresh for as long as
 * a gap. */

#include <core.p4>
#include <tna.p4>

#ifndef FLOWLET_SLOTS
#define FLOWLET_SLOTS 65536
#define FLOWLET_BITS 16
#endif

struct scheme_t {
    bit<16> slot;        /* of the flowlet */
    PortId_t best;
    PortId_t candidate;  /* of a flowlet that starts */
    bit<32> path;        /* utilisation of a probe's path + 1 */
    bit<32> known;       /* of the best hop's path + 1; 0: the probe's was taken */
    bit<1> sends;        /* the period of suppression is over */
}

#include "hula_bridge.p4"
#include "switch.p4"
#include "headers.p4"
#include "routes.p4"
#include "hula_parser.p4"

struct flowlet_t {
    bit<32> last;
    bit<32> port;
}

/* The best path to a ToR: when a probe last said so, and its utilisation. */
struct best_path_t {
    bit<32> updated;
    bit<32> util; /* + 1; more than any probe has: none is known */
}

/* Section 4.3: a flowlet keeps its hop; one that starts takes the best, or the hash's if the best is not one of the next hops. */
control Forward(inout tna_headers_t hdr, inout metadata_t meta) {
    Register<flowlet_t, bit<16>>(FLOWLET_SLOTS, {0, 0}) flowlets;
    RegisterParam<bit<32>>(100000) flowlet_gap;
    Hash<bit<16>>(HashAlgorithm_t.CRC16) slot_of_v4;
    Hash<bit<16>>(HashAlgorithm_t.CRC16) slot_of_v6;

    RegisterAction<flowlet_t, bit<16>, bit<32>>(flowlets) continue_flowlet = {
        void apply(inout flowlet_t flowlet, out bit<32> port) {
            if (meta.now - flowlet.last > flowlet_gap.read()) {
                flowlet.port = (bit<32>)meta.scheme.candidate;
            }
            port = flowlet.port;
            flowlet.last = meta.now;
        }
    };

    action slot_v4() {
        meta.scheme.slot = slot_of_v4.get({hdr.ipv4.source, hdr.ipv4.destination, hdr.ipv4.protocol, meta.source_port, meta.destination_port});
    }

    action slot_v6() {
        meta.scheme.slot = slot_of_v6.get({hdr.ipv6.source, hdr.ipv6.destination, hdr.ipv6.next, meta.source_port, meta.destination_port});
    }

    action take_best() {
        meta.scheme.candidate = meta.scheme.best;
    }

    action take_hash() {
        meta.scheme.candidate = meta.by_hash;
    }

    /* Hits are next hops to the ToR that may be used. */
    table usable_best {
        key = {
            meta.tor: exact;
            meta.scheme.best: exact;
        }
        actions = {
            take_best;
            take_hash;
        }
        default_action = take_hash();
        size = HOPS_OF_ALL_TORS;
    }

    action keep() {
    }

    action leave() {
        meta.port = meta.by_hash;
    }

    /* The slot may be another ToR's, and its hop may have gone down: then the hash's hop, until the flowlet ends. */
    table usable_flowlet {
        key = {
            meta.tor: exact;
            meta.port: exact;
        }
        actions = {
            keep;
            leave;
        }
        default_action = leave();
        size = HOPS_OF_ALL_TORS;
    }

    apply {
        if (hdr.ipv4.isValid()) {
            slot_v4();
        } else {
            slot_v6();
        }
        usable_best.apply();
        meta.port = (PortId_t)continue_flowlet.execute(meta.scheme.slot);
        usable_flowlet.apply();
        if (meta.port == NO_PORT) {
            meta.verdict = DROPPED_NO_ROUTE;
        }
    }
}

/* Sections 4.2, 4.4 and 4.5, for a probe that has its port's utilisation. A probe by the best hop replaces what is known; another
 * one does if its path is less utilised, or if the best hop's is stale. */
control Probe(inout metadata_t meta) {
    Register<best_path_t, bit<16>>(SWITCH_TORS, {0, 0x1ff}) best_path;
    RegisterParam<bit<32>>(600000) fail_after;
    Register<bit<32>, bit<16>>(SWITCH_TORS, 0) probe_sent;
    RegisterParam<bit<32>>(175000) suppress_for;

    RegisterAction<best_path_t, bit<16>, bit<32>>(best_path) refresh = {
        void apply(inout best_path_t path, out bit<32> known) {
            path.util = meta.scheme.path;
            path.updated = meta.now;
            known = meta.scheme.path;
        }
    };

    RegisterAction<best_path_t, bit<16>, bit<32>>(best_path) compare = {
        void apply(inout best_path_t path, out bit<32> known) {
            if (meta.now - path.updated > fail_after.read() || meta.scheme.path < path.util) {
                path.util = meta.scheme.path;
                path.updated = meta.now;
                known = 0;
            } else {
                known = path.util;
            }
        }
    };

    RegisterAction<bit<32>, bit<16>, bit<1>>(probe_sent) send = {
        void apply(inout bit<32> sent, out bit<1> sends) {
            if (meta.now - sent >= suppress_for.read()) {
                sent = meta.now;
                sends = 1;
            } else {
                sends = 0;
            }
        }
    };

    apply {
        if (meta.scheme.best == meta.arrival) {
            meta.scheme.known = refresh.execute(meta.tor);
        } else {
            meta.scheme.known = compare.execute(meta.tor);
        }
        if (meta.replicates == 1) {
            meta.scheme.sends = send.execute(meta.tor);
        }
    }
}

control Ingress(inout tna_headers_t hdr, inout metadata_t meta, in ingress_intrinsic_metadata_t intrinsic,
                in ingress_intrinsic_metadata_from_parser_t from_parser, inout ingress_intrinsic_metadata_for_deparser_t for_deparser,
                inout ingress_intrinsic_metadata_for_tm_t for_tm) {
    Counter<bit<64>, verdict_t>(VERDICTS, CounterType_t.PACKETS_AND_BYTES) verdicts;
    Register<bit<16>, bit<16>>(SWITCH_TORS, 0x1ff) best_port;
    Ports() ports;
    Routes() routes;
    Forward() forward;
    Probe() probe;
    DecrementTtl() decrement_ttl;

    RegisterAction<bit<16>, bit<16>, bit<16>>(best_port) read_best = {
        void apply(inout bit<16> stored, out bit<16> port) {
            port = stored;
        }
    };

    RegisterAction<bit<16>, bit<16>, bit<16>>(best_port) set_best = {
        void apply(inout bit<16> stored, out bit<16> port) {
            stored = (bit<16>)meta.arrival;
            port = (bit<16>)meta.arrival;
        }
    };

    action accept_probe() {
        meta.verdict = PROBE_TAKEN;
    }

    action ignore_probe() {
        meta.verdict = PROBE_TAKEN;
        meta.role = ROLE_NONE;
    }

    /* Hits are next hops to the ToR that sent the probe; at that ToR there are none. */
    table probe_hops {
        key = {
            meta.tor: exact;
            meta.arrival: exact;
        }
        actions = {
            accept_probe;
            ignore_probe;
        }
        default_action = ignore_probe();
        size = HOPS_OF_ALL_TORS;
    }

    action to_recirculation(pass_t pass) {
        hdr.bridge.setValid();
        hdr.bridge.pass = pass;
        hdr.bridge.port = meta.arrival;
        for_tm.ucast_egress_port = RECIRCULATION;
    }

    action to_group() {
        hdr.bridge.setValid();
        hdr.bridge.pass = PASS_PROBE;
        for_tm.mcast_grp_a = meta.probe_group;
    }

    action to_port() {
        hdr.bridge.setValid();
        hdr.bridge.pass = PASS_DATA;
        for_tm.ucast_egress_port = meta.port;
    }

    action drop() {
        for_deparser.drop_ctl = 1;
    }

    apply {
        meta.now = from_parser.global_tstamp[31:0];
        meta.arrival = intrinsic.ingress_port;
        meta.scheme.best = NO_PORT;
        meta.port = NO_PORT;
        meta.verdict = FORWARDED;
        if (hdr.bridge.isValid()) {
            meta.arrival = hdr.bridge.port;
        }
        ports.apply(meta);

        if (meta.role == ROLE_NONE) {
            meta.verdict = DROPPED_NO_PORT;
        } else if (hdr.probe.isValid()) {
            meta.tor = hdr.probe.tor[15:0];
            if (meta.role == ROLE_HOST || hdr.probe.tor[23:16] != 0) {
                meta.verdict = DROPPED_HOST_PROBE;
                meta.role = ROLE_NONE;
            } else if (meta.role == ROLE_SWITCH) {
                probe_hops.apply();
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

        /* The best hop: read by packets and probes, set by a probe in its last pass. */
        if (hdr.bridge.isValid() && hdr.bridge.pass == PASS_SET_BEST) {
            set_best.execute(meta.tor);
            meta.verdict = RECIRCULATED;
        } else if (meta.verdict == FORWARDED || hdr.bridge.isValid()) {
            meta.scheme.best = (PortId_t)read_best.execute(meta.tor);
        }

        if (meta.verdict == FORWARDED && !hdr.probe.isValid()) {
            forward.apply(hdr, meta);
        }

        if (meta.verdict == FORWARDED && hdr.probe.isValid()) {
            meta.verdict = PROBE_SENT; /* by the generator */
            hdr.timer.setInvalid();
            to_group();
        } else if (meta.verdict == PROBE_TAKEN && meta.role == ROLE_SWITCH) {
            if (!hdr.bridge.isValid()) {
                to_recirculation(PASS_MEASURE);
                meta.verdict = RECIRCULATED;
            } else {
                hdr.probe.util = max(hdr.probe.util, hdr.bridge.util);
                meta.scheme.path = (bit<32>)hdr.probe.util + 1;
                probe.apply(meta);
                if (meta.scheme.known == 0) {
                    to_recirculation(PASS_PROBE);
                } else {
                    hdr.probe.util = (bit<8>)(meta.scheme.known - 1);
                }
                if (meta.scheme.sends == 1) {
                    meta.verdict = PROBE_FORWARDED;
                    to_group();
                } else if (meta.scheme.known != 0) {
                    drop();
                }
            }
        } else if (meta.verdict == FORWARDED || meta.verdict == DELIVERED) {
            to_port();
            decrement_ttl.apply(hdr);
        } else {
            drop();
        }
        verdicts.count(meta.verdict);
    }
}

#include "hula_egress.p4"

Pipeline(IngressParser(), Ingress(), IngressDeparser(), EgressParser(), Egress(), EgressDeparser()) pipe;
Switch(pipe) main;
