/* SPDX-License-Identifier: Apache-2.0 */
/* HULA (Katta et al., SOSR 2016): probes carry the utilisation of the best path; each flowlet takes the best next hop. A port of
 * crates/schemes/policy/src/hula.rs, which decides on what the paper leaves open. */

#include <core.p4>
#include <v1model.p4>

#define HAS_PROBES
#define HAS_SETTINGS

struct scheme_t {
    bit<64> suppress_for;
    bit<64> fail_after;
    bit<64> flowlet_gap;
    bit<32> flowlet_mask;
    bit<8> quantise;
    bit<1> listing;
    bit<1> local_detection;
}

#include "../common/headers.p4"
#include "../common/metadata.p4"
#include "../common/hash.p4"
#include "../common/parser.p4"
#include "../common/flow.p4"
#include "../common/routes.p4"
#include "../common/report.p4"
#include "../common/meter.p4"
#include "../common/counters.p4"
#include "../common/hula.p4"
#include "../common/empty.p4"

/* The best hop towards each ToR. */
register<bit<64>>(SWITCH_TORS) best_updated;
register<bit<16>>(SWITCH_TORS) best_next_port; /* port + 1; 0: none */
register<bit<16>>(SWITCH_TORS) best_util;      /* of the path, in the probe's quantisation */

/* Flowlets: a slot is selected by a hash of the 5-tuple, and keys are not compared. */
register<bit<64>>(FLOWLET_SLOTS) flowlet_last;      /* time of the last packet */
register<bit<16>>(FLOWLET_SLOTS) flowlet_next_port; /* port + 1; 0: none */

control ConfigureScheme(inout metadata_t meta) {
    ConfigureHula() hula;

    apply {
        hula.apply(meta);
    }
}

control Forward(inout headers_t hdr, inout metadata_t meta) {
    FallBack() fall_back;
    Member() member;

    action mix_flow() {
        MIX(meta.mixed, meta.flow_hash, meta.salt)
    }

    apply {
        bit<32> slot;
        bit<64> last;
        bit<16> before = 0;
        bit<16> best = 0;
        bit<1> started = 0;

        mix_flow();
        slot = meta.mixed & meta.scheme.flowlet_mask;
        if (meta.count == 1) {
            meta.index = 0;
        } else {
            flowlet_last.read(last, slot);
            flowlet_next_port.read(before, slot);
            flowlet_last.write(slot, meta.now);
            if (since(meta.now, last) <= meta.scheme.flowlet_gap && is_usable(meta.hops, meta.up, meta.scheme.local_detection, before - 1) == 1) {
                meta.port = before - 1;
            } else {
                started = 1;
                if (meta.tor < meta.tors) {
                    best_next_port.read(best, (bit<32>)meta.tor);
                }
                if (is_usable(meta.hops, meta.up, meta.scheme.local_detection, best - 1) == 1) {
                    meta.port = best - 1;
                } else {
                    scheme_counters.count(COUNT_FALLBACKS);
                    fall_back.apply(meta);
                }
            }
        }
        member.apply(meta);
        if (started == 1) {
            scheme_counters.count(COUNT_FLOWLETS);
            if (before != 0 && before != meta.port + 1) {
                scheme_counters.count(COUNT_MOVES);
            }
            flowlet_next_port.write(slot, meta.port + 1);
        }
    }
}

control Probe(inout headers_t hdr, inout metadata_t meta) {
    PathUtil() path_util;
    Suppress() suppress;

    apply {
        bit<32> tor = (bit<32>)meta.tor;
        bit<64> updated;
        bit<16> best;
        bit<16> util;

        scheme_counters.count(COUNT_PROBES);
        path_util.apply(hdr, meta);
        if (meta.tor >= meta.tors) {
            meta.verdict = DROPPED_BAD_PROBE;
        } else if (has_port(meta.hops, meta.arrival) == 1 && (meta.is_tor == 0 || meta.tor != meta.own_tor)) {
            best_updated.read(updated, tor);
            best_next_port.read(best, tor);
            best_util.read(util, tor);
            /* Section 4.2, figure 3b lines 6 to 12; a probe by the best hop itself refreshes it (section 5.3). */
            if (best == 0 || meta.probe_util < util || since(meta.now, updated) > meta.scheme.fail_after
                || (meta.scheme.listing == 0 && best == meta.arrival + 1)) {
                best_next_port.write(tor, meta.arrival + 1);
                best_util.write(tor, meta.probe_util);
                best_updated.write(tor, meta.now);
            } else {
                meta.probe_util = util;
            }
            if (meta.is_tor == 0) {
                suppress.apply(meta);
            }
        }
    }
}

#include "../common/switch.p4"
