/* SPDX-License-Identifier: Apache-2.0 */
/* CFLB's digit of a selector, and the next hop that it names (Detal et al., Computer Networks 2013, section 3). No division: a
 * selector's digits have a fixed number of bits each, and what the control plane computes (positions, hashes below the radix,
 * differences) is in tables. */

#define MOST_DIGITS 64

/* Position i = TTL mod L. */
control Position(inout metadata_t meta) {
    action set_position(bit<8> position, bit<2> bytes, bit<3> bits, bit<32> mask) {
        meta.scheme.position = position;
        meta.scheme.bytes = bytes;
        meta.scheme.bits = bits;
        meta.scheme.mask = mask;
    }

    /* Where the digit is in a selector, and its bits. */
    table positions {
        key = {
            meta.ttl: exact;
        }
        actions = {
            set_position;
        }
        default_action = set_position(0, 0, 0, 0);
        size = 256;
    }

    apply {
        positions.apply();
    }
}

/* The shift of a digit (equations 5 and 6, with a hash for each position): a hash of what the sender cannot choose, and the
 * position, below the radix. */
control Shift(inout metadata_t meta) {
    action set_shift(bit<8> shift) {
        meta.scheme.shift = shift;
    }

    table shifts {
        key = {
            meta.scheme.hash: exact;
        }
        actions = {
            set_shift;
        }
        default_action = set_shift(0);
        size = 4096;
    }

    apply {
        shifts.apply();
    }
}

/* The digit at the position. */
control Digit(inout metadata_t meta) {
#define RIGHT(bits) meta.scheme.selector = meta.scheme.selector >> bits;

    action right_8() { RIGHT(8) }
    action right_16() { RIGHT(16) }
    action right_24() { RIGHT(24) }
    action right_1() { RIGHT(1) }
    action right_2() { RIGHT(2) }
    action right_3() { RIGHT(3) }
    action right_4() { RIGHT(4) }
    action right_5() { RIGHT(5) }
    action right_6() { RIGHT(6) }
    action right_7() { RIGHT(7) }

    table by_bytes {
        key = {
            meta.scheme.bytes: exact;
        }
        actions = {
            right_8;
            right_16;
            right_24;
            @defaultonly NoAction;
        }
        const default_action = NoAction();
        const entries = {
            1: right_8();
            2: right_16();
            3: right_24();
        }
    }

    table by_bits {
        key = {
            meta.scheme.bits: exact;
        }
        actions = {
            right_1;
            right_2;
            right_3;
            right_4;
            right_5;
            right_6;
            right_7;
            @defaultonly NoAction;
        }
        const default_action = NoAction();
        const entries = {
            1: right_1();
            2: right_2();
            3: right_3();
            4: right_4();
            5: right_5();
            6: right_6();
            7: right_7();
        }
    }

    action cut_off() {
        meta.scheme.selector = meta.scheme.selector & meta.scheme.mask;
    }

    action set_digit(bit<8> digit) {
        meta.scheme.digit = digit;
    }

    /* The shift undone: (digit - shift) mod radix. */
    table differences {
        key = {
            meta.scheme.selector[7:0]: exact;
            meta.scheme.shift: exact;
        }
        actions = {
            set_digit;
        }
        default_action = set_digit(0xff);
        size = 4096;
    }

    apply {
        by_bytes.apply();
        by_bits.apply();
        cut_off();
        differences.apply();
    }
}

/* Equation 7: the digit's next hop if there is one, else the hash's. */
control Steer(inout metadata_t meta) {
    DirectCounter<bit<64>>(CounterType_t.PACKETS) controlled;

    action take(PortId_t port) {
        meta.port = port;
        controlled.count();
    }

    action hash() {
        meta.port = meta.by_hash;
        controlled.count();
    }

    /* Next hops in their order; those that are down have none. */
    table numbered_hops {
        key = {
            meta.tor: exact;
            meta.scheme.digit: exact;
        }
        actions = {
            take;
            hash;
        }
        default_action = hash();
        counters = controlled;
        size = HOPS_OF_ALL_TORS;
    }

    apply {
        numbered_hops.apply();
    }
}
