/* SPDX-License-Identifier: Apache-2.0 */
/* Shuttle (Heddle's own): MP-HULA's tables with another choice: a flowlet takes a hop at random, by weights of the congestion
 * that the switch knows now, remote and own. A port of crates/schemes/policy/src/shuttle.rs. Association, shims, flowlets and
 * mappings are MP-HULA's (../mp-hula). */

#include <core.p4>
#include <v1model.p4>

#define HAS_PROBES
#define HAS_SETTINGS
#define HAS_SHIMS
#define HAS_LOADS /* queues of the own ports */

struct scheme_t {
#include "../mp-hula/fields.p4"
    /* Its own settings */
    bit<8> full_queue_shift;
    bit<8> range_shift;
    bit<1> two_draws;
    bit<1> least;
    bit<2> subflows;
    /* Loads of the ports of the hops towards a ToR, that of the first hop in the lowest bits */
    bit<128> utils;
    bit<256> queues;
    /* The choice */
    bit<32> random;
    bit<32> bits; /* of `random`, mixed for a draw */
#ifdef TEST_INPUTS
    bit<1> loaded;
    bit<1024> port_utils;
    bit<2048> port_queues;
#endif
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
#include "../mp-hula/tables.p4"
#include "../mp-hula/tokens.p4"
#include "../mp-hula/hop_table.p4"
#include "../mp-hula/lookup.p4"
#include "../mp-hula/association.p4"
#include "../mp-hula/subflows.p4"
#include "loads.p4"
#include "remote_hops.p4"
#include "choice.p4"
#include "../mp-hula/shim.p4"
#include "../mp-hula/forward.p4"

control ConfigureScheme(inout metadata_t meta) {
    ConfigureHula() hula;

    /* best_k, masks, idle_after: as MP-HULA's. full_queue_shift: logarithm to base 2 of the queue in bytes that counts as a full
     * link, at most 31. range_shift: that of the full links that figures and costs tell apart, at most 8. two_draws: of two draws
     * the hop whose own port has the lower load is taken. least: the least cost, without random bits. subflows: SUBFLOWS_... */
    action set_shuttle(bit<8> best_k, bit<32> mapping_mask, bit<32> slot_mask, bit<64> idle_after, bit<8> full_queue_shift, bit<8> range_shift, bit<1> two_draws,
                       bit<1> least, bit<2> subflows) {
        meta.scheme.best_k = best_k;
        meta.scheme.mapping_mask = mapping_mask;
        meta.scheme.slot_mask = slot_mask;
        meta.scheme.idle_after = idle_after;
        meta.scheme.full_queue_shift = full_queue_shift;
        meta.scheme.range_shift = range_shift;
        meta.scheme.two_draws = two_draws;
        meta.scheme.least = least;
        meta.scheme.subflows = subflows;
    }

    table shuttle_settings {
        actions = {
            set_shuttle;
        }
        default_action = set_shuttle(1, 0, 3, 0, 16, 1, 0, 0, SUBFLOWS_APART);
    }

    apply {
        hula.apply(meta);
        shuttle_settings.apply();
    }
}

#ifdef TEST_INPUTS
#define TEST_LOADS                                             \
    meta.scheme.loaded = hdr.test_loads.isValid() ? 1w1 : 1w0; \
    meta.scheme.random = hdr.test_loads.random;                \
    meta.scheme.port_utils = hdr.test_loads.utils;             \
    meta.scheme.port_queues = hdr.test_loads.queues;
#endif

#include "../common/switch.p4"
