/* SPDX-License-Identifier: Apache-2.0 */
/* HULA (Katta et al., SOSR 2016) for Tofino: the rules of p4/hula with what its stages have. A register is touched once in a pass, in one stage, and
 * by two comparisons; state of egress is not seen by ingress, nor that of other pipes. docs/src/p4.md has what this changes.
 *
 * Time is in nanoseconds, 32 bits of it: gaps and periods are below 2 s, and what is older than 4 s may look fresh for as long as a gap. */

#include <core.p4>
#include <tna.p4>

#ifndef SWITCH_TORS
#define SWITCH_TORS 1024
#endif
#ifndef FLOWLET_SLOTS
#define FLOWLET_SLOTS 65536
#define FLOWLET_BITS 16
#endif
#define HOPS_OF_ALL_TORS 8192
#define MOST_HOPS 64

typedef bit<4> role_t;
const role_t ROLE_NONE = 0;
const role_t ROLE_HOST = 1;
const role_t ROLE_SWITCH = 2;
@noWarn("unused")
const role_t ROLE_GENERATOR = 3; /* of this ToR's probes: the control plane gives it to the port, and a group to every port but hosts' */

const PortId_t NO_PORT = 0x1ff;

/* As in p4/common/metadata.p4. */
typedef bit<8> verdict_t;
const verdict_t FORWARDED = 0;
const verdict_t DELIVERED = 1;
const verdict_t PROBE_TAKEN = 2;
const verdict_t PROBE_FORWARDED = 3;
const verdict_t PROBE_SENT = 4;
const verdict_t DROPPED_NO_ROUTE = 5;
const verdict_t DROPPED_TTL = 6;
const verdict_t DROPPED_NOT_IP = 8;
const verdict_t DROPPED_HOST_PROBE = 9;
const verdict_t DROPPED_BAD_SHIM = 12;
const verdict_t DROPPED_NO_PORT = 13;
const verdict_t RECIRCULATED = 15; /* a pass that decides nothing: the packet has another verdict in a later or an earlier one */
#define VERDICTS 16

struct metadata_t {
    bit<32> now; /* ns */
    verdict_t verdict;
    role_t role;
    bit<1> replicates;   /* the switch is no ToR */
    bit<16> probe_group; /* multicast group of a probe that arrives here: never has the port itself */
    PortId_t arrival;
    bit<16> tor;
    bit<1> local;
    bit<8> ttl;
    bit<16> source_port; /* of the packet's flow: 0 without ports */
    bit<16> destination_port;
    bit<16> slot;        /* of the flowlet */
    bit<32> flow_hash;
    PortId_t by_hash;    /* ECMP's hop */
    PortId_t best;
    PortId_t candidate;  /* of a flowlet that starts */
    PortId_t port;
    bit<32> path;        /* utilisation of a probe's path + 1 */
    bit<32> known;       /* of the best hop's path + 1; 0: the probe's was taken */
    bit<1> sends;        /* the period of suppression is over */
}

#include "headers.p4"

struct flowlet_t {
    bit<32> last;
    bit<32> port;
}

/* The best path to a ToR: when a probe last said so, and its utilisation. */
struct best_path_t {
    bit<32> updated;
    bit<32> util; /* + 1; more than any probe has: none is known */
}

/* From the destination's address to its ToR, the slot of the flowlet and ECMP's hop; at that ToR to the host's port. */
control Routes(inout tna_headers_t hdr, inout metadata_t meta) {
    Hash<bit<16>>(HashAlgorithm_t.CRC16) slot_of_v4;
    Hash<bit<16>>(HashAlgorithm_t.CRC16) slot_of_v6;
    Hash<bit<32>>(HashAlgorithm_t.CRC32) hash_of_v4;
    Hash<bit<32>>(HashAlgorithm_t.CRC32) hash_of_v6;
    Hash<bit<32>>(HashAlgorithm_t.IDENTITY) choice;
    ActionProfile(HOPS_OF_ALL_TORS) hops;
    ActionSelector(hops, choice, SelectorMode_t.FAIR, MOST_HOPS, SWITCH_TORS) members;

    action to_tor(bit<16> tor) {
        meta.tor = tor;
    }

    action to_host(PortId_t port) {
        meta.local = 1;
        meta.port = port;
    }

    action no_route() {
        meta.verdict = DROPPED_NO_ROUTE;
    }

    table destinations_v4 {
        key = {
            hdr.ipv4.destination: lpm;
        }
        actions = {
            to_tor;
            to_host;
            no_route;
        }
        default_action = no_route();
        size = 8192;
    }

    table destinations_v6 {
        key = {
            hdr.ipv6.destination: lpm;
        }
        actions = {
            to_tor;
            to_host;
            no_route;
        }
        default_action = no_route();
        size = 1024;
    }

    action set_hop(PortId_t port) {
        meta.by_hash = port;
    }

    action no_hop() {
        meta.by_hash = NO_PORT;
    }

    /* The next hops, by a hash of the 5-tuple. */
    table by_hash {
        key = {
            meta.tor: exact;
            meta.flow_hash: selector;
        }
        actions = {
            set_hop;
            no_hop;
        }
        default_action = no_hop();
        implementation = members;
        size = SWITCH_TORS;
    }

    action hash_v4() {
        meta.slot = slot_of_v4.get({hdr.ipv4.source, hdr.ipv4.destination, hdr.ipv4.protocol, meta.source_port, meta.destination_port});
        meta.flow_hash = hash_of_v4.get({hdr.ipv4.source, hdr.ipv4.destination, hdr.ipv4.protocol, meta.source_port, meta.destination_port});
        meta.ttl = hdr.ipv4.ttl;
    }

    action hash_v6() {
        meta.slot = slot_of_v6.get({hdr.ipv6.source, hdr.ipv6.destination, hdr.ipv6.next, meta.source_port, meta.destination_port});
        meta.flow_hash = hash_of_v6.get({hdr.ipv6.source, hdr.ipv6.destination, hdr.ipv6.next, meta.source_port, meta.destination_port});
        meta.ttl = hdr.ipv6.hop_limit;
    }

    apply {
        if (hdr.ipv4.isValid()) {
            destinations_v4.apply();
            hash_v4();
        } else {
            destinations_v6.apply();
            hash_v6();
        }
        if (meta.local == 0) {
            by_hash.apply();
        }
    }
}

/* Section 4.3: a flowlet keeps its hop; one that starts takes the best, or the hash's if the best is not one of the next hops. */
control Forward(inout tna_headers_t hdr, inout metadata_t meta) {
    Register<flowlet_t, bit<16>>(FLOWLET_SLOTS, {0, 0}) flowlets;
    RegisterParam<bit<32>>(100000) flowlet_gap;

    RegisterAction<flowlet_t, bit<16>, bit<32>>(flowlets) continue_flowlet = {
        void apply(inout flowlet_t flowlet, out bit<32> port) {
            if (meta.now - flowlet.last > flowlet_gap.read()) {
                flowlet.port = (bit<32>)meta.candidate;
            }
            flowlet.last = meta.now;
            port = flowlet.port;
        }
    };

    action take_best() {
        meta.candidate = meta.best;
    }

    action take_hash() {
        meta.candidate = meta.by_hash;
    }

    /* Hits are next hops to the ToR that may be used. */
    table usable_best {
        key = {
            meta.tor: exact;
            meta.best: exact;
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
        usable_best.apply();
        meta.port = (PortId_t)continue_flowlet.execute(meta.slot);
        usable_flowlet.apply();
        if (meta.port == NO_PORT) {
            meta.verdict = DROPPED_NO_ROUTE;
        }
    }
}

/* Sections 4.2, 4.4 and 4.5, for a probe that has its port's utilisation. A probe by the best hop replaces what is known; another one does if its path
 * is less utilised, or if the best hop's is stale. */
control Probe(inout metadata_t meta) {
    Register<best_path_t, bit<16>>(SWITCH_TORS, {0, 0x1ff}) best_path;
    RegisterParam<bit<32>>(600000) fail_after;
    Register<bit<32>, bit<16>>(SWITCH_TORS, 0) probe_sent;
    RegisterParam<bit<32>>(175000) suppress_for;

    RegisterAction<best_path_t, bit<16>, bit<32>>(best_path) refresh = {
        void apply(inout best_path_t path, out bit<32> known) {
            path.util = meta.path;
            path.updated = meta.now;
            known = path.util;
        }
    };

    RegisterAction<best_path_t, bit<16>, bit<32>>(best_path) compare = {
        void apply(inout best_path_t path, out bit<32> known) {
            if (meta.now - path.updated > fail_after.read() || meta.path < path.util) {
                path.util = meta.path;
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
        if (meta.best == meta.arrival) {
            meta.known = refresh.execute(meta.tor);
        } else {
            meta.known = compare.execute(meta.tor);
        }
        if (meta.replicates == 1) {
            meta.sends = send.execute(meta.tor);
        }
    }
}

control Ingress(inout tna_headers_t hdr, inout metadata_t meta, in ingress_intrinsic_metadata_t intrinsic,
                in ingress_intrinsic_metadata_from_parser_t from_parser, inout ingress_intrinsic_metadata_for_deparser_t for_deparser,
                inout ingress_intrinsic_metadata_for_tm_t for_tm) {
    Counter<bit<64>, verdict_t>(VERDICTS, CounterType_t.PACKETS_AND_BYTES) verdicts;
    Register<bit<16>, bit<16>>(SWITCH_TORS, 0x1ff) best_port;
    Routes() routes;
    Forward() forward;
    Probe() probe;

    RegisterAction<bit<16>, bit<16>, bit<16>>(best_port) read_best = {
        void apply(inout bit<16> stored, out bit<16> port) {
            port = stored;
        }
    };

    RegisterAction<bit<16>, bit<16>, bit<16>>(best_port) set_best = {
        void apply(inout bit<16> stored, out bit<16> port) {
            stored = (bit<16>)meta.arrival;
            port = stored;
        }
    };

    action set_port(role_t role, bit<16> probe_group, bit<1> replicates) {
        meta.role = role;
        meta.probe_group = probe_group;
        meta.replicates = replicates;
    }

    action no_port() {
        meta.role = ROLE_NONE;
    }

    table ports {
        key = {
            meta.arrival: exact;
        }
        actions = {
            set_port;
            no_port;
        }
        default_action = no_port();
        size = 512;
    }

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

    /* The word that the TTL shares with the protocol falls by 0x0100, so the checksum rises by that (RFC 1141). */
    action decrement_v4() {
        hdr.ipv4.ttl = hdr.ipv4.ttl - 1;
        hdr.ipv4.checksum = hdr.ipv4.checksum + 0x0100;
    }

    action decrement_v4_with_carry() {
        hdr.ipv4.ttl = hdr.ipv4.ttl - 1;
        hdr.ipv4.checksum = hdr.ipv4.checksum + 0x0101;
    }

    action decrement_v6() {
        hdr.ipv6.hop_limit = hdr.ipv6.hop_limit - 1;
    }

    apply {
        meta.now = from_parser.global_tstamp[31:0];
        meta.arrival = intrinsic.ingress_port;
        meta.best = NO_PORT;
        meta.port = NO_PORT;
        meta.verdict = FORWARDED;
        if (hdr.bridge.isValid()) {
            meta.arrival = hdr.bridge.port;
        }
        ports.apply();

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
            meta.best = (PortId_t)read_best.execute(meta.tor);
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
                meta.path = (bit<32>)hdr.probe.util + 1;
                probe.apply(meta);
                if (meta.known == 0) {
                    to_recirculation(PASS_PROBE);
                } else {
                    hdr.probe.util = (bit<8>)(meta.known - 1);
                }
                if (meta.sends == 1) {
                    meta.verdict = PROBE_FORWARDED;
                    to_group();
                } else if (meta.known != 0) {
                    drop();
                }
            }
        } else if (meta.verdict == FORWARDED || meta.verdict == DELIVERED) {
            to_port();
            if (hdr.ipv6.isValid()) {
                decrement_v6();
            } else if (hdr.ipv4.checksum[15:8] == 0xff) {
                decrement_v4_with_carry();
            } else {
                decrement_v4();
            }
        } else {
            drop();
        }
        verdicts.count(meta.verdict);
    }
}

/* The port's estimator (section 4.2) is the chip's low-pass filter: a packet adds its bytes, a probe adds none and reads it. */
control Egress(inout tna_headers_t hdr, inout egress_metadata_t meta, in egress_intrinsic_metadata_t intrinsic,
               in egress_intrinsic_metadata_from_parser_t from_parser, inout egress_intrinsic_metadata_for_deparser_t for_deparser,
               inout egress_intrinsic_metadata_for_output_port_t for_port) {
    Lpf<bit<32>, PortId_t>(512) estimator;

    action set_macs(bit<48> own, bit<48> peer) {
        hdr.ethernet.source = own;
        hdr.ethernet.destination = peer;
    }

    action keep_macs() {
    }

    table links {
        key = {
            intrinsic.egress_port: exact;
        }
        actions = {
            set_macs;
            keep_macs;
        }
        default_action = keep_macs();
        size = 512;
    }

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
            links.apply();
            hdr.bridge.setInvalid();
        } else if (hdr.bridge.pass == PASS_MEASURE) {
            utilisations.apply();
            hdr.bridge.pass = PASS_MEASURED;
        } else {
            hdr.bridge.pass = PASS_SET_BEST;
        }
    }
}

Pipeline(IngressParser(), Ingress(), IngressDeparser(), EgressParser(), Egress(), EgressDeparser()) pipe;
Switch(pipe) main;
