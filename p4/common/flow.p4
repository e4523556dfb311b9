/* SPDX-License-Identifier: Apache-2.0 */
/* The hash of a packet's 5-tuple, the same at all switches: MurmurHash3 over addresses, ports and protocol, as in bpf/switch/flow.h. Fragments are
 * hashed without ports, so that all of a packet go one way. */

/* The header fields that hashes read, without their versions. Of IPv4's addresses the first word alone counts. */
control ReadFields(inout headers_t hdr, inout metadata_t meta) {
    apply {
        if (hdr.ipv6.isValid()) {
            meta.v6 = 1;
            meta.ttl = hdr.ipv6.hop_limit;
        } else {
            meta.ttl = hdr.ipv4.ttl;
        }
        if (hdr.ports.isValid()) {
            meta.has_ports = 1;
        }
    }
}

/* With `reverse`, of the flow's other direction. */
control FlowHash(inout headers_t hdr, inout metadata_t meta, in bit<1> reverse) {
    action add_word(bit<32> value) {
        MURMUR_WORD(meta.flow_hash, value)
    }

    action finish(bit<32> words) {
        MURMUR_END(meta.flow_hash, words)
    }

    apply {
        bit<32> ports = 0;
        meta.flow_hash = 0;
        if (meta.has_ports == 1 && reverse == 1) {
            ports = hdr.ports.destination ++ hdr.ports.source;
        } else if (meta.has_ports == 1) {
            ports = hdr.ports.source ++ hdr.ports.destination;
        }
        if (hdr.ipv6.isValid() && reverse == 1) {
            add_word(hdr.ipv6.destination[127:96]);
            add_word(hdr.ipv6.destination[95:64]);
            add_word(hdr.ipv6.destination[63:32]);
            add_word(hdr.ipv6.destination[31:0]);
            add_word(hdr.ipv6.source[127:96]);
            add_word(hdr.ipv6.source[95:64]);
            add_word(hdr.ipv6.source[63:32]);
            add_word(hdr.ipv6.source[31:0]);
        } else if (hdr.ipv6.isValid()) {
            add_word(hdr.ipv6.source[127:96]);
            add_word(hdr.ipv6.source[95:64]);
            add_word(hdr.ipv6.source[63:32]);
            add_word(hdr.ipv6.source[31:0]);
            add_word(hdr.ipv6.destination[127:96]);
            add_word(hdr.ipv6.destination[95:64]);
            add_word(hdr.ipv6.destination[63:32]);
            add_word(hdr.ipv6.destination[31:0]);
        } else if (reverse == 1) {
            add_word(hdr.ipv4.destination);
            add_word(hdr.ipv4.source);
        } else {
            add_word(hdr.ipv4.source);
            add_word(hdr.ipv4.destination);
        }
        add_word(ports);
        add_word((bit<32>)meta.protocol);
        if (hdr.ipv6.isValid()) {
            finish(10);
        } else {
            finish(4);
        }
    }
}
