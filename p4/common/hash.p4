/* SPDX-License-Identifier: Apache-2.0 */
/* Hashing of flows, and selection by uniform bits: the same bits as crates/schemes/policy and bpf/switch/hash.h. */

/* Statements for actions, one step an action: p4c replaces a field by its expression wherever an action reads it, and the
 * expressions of a hash double with each step. */

/* Mixes a value with a salt into `h`: the finaliser of MurmurHash3, with full avalanche. */
#define MIX(h, value, salt)    \
    h = (value) ^ (salt);      \
    h = h ^ (h >> 16);         \
    h = h * 0x85ebca6b;        \
    h = h ^ (h >> 13);         \
    h = h * 0xc2b2ae35;        \
    h = h ^ (h >> 16);

/* A word into the state `h` of MurmurHash3 (x86, 32 bits; Appleby 2011). */
#define MURMUR_WORD(h, value)                        \
    meta.word = (value) * 0xcc9e2d51;                \
    meta.word = meta.word[16:0] ++ meta.word[31:17]; \
    h = h ^ (meta.word * 0x1b873593);                \
    h = h[18:0] ++ h[31:19];                         \
    h = h * 5 + 0xe6546b64;

#define MURMUR_END(h, words) MIX(h, h, (words) << 2)

/* MurmurHash3 of the first words of the input, in meta.murmur. */
control Murmur(inout metadata_t meta, in bit<320> input, in bit<32> words) {
    bit<320> left = 0;
    bit<32> word = 0;

    action add_words() {
        left = input;
        meta.murmur = 0;
        for (word = 0; word < words; word = word + 1) {
            MURMUR_WORD(meta.murmur, left[319:288])
            left = left[287:0] ++ 32w0;
        }
    }

    action finish() {
        MURMUR_END(meta.murmur, words)
    }

    apply {
        add_words();
        finish();
    }
}

/* Maps 32 uniform bits to 0 .. n - 1 without a division; 0 for n = 0. */
bit<32> pick(in bit<32> uniform, in bit<32> n) {
    bit<64> product = (bit<64>)uniform * (bit<64>)n;
    return product[63:32];
}

/* Time since `then`. Time that goes backwards counts as no time. */
bit<64> since(in bit<64> now, in bit<64> then) {
    bit<64> passed = 0;
    if (now > then) {
        passed = now - then;
    }
    return passed;
}

const bit<16> NO_PORT = 0xffff;
const bit<32> NO_LIMIT = 0xffffffff;

/* 1 for a port of the set, which has ports below 64. */
bit<1> has_port(in bit<64> set, in bit<16> port) {
    bit<1> has = 0;
    if (port < 64) {
        bit<64> shifted = set >> (bit<8>)port;
        has = shifted[0:0];
    }
    return has;
}

/* The number of the bit of a word that has one. */
bit<8> bit_number(in bit<64> word) {
    bit<8> number = 0;
    if (word & 0xffffffff00000000 != 0) {
        number = number | 32;
    }
    if (word & 0xffff0000ffff0000 != 0) {
        number = number | 16;
    }
    if (word & 0xff00ff00ff00ff00 != 0) {
        number = number | 8;
    }
    if (word & 0xf0f0f0f0f0f0f0f0 != 0) {
        number = number | 4;
    }
    if (word & 0xcccccccccccccccc != 0) {
        number = number | 2;
    }
    if (word & 0xaaaaaaaaaaaaaaaa != 0) {
        number = number | 1;
    }
    return number;
}

/* The first index from `index` on, cyclically, that is in the set; `index` if the set is empty. */
bit<8> next_index(in bit<64> set, in bit<8> index) {
    bit<64> from = set & (64w0xffffffffffffffff << index);
    bit<64> among = set;
    bit<8> found = index;
    if (from != 0) {
        among = from;
    }
    if (among != 0) {
        found = bit_number(among & (~among + 1));
    }
    return found;
}
