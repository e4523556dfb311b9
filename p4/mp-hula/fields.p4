/* SPDX-License-Identifier: Apache-2.0 */
/* Fields of scheme_t that MP-HULA and Shuttle share: this file stands inside of the struct. */

/* Metadata that a copy of a packet for the control plane has, too. */
#ifdef EXTERNAL_TOKENS
#define COPY_FIELDS 1
#define COPIED @field_list(COPY_FIELDS)
#else
#define COPIED
#endif

    /* HULA's settings */
    bit<64> suppress_for;
    bit<64> fail_after;
    bit<64> flowlet_gap;
    bit<32> flowlet_mask;
    bit<8> quantise;
    bit<1> listing;
    bit<1> local_detection;
    /* Settings of the tables */
    bit<8> best_k;
    bit<32> mapping_mask;
    bit<32> slot_mask;
    bit<64> idle_after;
    /* The packet's subflow; number 0: none */
    bit<64> shim_id;
    bit<8> shim_subflow;
    /* Association */
    COPIED bit<8> task;
    bit<32> flow;
    bit<16> fingerprint;
    bit<32> set;
    bit<32> key_slot;
    bit<1> known;
    bit<32> known_slot;
    bit<40> known_entry;
    bit<32> known_a; /* tokens */
    bit<32> known_b;
    bit<32> free_slot;
    bit<32> token_a;
    bit<32> token_b;
    bit<32> token_hash; /* first entries of the sets of a token, and of the tokens of the entries found there */
    bit<32> set_of_a;
    bit<32> set_of_b;
    bit<32> row; /* number of the first mapping of the packet's connection */
    bit<64> avoided; /* set of ports */
#ifdef EXTERNAL_TOKENS
    bit<1> answered; /* the packet is back with its tokens */
    bit<1> copied;   /* a copy of it asks for tokens */
#else
    /* The state of a hash function */
    bit<512> words;
    bit<32> a;
    bit<32> b;
    bit<32> c;
    bit<32> d;
    bit<32> e;
    bit<32> f;
    bit<32> g;
    bit<32> h;
    bit<32> sum;
    bit<32> next;
#endif
