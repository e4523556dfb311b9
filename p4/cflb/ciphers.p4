/* SPDX-License-Identifier: Apache-2.0 */
/* The inverses of CFLB's function F: from a value of the fields to a selector. Keys come expanded from the control plane. */

/* RC5 with 16-bit words, 12 rounds and a key of 16 bytes (Rivest, FSE 1994): blocks of 32 bits, of which the upper half is the word A. Word i of the
 * expanded key is at bit 16 * i. */
control Rc5Decrypt(inout metadata_t meta) {
    action set_rc5(bit<416> expanded) {
        meta.scheme.rc5 = expanded;
    }

    table rc5_key {
        actions = {
            set_rc5;
        }
        default_action = set_rc5(0);
    }

    /* The word beside itself: a rotation is one shift. */
    action rc5_round(bit<16> word_a, bit<16> word_b) {
        meta.scheme.right = meta.scheme.right - word_b;
        meta.scheme.right = (bit<16>)((meta.scheme.right ++ meta.scheme.right) >> (bit<8>)(meta.scheme.left & 15)) ^ meta.scheme.left;
        meta.scheme.left = meta.scheme.left - word_a;
        meta.scheme.left = (bit<16>)((meta.scheme.left ++ meta.scheme.left) >> (bit<8>)(meta.scheme.right & 15)) ^ meta.scheme.right;
    }

#define RC5_ROUND(r) rc5_round(meta.scheme.rc5[32 * r + 15:32 * r], meta.scheme.rc5[32 * r + 31:32 * r + 16])

    apply {
        rc5_key.apply();
        meta.scheme.left = meta.scheme.selector[31:16];
        meta.scheme.right = meta.scheme.selector[15:0];
        RC5_ROUND(12);
        RC5_ROUND(11);
        RC5_ROUND(10);
        RC5_ROUND(9);
        RC5_ROUND(8);
        RC5_ROUND(7);
        RC5_ROUND(6);
        RC5_ROUND(5);
        RC5_ROUND(4);
        RC5_ROUND(3);
        RC5_ROUND(2);
        RC5_ROUND(1);
        meta.scheme.selector = (meta.scheme.left - meta.scheme.rc5[15:0]) ++ (meta.scheme.right - meta.scheme.rc5[31:16]);
    }
}

/* Skipjack's F table, filled by the control plane. */
register<bit<8>>(256) skipjack_f;

/* Skip32 (Rose 1999): a Feistel network over 32 bits made from Skipjack's G permutation (NIST 1998), 24 rounds. The four bytes of the key that round i
 * takes are at bit 32 * i, the first in front. */
control Skip32Decrypt(inout metadata_t meta) {
    bit<8> cell = 0;

    action set_skip32(bit<768> expanded) {
        meta.scheme.rounds = expanded;
    }

    table skip32_key {
        actions = {
            set_skip32;
        }
        default_action = set_skip32(0);
    }

    /* Skipjack's G: a Feistel network over two bytes. */
    action skipjack_g(bit<32> round_key, bit<16> word) {
        meta.scheme.high_byte = word[15:8];
        meta.scheme.low_byte = word[7:0];
        skipjack_f.read(cell, (bit<32>)(meta.scheme.low_byte ^ round_key[31:24]));
        meta.scheme.high_byte = meta.scheme.high_byte ^ cell;
        skipjack_f.read(cell, (bit<32>)(meta.scheme.high_byte ^ round_key[23:16]));
        meta.scheme.low_byte = meta.scheme.low_byte ^ cell;
        skipjack_f.read(cell, (bit<32>)(meta.scheme.low_byte ^ round_key[15:8]));
        meta.scheme.high_byte = meta.scheme.high_byte ^ cell;
        skipjack_f.read(cell, (bit<32>)(meta.scheme.high_byte ^ round_key[7:0]));
        meta.scheme.low_byte = meta.scheme.low_byte ^ cell;
    }

#define SKIP32_ROUND(r)                                   \
    skipjack_g(meta.scheme.rounds[32 * (r) + 63:32 * (r) + 32], meta.scheme.right); \
    meta.scheme.left = meta.scheme.left ^ (meta.scheme.high_byte ++ meta.scheme.low_byte) ^ ((r) + 1);              \
    skipjack_g(meta.scheme.rounds[32 * (r) + 31:32 * (r)], meta.scheme.left);       \
    meta.scheme.right = meta.scheme.right ^ (meta.scheme.high_byte ++ meta.scheme.low_byte) ^ (r);

    apply {
        skip32_key.apply();
        meta.scheme.right = meta.scheme.selector[31:16];
        meta.scheme.left = meta.scheme.selector[15:0];
        SKIP32_ROUND(22)
        SKIP32_ROUND(20)
        SKIP32_ROUND(18)
        SKIP32_ROUND(16)
        SKIP32_ROUND(14)
        SKIP32_ROUND(12)
        SKIP32_ROUND(10)
        SKIP32_ROUND(8)
        SKIP32_ROUND(6)
        SKIP32_ROUND(4)
        SKIP32_ROUND(2)
        SKIP32_ROUND(0)
        meta.scheme.selector = meta.scheme.left ++ meta.scheme.right;
    }
}

/* A permutation of any number of values up to 2^32: an alternating Feistel network over the bits that they need, walked along its cycle until the
 * value is in range (Black and Rogaway, CT-RSA 2002). A walk has 32 steps at most: the control plane refuses a key with a longer one. */
control FeistelDecrypt(inout metadata_t meta) {

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

    action split() {
        meta.scheme.half = (meta.scheme.selector >> meta.scheme.right_bits) & meta.scheme.left_mask;
        meta.scheme.other = meta.scheme.selector & meta.scheme.right_mask;
    }

    action turn_right(bit<32> round_key) {
        HALF(meta.scheme.other, meta.scheme.half, round_key, meta.scheme.right_mask)
    }

    action turn_left(bit<32> round_key) {
        HALF(meta.scheme.half, meta.scheme.other, round_key, meta.scheme.left_mask)
    }

    action combine() {
        meta.scheme.selector = (meta.scheme.half << meta.scheme.right_bits) | meta.scheme.other;
    }

#define REVERSE                               \
    split();                                  \
    turn_right(meta.scheme.keys[191:160]);    \
    turn_left(meta.scheme.keys[159:128]);     \
    turn_right(meta.scheme.keys[127:96]);     \
    turn_left(meta.scheme.keys[95:64]);       \
    turn_right(meta.scheme.keys[63:32]);      \
    turn_left(meta.scheme.keys[31:0]);        \
    combine();

#define WALK if (meta.scheme.selector > meta.scheme.last) { REVERSE }
#define WALK_7 WALK WALK WALK WALK WALK WALK WALK

    apply {
        feistel_key.apply();
        REVERSE
        WALK_7
        WALK_7
        WALK_7
        WALK_7
        WALK
        WALK
        WALK
    }
}
