/* SPDX-License-Identifier: Apache-2.0 */
/* The inverses of CFLB's function F: from a value of the fields to a selector. Keys come expanded from the control plane. */

/* RC5 with 16-bit words, 12 rounds and a key of 16 bytes (Rivest, FSE 1994): blocks of 32 bits, of which the upper half is the
 * word A. Word i of the expanded key is at bit 16 * i. The rounds of all ciphers are loops of one action, which BMv2 runs as
 * such. */
control Rc5Decrypt(inout metadata_t meta) {
    bit<8> round = 0;

    action set_rc5(bit<416> expanded) {
        meta.scheme.rc5 = expanded;
    }

    table rc5_key {
        actions = {
            set_rc5;
        }
        default_action = set_rc5(0);
    }

    /* The word beside itself: a rotation is one shift. A round's words are the topmost, and the key is shifted by them. */
    action decrypt() {
        meta.scheme.left = meta.scheme.selector[31:16];
        meta.scheme.right = meta.scheme.selector[15:0];
        for (round = 12; round != 0; round = round - 1) {
            meta.scheme.right = meta.scheme.right - meta.scheme.rc5[415:400];
            meta.scheme.right = (bit<16>)((meta.scheme.right ++ meta.scheme.right) >> (bit<8>)(meta.scheme.left & 15)) ^ meta.scheme.left;
            meta.scheme.left = meta.scheme.left - meta.scheme.rc5[399:384];
            meta.scheme.left = (bit<16>)((meta.scheme.left ++ meta.scheme.left) >> (bit<8>)(meta.scheme.right & 15)) ^ meta.scheme.right;
            meta.scheme.rc5 = meta.scheme.rc5[383:0] ++ 32w0;
        }
        meta.scheme.selector = (meta.scheme.left - meta.scheme.rc5[399:384]) ++ (meta.scheme.right - meta.scheme.rc5[415:400]);
    }

    apply {
        rc5_key.apply();
        decrypt();
    }
}

/* Skipjack's F table, filled by the control plane. */
register<bit<8>>(256) skipjack_f;

/* Skip32 (Rose 1999): a Feistel network over 32 bits made from Skipjack's G permutation (NIST 1998), 24 rounds. The four bytes of
 * the key that round i takes are at bit 32 * i, the first in front. */
control Skip32Decrypt(inout metadata_t meta) {
    bit<8> cell = 0;
    bit<16> round = 0;

    action set_skip32(bit<768> expanded) {
        meta.scheme.rounds = expanded;
    }

    table skip32_key {
        actions = {
            set_skip32;
        }
        default_action = set_skip32(0);
    }

    /* Skipjack's G, a Feistel network over two bytes, with the topmost word of the key, which is then shifted out. */
    action skipjack_g(bit<16> word) {
        meta.scheme.high_byte = word[15:8];
        meta.scheme.low_byte = word[7:0];
        skipjack_f.read(cell, (bit<32>)(meta.scheme.low_byte ^ meta.scheme.rounds[767:760]));
        meta.scheme.high_byte = meta.scheme.high_byte ^ cell;
        skipjack_f.read(cell, (bit<32>)(meta.scheme.high_byte ^ meta.scheme.rounds[759:752]));
        meta.scheme.low_byte = meta.scheme.low_byte ^ cell;
        skipjack_f.read(cell, (bit<32>)(meta.scheme.low_byte ^ meta.scheme.rounds[751:744]));
        meta.scheme.high_byte = meta.scheme.high_byte ^ cell;
        skipjack_f.read(cell, (bit<32>)(meta.scheme.high_byte ^ meta.scheme.rounds[743:736]));
        meta.scheme.low_byte = meta.scheme.low_byte ^ cell;
        meta.scheme.rounds = meta.scheme.rounds[735:0] ++ 32w0;
        round = round - 1;
    }

    action decrypt() {
        meta.scheme.right = meta.scheme.selector[31:16];
        meta.scheme.left = meta.scheme.selector[15:0];
        for (round = 24; round != 0;) {
            skipjack_g(meta.scheme.right);
            meta.scheme.left = meta.scheme.left ^ (meta.scheme.high_byte ++ meta.scheme.low_byte) ^ round;
            skipjack_g(meta.scheme.left);
            meta.scheme.right = meta.scheme.right ^ (meta.scheme.high_byte ++ meta.scheme.low_byte) ^ round;
        }
        meta.scheme.selector = meta.scheme.left ++ meta.scheme.right;
    }

    apply {
        skip32_key.apply();
        decrypt();
    }
}

/* A permutation of any number of values up to 2^32: an alternating Feistel network over the bits that they need, walked along its
 * cycle until the value is in range (Black and Rogaway, CT-RSA 2002). A walk has 32 steps at most: the control plane refuses a
 * key with a longer one. */
control FeistelDecrypt(inout metadata_t meta) {
    bit<8> round = 0;
    bit<8> step = 0;

#define HALF(half, other, round_key, mask)     \
    MIX(meta.word, other, round_key)          \
    half = half ^ (meta.word & (mask));

    action set_feistel(bit<32> largest, bit<8> bits, bit<32> mask_left, bit<32> mask_right, bit<192> expanded) {
        meta.scheme.last = largest;
        meta.scheme.right_bits = bits;
        meta.scheme.left_mask = mask_left;
        meta.scheme.right_mask = mask_right;
        meta.scheme.keys = expanded;
    }

    table feistel_key {
        actions = {
            set_feistel;
        }
        default_action = set_feistel(0xffffffff, 16, 0xffff, 0xffff, 0);
    }

    /* Of the rounds of two, the last has the topmost words of the key, which is turned by them. */
    action reverse() {
        meta.scheme.half = (meta.scheme.selector >> meta.scheme.right_bits) & meta.scheme.left_mask;
        meta.scheme.other = meta.scheme.selector & meta.scheme.right_mask;
        for (round = 0; round < 3; round = round + 1) {
            HALF(meta.scheme.other, meta.scheme.half, meta.scheme.keys[191:160], meta.scheme.right_mask)
            HALF(meta.scheme.half, meta.scheme.other, meta.scheme.keys[159:128], meta.scheme.left_mask)
            meta.scheme.keys = meta.scheme.keys[127:0] ++ meta.scheme.keys[191:128];
        }
        meta.scheme.selector = (meta.scheme.half << meta.scheme.right_bits) | meta.scheme.other;
    }

    action walk() {
        for (step = 0; step == 0 || (step < 32 && meta.scheme.selector > meta.scheme.last); step = step + 1) {
            reverse();
        }
    }

    apply {
        feistel_key.apply();
        walk();
    }
}
