/* SPDX-License-Identifier: Apache-2.0 */
/* MP-HULA (Hernandez Benet et al., NetCompute 2018): HULA with the k best next hops of each ToR, and the subflows of one MPTCP connection on different
 * ones. A port of crates/schemes/policy/src/mp_hula.rs, which decides on what the paper leaves open. With k = 1 each decision is HULA's. */

#include <core.p4>
#include <v1model.p4>

#define HAS_PROBES
#define HAS_SETTINGS
#define HAS_SHIMS

/* Metadata that a copy of a packet for the control plane has, too. */
#ifdef EXTERNAL_TOKENS
#define COPY_FIELDS 1
#define COPIED @field_list(COPY_FIELDS)
#else
#define COPIED
#endif

struct scheme_t {
    /* HULA's settings */
    bit<64> suppress_for;
    bit<64> fail_after;
    bit<64> flowlet_gap;
    bit<32> flowlet_mask;
    bit<8> quantise;
    bit<1> listing;
    bit<1> local_detection;
    /* Its own */
    bit<8> best_k;
    bit<32> mapping_mask;
    bit<32> slot_mask;
    bit<64> idle_after;
    bit<1> yields;
    bit<1> apart;
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
    bit<16> controller; /* the CPU port */
    bit<1> answered;    /* the packet is back with its tokens */
    bit<1> copied;      /* a copy of it asks for tokens */
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
}

#include "../common/headers.p4"
#include "../common/metadata.p4"
#include "../common/hash.p4"
#include "../common/parser.p4"
#include "../common/flow.p4"
#include "../common/routes.p4"
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
#include "best_hops.p4"
#include "lookup.p4"
#include "association.p4"
#include "subflows.p4"

control ConfigureScheme(inout metadata_t meta) {
    ConfigureHula() hula;
    ConfigureMpHula() mp_hula;
#ifdef EXTERNAL_TOKENS
    ConfigureTokens() tokens;
#endif

    apply {
        hula.apply(meta);
        mp_hula.apply(meta);
#ifdef EXTERNAL_TOKENS
        tokens.apply(meta);
#endif
    }
}

/* A data packet from the fabric at its destination ToR: the shim is removed. */
control Deliver(inout headers_t hdr, inout metadata_t meta) {
    apply {
        if (hdr.shim.isValid()) {
            if (hdr.vlan.isValid()) {
                hdr.vlan.ether_type = hdr.shim.ether_type;
            } else {
                hdr.ethernet.ether_type = hdr.shim.ether_type;
            }
            hdr.shim.setInvalid();
        }
    }
}

/* Adds the shim of its subflow. */
control AddShim(inout headers_t hdr, inout metadata_t meta) {
    action add() {
        hdr.shim.setValid();
        hdr.shim.id = meta.scheme.shim_id;
        hdr.shim.subflow = (bit<4>)(meta.scheme.shim_subflow - 1);
        hdr.shim.reserved = 0;
    }

    apply {
        if (!hdr.shim.isValid() && meta.scheme.shim_subflow != 0) {
            add();
            if (hdr.vlan.isValid()) {
                hdr.shim.ether_type = hdr.vlan.ether_type;
                hdr.vlan.ether_type = ETHERTYPE_SHIM;
            } else {
                hdr.shim.ether_type = hdr.ethernet.ether_type;
                hdr.ethernet.ether_type = ETHERTYPE_SHIM;
            }
        }
    }
}

control Forward(inout headers_t hdr, inout metadata_t meta) {
    ReadShim() read_shim;
    FindRow() find_row;
    Choose() choose;
    FallBack() fall_back;
    Member() member;
    SetOwner() clear_owner;
    SetOwner() adopt;
    SetOwner() own;
    AddShim() add_shim;
    bit<32> slot = 0;
    bit<64> last = 0;
    bit<16> before = 0;
    bit<8> owner = 0;
    bit<8> subflow = 0;
    bit<1> started = 0;

    action mix_flow() {
        MIX(meta.mixed, meta.flow_hash, meta.salt)
    }

    apply {
        if (meta.role == ROLE_HOST && meta.is_tor == 1) {
            read_shim.apply(meta);
        } else if (hdr.shim.isValid()) {
            meta.scheme.shim_id = hdr.shim.id;
            meta.scheme.shim_subflow = (bit<8>)hdr.shim.subflow + 1;
        }
        mix_flow();
        slot = meta.mixed & meta.scheme.flowlet_mask;
        find_row.apply(meta);
        if (meta.count == 1) {
            meta.index = 0;
        } else {
            flowlet_last.read(last, slot);
            flowlet_next_port.read(before, slot);
            flowlet_last.write(slot, meta.now);
            if (since(meta.now, last) > meta.scheme.flowlet_gap || has_port(meta.hops, before - 1) == 0) {
                /* The flowlet has ended. */
                subflow = meta.scheme.shim_subflow;
                meta.scheme.shim_subflow = 0;
                clear_owner.apply(meta, slot);
                meta.scheme.shim_subflow = subflow;
                started = 1;
            } else if (is_usable(meta.hops, meta.up, meta.scheme.local_detection, before - 1) == 0) {
                started = 1;
            } else {
                meta.port = before - 1;
                flowlet_subflow.read(owner, slot);
                if (owner == 0 && meta.scheme.shim_subflow != 0) {
                    /* A flowlet that started without a shim is the subflow's. */
                    adopt.apply(meta, slot);
                }
            }
            if (started == 1) {
                choose.apply(meta);
                if (meta.port == NO_PORT) {
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
            own.apply(meta, slot);
        }
        add_shim.apply(hdr, meta);
    }
}

#include "../common/switch.p4"
