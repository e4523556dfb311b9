/* SPDX-License-Identifier: Apache-2.0 */
/* CFLB (Detal et al., Computer Networks 2013) for Tofino, with the source port as the field that a sender controls: the usual
 * case for a client.
 *
 * F over 16 bits is a table: register `selectors` has the selector of each source port, its digits packed in 1, 2, 4 or 8 bits
 * each. The control plane computes it from the key, by whatever function, and any radix up to 64. One pass, no rounds. */

#include <core.p4>
#include <tna.p4>

struct scheme_t {
    bit<32> selector;
    bit<8> position; /* TTL mod L */
    bit<2> bytes;    /* of the digit's place in the selector */
    bit<3> bits;     /* and bits beyond them */
    bit<32> mask;    /* of a digit */
    bit<12> hash;    /* H(u, position) */
    bit<8> shift;
    bit<8> digit;
}

#include "switch.p4"
#include "headers.p4"
#include "routes.p4"
#include "digit.p4"

control Forward(inout tna_headers_t hdr, inout metadata_t meta) {
    Register<bit<32>, bit<16>>(65536, 0x80000000) selectors;
    Hash<bit<12>>(HashAlgorithm_t.CRC16) hash_of_v4;
    Hash<bit<12>>(HashAlgorithm_t.CRC16) hash_of_v6;
    Position() position;
    Shift() shift;
    Digit() digit;
    Steer() steer;

    RegisterAction<bit<32>, bit<16>, bit<32>>(selectors) read_selector = {
        void apply(inout bit<32> stored, out bit<32> digits) {
            digits = stored;
        }
    };

    action hash_v4() {
        meta.scheme.hash = hash_of_v4.get({hdr.ipv4.source, hdr.ipv4.destination, hdr.ipv4.protocol, meta.destination_port, meta.scheme.position});
    }

    action hash_v6() {
        meta.scheme.hash = hash_of_v6.get({hdr.ipv6.source, hdr.ipv6.destination, hdr.ipv6.next, meta.destination_port, meta.scheme.position});
    }

    apply {
        /* The first bit: the port encodes no path. */
        meta.scheme.selector = 0x80000000;
        if (hdr.ports.isValid()) {
            meta.scheme.selector = read_selector.execute(meta.source_port);
        }
        position.apply(meta);
        if (hdr.ipv4.isValid()) {
            hash_v4();
        } else {
            hash_v6();
        }
        shift.apply(meta);
        if (meta.scheme.selector[31:31] == 1) {
            meta.port = meta.by_hash;
        } else {
            digit.apply(meta);
            steer.apply(meta);
        }
    }
}

#include "stateless.p4"
