/* SPDX-License-Identifier: Apache-2.0 */
/* State and settings of MP-HULA. What was never written is zeros, and empty. */

#ifndef FLOWLET_SLOTS
#define FLOWLET_SLOTS 65536
#endif
#ifndef MAPPING_ROWS
#define MAPPING_ROWS 65536
#endif
#ifndef ASSOCIATION_SLOTS
#define ASSOCIATION_SLOTS 65536
#endif

#define BEST_HOPS 8 /* k at most */
#define SUBFLOWS 16 /* of a connection: 4 bits */

/* The k best hops of each ToR, in ascending order of utilisation (section 2.3): the first `best_known` are in use. */
register<bit<8>>(SWITCH_TORS) best_known;
register<bit<16>>(SWITCH_TORS * BEST_HOPS) best_port;
register<bit<16>>(SWITCH_TORS * BEST_HOPS) best_util;
register<bit<64>>(SWITCH_TORS * BEST_HOPS) best_updated;

/* Flowlets, and their owners: a subflow in the direction to a ToR. */
register<bit<64>>(FLOWLET_SLOTS) flowlet_last;
register<bit<16>>(FLOWLET_SLOTS) flowlet_next_port; /* port + 1; 0: none */
register<bit<32>>(FLOWLET_SLOTS) flowlet_token_a;
register<bit<32>>(FLOWLET_SLOTS) flowlet_token_b;
register<bit<8>>(FLOWLET_SLOTS) flowlet_subflow;    /* 0: no owner */
register<bit<24>>(FLOWLET_SLOTS) flowlet_tor;

/* The flowlet slot of each subflow of a connection (section 2.5), + 1; 0: none. */
register<bit<32>>(MAPPING_ROWS * SUBFLOWS) mapping_next_slot;

/* Subflows by the 5-tuple that leaves the ToR's host, in sets of four. */
/* Fingerprint, number from 1 (0: empty), subflows of the connection (current in the first one's entry only), FINs (1: from the host, 2: to it). */
register<bit<40>>(ASSOCIATION_SLOTS) subflow_entry;
register<bit<32>>(ASSOCIATION_SLOTS) subflow_token_a;
register<bit<32>>(ASSOCIATION_SLOTS) subflow_token_b;
register<bit<64>>(ASSOCIATION_SLOTS) subflow_seen;

/* Slot of the connection's first subflow + 1, by either token, in sets of four. */
register<bit<32>>(2 * ASSOCIATION_SLOTS) token_next_slot;

/* Keys A of version 0 until key B comes. */
register<bit<24>>(ASSOCIATION_SLOTS) key_entry; /* used, fingerprint */
register<bit<32>>(ASSOCIATION_SLOTS) key_upper; /* words of a key: BMv2's control plane reads no unsigned numbers of 64 bits */
register<bit<32>>(ASSOCIATION_SLOTS) key_lower;
register<bit<64>>(ASSOCIATION_SLOTS) key_since;

control ConfigureMpHula(inout metadata_t meta) {
    /* best_k: next hops remembered for each ToR, 1 to BEST_HOPS. Masks: rows and slots in use, powers of two, less one. yields: connections of several
     * subflows leave the best hop to others. apart: a further subflow leaves the hop that the first one takes. */
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
