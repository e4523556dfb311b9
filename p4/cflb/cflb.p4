/* SPDX-License-Identifier: Apache-2.0 */
/* CFLB (Detal et al., Computer Networks 2013): a router takes the next hop that the sender has encoded in a packet, and hashes
 * other packets. A port of crates/schemes/policy/src/cflb, which decides on what the paper leaves open. Nothing is stored. */

#include <core.p4>
#include <v1model.p4>

#define HAS_SETTINGS

typedef bit<8> reason_t;
const reason_t REASON_ALONE = 0;          /* one next hop */
const reason_t REASON_CONTROLLED = 1;     /* the digit at the router's position */
const reason_t REASON_DIGIT_TOO_HIGH = 2; /* a hash: the digit has no next hop */
const reason_t REASON_NO_SELECTOR = 3;    /* a hash: the value encodes no path */
const reason_t REASON_NO_FIELD = 4;       /* a hash: the packet has none of the controllable fields */

typedef bit<8> field_t;
const field_t FIELD_PORTS = 0;       /* both ports: 32 bits */
const field_t FIELD_SOURCE_PORT = 1; /* the source port, if it is in a range */
const field_t FIELD_FLOW_LABEL = 2;  /* IPv6's flow label: 20 bits */

typedef bit<8> cipher_t;
const cipher_t CIPHER_RC5 = 0;
const cipher_t CIPHER_SKIP32 = 1;
const cipher_t CIPHER_FEISTEL = 2;

struct scheme_t {
    field_t field;
    cipher_t cipher;
    bit<1> even;          /* each digit is shifted by a hash of its own; values that encode no path are hashed */
    bit<16> low;          /* FIELD_SOURCE_PORT: the lowest port */
    bit<16> high;         /* and the highest */
    bit<16> base;         /* B */
    bit<64> base_inverse; /* ceil(2^64 / B) */
    bit<33> selectors;    /* B^L: every selector is below it */
    bit<66> power_inverse; /* ceil(2^64 / B^position) */
    bit<32> hash;         /* H(u) */
    bit<32> value;        /* of the controllable fields */
    bit<32> selector;
    bit<8> position; /* TTL mod L */
    bit<16> digit;
    reason_t reason;
    /* Keys, and the state of a cipher */
    bit<416> rc5;
    bit<768> rounds;
    bit<32> last;
    bit<8> right_bits;
    bit<32> left_mask;
    bit<32> right_mask;
    bit<192> keys;
    bit<16> left;
    bit<16> right;
    bit<8> high_byte;
    bit<8> low_byte;
    bit<32> half;
    bit<32> other;
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
#include "../common/empty.p4"
#include "ciphers.p4"

control ConfigureScheme(inout metadata_t meta) {
    action set_cflb(field_t field, cipher_t cipher, bit<1> even, bit<16> low, bit<16> high, bit<16> base, bit<64> base_inverse,
                    bit<33> selectors) {
        meta.scheme.field = field;
        meta.scheme.cipher = cipher;
        meta.scheme.even = even;
        meta.scheme.low = low;
        meta.scheme.high = high;
        meta.scheme.base = base;
        meta.scheme.base_inverse = base_inverse;
        meta.scheme.selectors = selectors;
    }

    table cflb_settings {
        actions = {
            set_cflb;
        }
        default_action = set_cflb(0, 0, 0, 0, 0, 2, 0, 0);
    }

    apply {
        cflb_settings.apply();
    }
}

/* H(u): a hash of the fields that a sender cannot choose. */
control UncontrollableHash(inout headers_t hdr, inout metadata_t meta) {
    Murmur() murmur;
    bit<320> input = 0;
    bit<32> words = 4;
    bit<32> ports = 0;

    apply {
        if (meta.has_ports == 1 && meta.scheme.field == FIELD_SOURCE_PORT) {
            ports = (bit<32>)hdr.ports.destination;
        } else if (meta.has_ports == 1 && meta.scheme.field == FIELD_FLOW_LABEL) {
            ports = hdr.ports.source ++ hdr.ports.destination;
        }
        if (hdr.ipv6.isValid()) {
            words = 10;
            input = hdr.ipv6.source ++ hdr.ipv6.destination ++ (bit<32>)meta.protocol ++ ports;
        } else {
            input = hdr.ipv4.source ++ hdr.ipv4.destination ++ (bit<32>)meta.protocol ++ ports ++ 192w0;
        }
        murmur.apply(meta, input, words);
        meta.scheme.hash = meta.murmur;
    }
}

/* The value of the controllable fields; REASON_NO_FIELD if the packet has none, or one out of range. */
control ReadField(inout headers_t hdr, inout metadata_t meta) {
    apply {
        meta.scheme.value = 0;
        meta.scheme.reason = REASON_CONTROLLED;
        if (meta.scheme.field == FIELD_FLOW_LABEL) {
            if (meta.v6 == 1) {
                meta.scheme.value = (bit<32>)hdr.ipv6.flow_label;
            } else {
                meta.scheme.reason = REASON_NO_FIELD;
            }
        } else if (meta.has_ports == 0) {
            meta.scheme.reason = REASON_NO_FIELD;
        } else if (meta.scheme.field == FIELD_PORTS) {
            meta.scheme.value = hdr.ports.source ++ hdr.ports.destination;
        } else if (hdr.ports.source < meta.scheme.low || hdr.ports.source > meta.scheme.high) {
            meta.scheme.reason = REASON_NO_FIELD;
        } else {
            meta.scheme.value = (bit<32>)(hdr.ports.source - meta.scheme.low);
        }
    }
}

/* The digit of the selector at the router's position, its shift undone (equations 2, 5 and 6). Divisions are multiplications by
 * inverses, which are exact for 32 bits. */
control Digit(inout metadata_t meta) {
    action set_position(bit<8> position, bit<66> power_inverse) {
        meta.scheme.position = position;
        meta.scheme.power_inverse = power_inverse;
    }

    /* Position i = TTL mod L, and the inverse of B^i. */
    table positions {
        key = {
            meta.ttl: exact;
        }
        actions = {
            set_position;
        }
        default_action = set_position(0, 0);
        size = 256;
    }

    action mix_position() {
        MIX(meta.mixed, meta.scheme.hash, (bit<32>)meta.scheme.position)
    }

    apply {
        bit<98> above;
        bit<98> multiple;
        bit<32> digit;
        bit<32> shift = meta.scheme.hash;

        positions.apply();
        above = ((bit<98>)meta.scheme.selector * (bit<98>)meta.scheme.power_inverse) >> 64;
        multiple = (above * (bit<98>)meta.scheme.base_inverse) >> 64;
        digit = (bit<32>)above - (bit<32>)multiple * (bit<32>)meta.scheme.base;
        if (meta.scheme.even == 1) {
            mix_position();
            shift = meta.mixed;
        }
        shift = pick(shift, (bit<32>)meta.scheme.base);
        if (digit < shift) {
            digit = digit + (bit<32>)meta.scheme.base;
        }
        meta.scheme.digit = (bit<16>)(digit - shift);
    }
}

/* Whether and how the selector decides. */
control Steer(inout metadata_t meta) {
    Rc5Decrypt() rc5;
    Skip32Decrypt() skip32;
    FeistelDecrypt() feistel;
    Digit() digit;

    apply {
        meta.scheme.selector = meta.scheme.value;
        if (meta.scheme.cipher == CIPHER_RC5) {
            rc5.apply(meta);
        } else if (meta.scheme.cipher == CIPHER_SKIP32) {
            skip32.apply(meta);
        } else {
            feistel.apply(meta);
        }
        if (meta.scheme.even == 1 && (bit<33>)meta.scheme.selector >= meta.scheme.selectors) {
            meta.scheme.reason = REASON_NO_SELECTOR;
        } else {
            digit.apply(meta);
            meta.index = (bit<8>)meta.scheme.digit;
            if (meta.scheme.digit >= (bit<16>)meta.count) {
                meta.scheme.reason = REASON_DIGIT_TOO_HIGH;
            }
        }
    }
}

/* Equation 7, algorithm 1. The switch's salt is its router number. */
control Forward(inout headers_t hdr, inout metadata_t meta) {
    UncontrollableHash() uncontrollable_hash;
    ReadField() read_field;
    Steer() steer;
    Member() member;

    action add_word(bit<32> value) {
        MURMUR_WORD(meta.scheme.hash, value)
    }

    action finish(bit<32> words) {
        MURMUR_END(meta.scheme.hash, words)
    }

    action take_index() {
        bit<32> index = pick(meta.scheme.hash, (bit<32>)meta.count);
        meta.index = (bit<8>)index;
    }

#ifdef TEST_INPUTS
    action mix_flow() {
        MIX(meta.scheme.hash, meta.flow_hash, meta.salt)
    }
#endif

    apply {
        meta.index = 0;
        meta.scheme.reason = REASON_ALONE;
#ifdef TEST_INPUTS
        if (hdr.test_input.kind == TEST_HASH_ALONE) {
            mix_flow();
            take_index();
            if (meta.count > 1) {
                scheme_counters.count(COUNT_HASHED);
            }
        } else
#endif
        if (meta.count > 1) {
            uncontrollable_hash.apply(hdr, meta);
            read_field.apply(hdr, meta);
            if (meta.scheme.reason != REASON_NO_FIELD) {
                steer.apply(meta);
            }
            if (meta.scheme.reason == REASON_CONTROLLED) {
                scheme_counters.count(COUNT_CONTROLLED);
            } else {
                scheme_counters.count(COUNT_HASHED);
                add_word(meta.scheme.value);
                add_word(meta.salt);
                finish(2);
                take_index();
            }
        }
        member.apply(meta);
    }
}

#ifdef TEST_INPUTS
#define TEST_DECISION                                    \
    hdr.test_output.digit = meta.scheme.digit;           \
    hdr.test_output.position = meta.scheme.position;     \
    hdr.test_output.reason = meta.scheme.reason;
#endif

#include "../common/switch.p4"
