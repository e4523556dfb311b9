/* SPDX-License-Identifier: Apache-2.0 */
/* MP-HULA (Hernandez Benet et al., NetCompute 2018) for Tofino: 4 best hops, 4 subflows of a connection that are told apart,
 * shims, HULA's probes.
 *
 * Association is the control plane's: it gets copies of handshakes (SYN, FIN, RST, and packets with keys), and tells the ToR
 * which 5-tuples are subflows of which connection. p4/tna/README.md has what else differs from p4/mp-hula. */

#include <core.p4>
#include <tna.p4>

#define HAS_SHIMS
#ifndef FLOWLET_SLOTS
#define FLOWLET_SLOTS 65536
#endif
#define SUBFLOWS_V4 32768
#define SUBFLOWS_V6 4096
#define HOP_SESSION 1 /* of mirroring: the recirculation port, 64 bytes */

struct scheme_t {
    bit<8> flags; /* of TCP */
    bit<1> keys;  /* MP_CAPABLE is among its options */
    bit<1> sends; /* the period of suppression is over */
    bit<8> number; /* of the hop by which a probe came */
    bit<8> probed; /* the same for a probe that has its port's utilisation; 0: none */
    bit<16> word; /* of a probe; of the best hop */
    bit<16> word_0;
    bit<16> word_1;
    bit<16> word_2;
    bit<16> word_3;
    bit<16> best;
    bit<16> second;
    bit<16> row; /* of the connection */
    bit<8> way;  /* of the subflow */
    bit<1> sets; /* it has another hop */
    bit<8> own;  /* the hop that others know of it, a bit */
    bit<8> hop;  /* its hop */
    bit<8> avoided;
    bit<16> slot; /* of the flowlet */
    PortId_t candidate; /* of a flowlet that starts */
}

#include "hula_bridge.p4"
#include "switch.p4"
#include "headers.p4"
#include "routes.p4"
#include "mp_hula_hops.p4"
#include "mp_hula_flowlet.p4"
#include "hula_parser.p4"

control Ingress(inout tna_headers_t hdr, inout metadata_t meta, in ingress_intrinsic_metadata_t intrinsic,
                in ingress_intrinsic_metadata_from_parser_t from_parser, inout ingress_intrinsic_metadata_for_deparser_t for_deparser,
                inout ingress_intrinsic_metadata_for_tm_t for_tm) {
    Counter<bit<64>, verdict_t>(VERDICTS, CounterType_t.PACKETS_AND_BYTES) verdicts;
    Register<bit<32>, bit<16>>(SWITCH_TORS, 0) probe_sent;
    RegisterParam<bit<32>>(175000) suppress_for;
    Hash<bit<16>>(HashAlgorithm_t.CRC16) row_of;
    Ports() ports;
    Routes() routes;
    AddShim() add_shim;
    Hops() hops;
    HopsOfOthers() hops_of_others;
    BestHop() best_hop;
    Flowlet() flowlet;
    DecrementTtl() decrement_ttl;

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

    action accept_probe(bit<8> number) {
        meta.verdict = PROBE_TAKEN;
        meta.scheme.number = number;
    }

    action ignore_probe() {
        meta.verdict = PROBE_TAKEN;
        meta.role = ROLE_NONE;
    }

    /* Numbers of the next hops to the ToR that sent the probe; at that ToR there are none. */
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

    action begin() {
        meta.now = from_parser.global_tstamp[31:0];
        meta.arrival = intrinsic.ingress_port;
        meta.port = NO_PORT;
        meta.by_hash = NO_PORT;
        meta.verdict = FORWARDED;
        meta.scheme.probed = 0;
        meta.scheme.way = 0xff;
        meta.scheme.sets = 0;
        meta.scheme.own = 0;
        meta.scheme.hop = 0;
        meta.scheme.avoided = 0;
    }

    action find_row() {
        meta.scheme.row = row_of.get({hdr.shim.id});
        meta.scheme.way = 6w0 ++ hdr.shim.subflow[1:0];
    }

    action read_bridge() {
        meta.scheme.row = hdr.bridge.row;
        meta.scheme.way = hdr.bridge.way;
        meta.scheme.hop = hdr.bridge.hop;
        meta.scheme.sets = 1;
        meta.verdict = RECIRCULATED;
    }

    action to_recirculation() {
        hdr.bridge.setValid();
        hdr.bridge.pass = PASS_MEASURE;
        hdr.bridge.port = meta.arrival;
        for_tm.ucast_egress_port = RECIRCULATION;
        meta.verdict = RECIRCULATED;
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
        begin();
        if (hdr.bridge.isValid()) {
            meta.arrival = hdr.bridge.port;
        }
        ports.apply(meta);

        if (hdr.bridge.isValid() && hdr.bridge.pass == PASS_SET_HOP) {
            read_bridge();
        } else if (meta.role == ROLE_NONE) {
            meta.verdict = DROPPED_NO_PORT;
        } else if (hdr.probe.isValid()) {
            meta.tor = hdr.probe.tor[15:0];
            if (meta.role == ROLE_HOST || hdr.probe.tor[23:16] != 0) {
                meta.verdict = DROPPED_HOST_PROBE;
                meta.role = ROLE_NONE;
            } else if (meta.role == ROLE_SWITCH) {
                probe_hops.apply();
                if (hdr.bridge.isValid()) {
                    hdr.probe.util = max(hdr.probe.util, hdr.bridge.util);
                    meta.scheme.probed = meta.scheme.number;
                    meta.scheme.word = ~hdr.probe.util ++ meta.scheme.number;
                }
            }
        } else if (hdr.shim.isValid() && meta.role == ROLE_HOST) {
            meta.verdict = DROPPED_HOST_SHIM;
        } else if (hdr.ipv4.isValid() || hdr.ipv6.isValid()) {
            routes.apply(hdr, meta);
            if (meta.verdict == FORWARDED && meta.ttl <= 1) {
                meta.verdict = DROPPED_TTL;
            } else if (meta.local == 1) {
                meta.verdict = DELIVERED;
            } else if (meta.role == ROLE_HOST && !hdr.vlan.isValid()) {
                add_shim.apply(hdr, meta);
            }
            if (meta.scheme.flags & 0x07 != 0 || meta.scheme.keys == 1) {
                if (meta.role == ROLE_HOST || meta.local == 1) {
                    for_tm.copy_to_cpu = 1;
                }
            }
            if (hdr.shim.isValid()) {
                find_row();
            }
        } else if (hdr.shim.isValid()) {
            meta.verdict = DROPPED_BAD_SHIM;
        } else {
            meta.verdict = DROPPED_NOT_IP;
        }

        if (meta.verdict == FORWARDED || meta.scheme.probed != 0) {
            hops.apply(meta);
        }
        if (meta.scheme.way != 0xff) {
            hops_of_others.apply(meta);
        }
        if (meta.verdict == FORWARDED || meta.scheme.probed != 0) {
            best_hop.apply(meta);
        }

        if (meta.verdict == FORWARDED && !hdr.probe.isValid()) {
            flowlet.apply(hdr, meta);
            if (meta.port == NO_PORT) {
                meta.verdict = DROPPED_NO_ROUTE;
            } else if (meta.scheme.way != 0xff && meta.scheme.hop != meta.scheme.own) {
                for_deparser.mirror_type = HOP_SESSION;
            }
        }

        if (meta.verdict == FORWARDED && hdr.probe.isValid()) {
            meta.verdict = PROBE_SENT; /* by the generator */
            hdr.timer.setInvalid();
            to_group();
        } else if (meta.verdict == PROBE_TAKEN && meta.role == ROLE_SWITCH) {
            if (!hdr.bridge.isValid()) {
                to_recirculation();
            } else {
                hdr.probe.util = ~meta.scheme.word[15:8];
                if (meta.replicates == 1) {
                    meta.scheme.sends = send.execute(meta.tor);
                }
                if (meta.scheme.sends == 1) {
                    meta.verdict = PROBE_FORWARDED;
                    to_group();
                } else {
                    drop();
                }
            }
        } else if (meta.verdict == FORWARDED || meta.verdict == DELIVERED) {
            if (meta.local == 1 && hdr.shim.isValid()) {
                hdr.ethernet.ether_type = hdr.shim.ether_type;
                hdr.shim.setInvalid();
            }
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
