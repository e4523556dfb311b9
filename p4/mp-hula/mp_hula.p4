/* SPDX-License-Identifier: Apache-2.0 */
/* MP-HULA (Hernandez Benet et al., NetCompute 2018): HULA with the k best next hops of each ToR, and the subflows of one MPTCP
 * connection on different ones. A port of crates/schemes/policy/src/mp_hula.rs, which decides on what the paper leaves open. With
 * k = 1 each decision is HULA's. */

#include <core.p4>
#include <v1model.p4>

#define HAS_PROBES
#define HAS_SETTINGS
#define HAS_SHIMS
#define ENDS_OTHERS /* a subflow may end the flowlets of others */

struct scheme_t {
#include "fields.p4"
    /* Its own settings */
    bit<1> yields;
    bit<1> apart;
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
#include "tables.p4"
#ifdef EXTERNAL_TOKENS
#include "external_tokens.p4"
#else
#include "tokens.p4"
#endif
#include "hop_table.p4"
#include "best_hops.p4"
#include "lookup.p4"
#include "association.p4"
#include "subflows.p4"
#include "choice.p4"
#include "shim.p4"
#include "forward.p4"

control ConfigureMpHula(inout metadata_t meta) {
    /* best_k: next hops remembered for each ToR, 1 to BEST_HOPS. Masks: rows and slots in use, powers of two, less one. yields:
     * connections of several subflows leave the best hop to others. apart: a further subflow leaves the hop that the first one
     * takes. */
    action set_mp_hula(bit<8> best_k, bit<32> mapping_mask, bit<32> slot_mask, bit<64> idle_after, bit<1> yields, bit<1> apart) {
        meta.scheme.best_k = best_k;
        meta.scheme.mapping_mask = mapping_mask;
        meta.scheme.slot_mask = slot_mask;
        meta.scheme.idle_after = idle_after;
        meta.scheme.yields = yields;
        meta.scheme.apart = apart;
    }

    table mp_hula_settings {
        actions = {
            set_mp_hula;
        }
        default_action = set_mp_hula(1, 0, 3, 0, 0, 0);
    }

    apply {
        mp_hula_settings.apply();
    }
}

control ConfigureScheme(inout metadata_t meta) {
    ConfigureHula() hula;
    ConfigureMpHula() mp_hula;

    apply {
        hula.apply(meta);
        mp_hula.apply(meta);
    }
}

#include "../common/switch.p4"
