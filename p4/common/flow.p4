/* SPDX-License-Identifier: Apache-2.0 */
/* The hash of a packet's 5-tuple, the same at all switches: MurmurHash3 over addresses, ports and protocol, as in
 * bpf/switch/flow.h. Fragments are hashed without ports, so that all of a packet go one way. */

/* The header fields that hashes read, without their versions. Of IPv4's addresses the first word alone counts. */
control ReadFields(inout headers_t hdr, inout metadata_t meta) {
    apply {
        if (hdr.ipv6.isValid()) {
            meta.v6 = 1;
            meta.ttl = hdr.ipv6.hop_limit;
            meta.length = (bit<32>)hdr.ipv6.length + 40;
        } else {
            meta.ttl = hdr.ipv4.ttl;
            meta.length = (bit<32>)hdr.ipv4.length;
        }
        if (hdr.ports.isValid()) {
            meta.has_ports = 1;
        }
    }
}

/* With `reverse`, of the flow's other direction. */
control FlowHash(inout headers_t hdr, inout metadata_t meta, in bit<1> reverse) {
    Murmur() murmur;
    bit<64> rest = 0; /* ports and protocol */
    bit<320> input = 0;
    bit<32> words = 4;

    apply {
        if (meta.has_ports == 1 && reverse == 1) {
            rest[63:32] = hdr.ports.destination ++ hdr.ports.source;
        } else if (meta.has_ports == 1) {
            rest[63:32] = hdr.ports.source ++ hdr.ports.destination;
        }
        rest[31:0] = (bit<32>)meta.protocol;
        if (hdr.ipv6.isValid()) {
            words = 10;
            if (reverse == 1) {
                input = hdr.ipv6.destination ++ hdr.ipv6.source ++ rest;
            } else {
                input = hdr.ipv6.source ++ hdr.ipv6.destination ++ rest;
            }
        } else if (reverse == 1) {
            input = hdr.ipv4.destination ++ hdr.ipv4.source ++ rest ++ 192w0;
        } else {
            input = hdr.ipv4.source ++ hdr.ipv4.destination ++ rest ++ 192w0;
        }
        murmur.apply(meta, input, words);
        meta.flow_hash = meta.murmur;
    }
}
