/* SPDX-License-Identifier: Apache-2.0 */
/* State of MP-HULA and of Shuttle. What was never written is zeros, and empty. */

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

/* The k hops of each ToR, of which the first `best_known` are in use. MP-HULA: in ascending order of utilisation (section 2.3).
 * Shuttle: in the order in which they came, with the figure of the path behind the own link. */
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
/* Fingerprint, number from 1 (0: empty), subflows of the connection (current in the first one's entry only), FINs (1: from the
 * host, 2: to it). */
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
