/* SPDX-License-Identifier: Apache-2.0 */
/* Lookups in the tables of association: by a packet's flow, and by a token. */

const bit<32> NO_SLOT = 0xffffffff;
const bit<8> FINS = 3; /* of both ends */

/* Of an entry as it is stored: fingerprint, number, subflows, FINs. */
#define FINGERPRINT(entry) entry[39:24]
#define NUMBER(entry) entry[23:16]
#define COUNT_OF(entry) entry[15:8]
#define FINS_OF(entry) entry[7:0]

#define WAYS 4 /* of a set */

/* Where the flow of a packet is in the tables. */
control FlowSlots(inout metadata_t meta) {
    action mix_flow() {
        MIX(meta.scheme.flow, meta.flow_hash, meta.salt)
    }

    apply {
        mix_flow();
        meta.scheme.fingerprint = meta.scheme.flow[31:16];
        meta.scheme.set = (meta.scheme.flow << 2) & meta.scheme.slot_mask;
        meta.scheme.key_slot = meta.scheme.flow & meta.scheme.slot_mask;
    }
}

/* The live entry of the packet's flow. */
control FindFlow(inout metadata_t meta) {
    bit<32> slot = 0;
    bit<40> entry = 0;
    bit<64> seen = 0;

    action find() {
        meta.scheme.known = 0;
        for (slot = meta.scheme.set; slot != meta.scheme.set + WAYS; slot = slot + 1) {
            subflow_entry.read(entry, slot);
            subflow_seen.read(seen, slot);
            seen = since(meta.now, seen);
            if (meta.scheme.known == 0 && FINGERPRINT(entry) == meta.scheme.fingerprint && NUMBER(entry) != 0 && seen <= meta.scheme.idle_after) {
                meta.scheme.known = 1;
                meta.scheme.known_slot = slot;
                meta.scheme.known_entry = entry;
                subflow_token_a.read(meta.scheme.known_a, slot);
                subflow_token_b.read(meta.scheme.known_b, slot);
            }
        }
    }

    apply {
        find();
    }
}

/* Removes the entries of the flow. */
control RemoveFlow(inout metadata_t meta) {
    bit<32> slot = 0;
    bit<40> entry = 0;

    action remove() {
        for (slot = meta.scheme.set; slot != meta.scheme.set + WAYS; slot = slot + 1) {
            subflow_entry.read(entry, slot);
            if (FINGERPRINT(entry) == meta.scheme.fingerprint) {
                subflow_entry.write(slot, meta.scheme.fingerprint ++ 8w0 ++ entry[15:0]);
            }
        }
    }

    apply {
        remove();
    }
}

/* A slot for the flow: an empty or idle one, or else one whose subflow is closed; NO_SLOT if there is none. */
control FreeSlot(inout metadata_t meta) {
    bit<32> slot = 0;
    bit<40> entry = 0;
    bit<64> seen = 0;
    bit<32> closed = NO_SLOT;

    action find_free() {
        closed = NO_SLOT;
        meta.scheme.free_slot = NO_SLOT;
        for (slot = meta.scheme.set; slot != meta.scheme.set + WAYS; slot = slot + 1) {
            subflow_entry.read(entry, slot);
            subflow_seen.read(seen, slot);
            seen = since(meta.now, seen);
            if (NUMBER(entry) == 0 || seen > meta.scheme.idle_after) {
                if (meta.scheme.free_slot == NO_SLOT) {
                    meta.scheme.free_slot = slot;
                }
            } else if (closed == NO_SLOT && FINS_OF(entry) & FINS == FINS) {
                closed = slot;
            }
        }
        if (meta.scheme.free_slot == NO_SLOT) {
            meta.scheme.free_slot = closed;
        }
    }

    apply {
        find_free();
    }
}

/* First entry of a token's set. */
#define TOKEN_SET(to, token)             \
    MIX(to, token, meta.salt)            \
    to = (to << 2) & ((meta.scheme.slot_mask << 1) | 1);

/* The slot of the live first subflow of the connection with this token, and an entry of the token table that no live connection
 * needs; each NO_SLOT if there is none. */
control FindToken(inout metadata_t meta, in bit<32> token, out bit<32> first, out bit<32> free) {
    bit<32> index = 0;
    bit<32> slot = 0;
    bit<40> entry = 0;
    bit<64> seen = 0;
    bit<32> a = 0;
    bit<32> b = 0;
    bit<1> needed = 0;

    action set_of_token() {
        TOKEN_SET(meta.scheme.token_hash, token)
    }

    /* A live first subflow: is it the connection's, and does it need this entry? */
    action read_first() {
        subflow_token_a.read(a, slot);
        subflow_token_b.read(b, slot);
        if (first == NO_SLOT && (a == token || b == token)) {
            first = slot;
        }
        TOKEN_SET(meta.scheme.set_of_a, a)
        TOKEN_SET(meta.scheme.set_of_b, b)
        if (FINS_OF(entry) & FINS != FINS
            && (meta.scheme.set_of_a == meta.scheme.token_hash || meta.scheme.set_of_b == meta.scheme.token_hash)) {
            needed = 1;
        }
    }

    action find() {
        for (index = meta.scheme.token_hash; index != meta.scheme.token_hash + WAYS; index = index + 1) {
            token_next_slot.read(slot, index);
            needed = 0;
            if (slot != 0 && slot - 1 <= meta.scheme.slot_mask) {
                slot = slot - 1;
                subflow_entry.read(entry, slot);
                subflow_seen.read(seen, slot);
                seen = since(meta.now, seen);
                if (NUMBER(entry) == 1 && seen <= meta.scheme.idle_after) {
                    read_first();
                }
            }
            if (needed == 0 && free == NO_SLOT) {
                free = index;
            }
        }
    }

    apply {
        first = NO_SLOT;
        free = NO_SLOT;
        set_of_token();
        find();
    }
}
