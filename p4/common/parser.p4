/* SPDX-License-Identifier: Apache-2.0 */
/* From frames to headers and back. TCP options may have any order and length: their words are headers, so that they leave as they
 * came, and the first well-formed option of MPTCP (RFC 6824, RFC 8684) is found by walking over them.
 *
 * Sizes of all of MPTCP's subtypes are checked: a malformed option is passed over, and an option that ends behind the header ends
 * the walk. */

parser SwitchParser(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    state start {
        meta.mptcp = MPTCP_NONE;
#ifdef TEST_INPUTS
        packet.extract(hdr.test_input);
#ifdef HAS_LOADS
        transition select(hdr.test_input.kind) {
            TEST_LOADED: test_loads;
            default: ethernet;
        }
    }

    state test_loads {
        packet.extract(hdr.test_loads);
#endif
#endif
        transition ethernet;
    }

    state ethernet {
        packet.extract(hdr.ethernet);
        transition select(hdr.ethernet.ether_type) {
            ETHERTYPE_VLAN: vlan;
            ETHERTYPE_SHIM: shim;
            ETHERTYPE_PROBE: probe;
#ifdef EXTERNAL_TOKENS
            ETHERTYPE_TOKENS: tokens;
#endif
            ETHERTYPE_IPV4: ipv4;
            ETHERTYPE_IPV6: ipv6;
            default: accept;
        }
    }

#ifdef EXTERNAL_TOKENS
    state tokens {
        packet.extract(hdr.tokens);
        transition select(hdr.tokens.ether_type) {
            ETHERTYPE_VLAN: vlan;
            ETHERTYPE_SHIM: shim;
            ETHERTYPE_IPV4: ipv4;
            ETHERTYPE_IPV6: ipv6;
            default: accept;
        }
    }
#endif

    state vlan {
        packet.extract(hdr.vlan);
        transition select(hdr.vlan.ether_type) {
            ETHERTYPE_SHIM: shim;
            ETHERTYPE_IPV4: ipv4;
            ETHERTYPE_IPV6: ipv6;
            default: accept;
        }
    }

    state shim {
        packet.extract(hdr.shim);
        transition select(hdr.shim.ether_type) {
            ETHERTYPE_IPV4: ipv4;
            ETHERTYPE_IPV6: ipv6;
            default: accept;
        }
    }

    state probe {
        packet.extract(hdr.probe);
        transition accept;
    }

    state ipv4 {
        packet.extract(hdr.ipv4);
        verify(hdr.ipv4.version == 4 && hdr.ipv4.ihl >= 5, error.HeaderTooShort);
        meta.protocol = hdr.ipv4.protocol;
        transition select(hdr.ipv4.ihl) {
            5: ipv4_payload;
            default: ipv4_options;
        }
    }

    state ipv4_options {
        packet.extract(hdr.ipv4_options, (bit<32>)(hdr.ipv4.ihl - 5) << 5);
        transition ipv4_payload;
    }

    state ipv4_payload {
        transition select(hdr.ipv4.more_fragments, hdr.ipv4.offset) {
            (0, 0): transport;
            default: accept;
        }
    }

    state ipv6 {
        packet.extract(hdr.ipv6);
        verify(hdr.ipv6.version == 6, error.HeaderTooShort);
        meta.protocol = hdr.ipv6.next;
        transition transport;
    }

    state transport {
#ifdef TEST_INPUTS
        transition select(hdr.test_input.ports) {
            0: transport_by_protocol;
            1: udp;
            default: accept;
        }
    }

    state transport_by_protocol {
#endif
        transition select(meta.protocol) {
            PROTOCOL_TCP: tcp;
            PROTOCOL_UDP: udp;
            default: accept;
        }
    }

    state udp {
        packet.extract(hdr.ports);
        transition accept;
    }

    state tcp {
        packet.extract(hdr.ports);
        packet.extract(hdr.tcp);
        verify(hdr.tcp.offset >= 5, error.HeaderTooShort);
        meta.options_left = 0;
        meta.options = 0;
        transition select(hdr.tcp.offset) {
            5: accept;
            default: tcp_word;
        }
    }

    state tcp_word {
        packet.extract(hdr.tcp_options.next);
        meta.options = (meta.options << 32) | (bit<320>)hdr.tcp_options.last.word;
        meta.options_left = meta.options_left + 4;
        transition select(((bit<8>)(hdr.tcp.offset - 5) << 2) == meta.options_left) {
            true: tcp_aligned;
            default: tcp_word;
        }
    }

    state tcp_aligned {
        meta.options = (meta.options << ((40 - meta.options_left) << 2)) << ((40 - meta.options_left) << 2);
        transition option;
    }

    /* The option at the front of `meta.options`. */
    state option {
        transition select(meta.options_left, meta.options[319:312]) {
            (0, _): accept;
            (_, 0): accept;
            (_, 1): no_operation;
            default: option_with_length;
        }
    }

    state no_operation {
        meta.options = meta.options << 8;
        meta.options_left = meta.options_left - 1;
        transition option;
    }

    state option_with_length {
        transition select(meta.options[311:304] > meta.options_left || meta.options_left < 2, meta.options[311:304], meta.options[319:312]) {
            (true, _, _): accept;
            (_, 0 .. 1, _): accept;
            (_, 2, _): next_option;
            (_, _, 30): mptcp;
            default: next_option;
        }
    }

    state next_option {
        meta.options_left = meta.options_left - meta.options[311:304];
        meta.options = (meta.options << (meta.options[311:304] << 2)) << (meta.options[311:304] << 2);
        transition option;
    }

    /* By subtype. */
    state mptcp {
        transition select(meta.options[303:300]) {
            0: capable;
            1: join;
            2: dss;
            3: add_addr;
            4: remove_addr;
            5: backup;
            6: fail_or_close;
            7: fail_or_close;
            8: reset;
            default: next_option;
        }
    }

    /* Version and length. */
    state capable {
        transition select(meta.options[299:296], meta.options[311:304]) {
            (0 .. 1, 12): capable_key;
            (0 .. 1, 20): capable_keys;
            (1, 4): capable_found;
            (1, 22): capable_keys;
            (1, 24): capable_keys;
            default: next_option;
        }
    }

    state capable_key {
        meta.mptcp_keys = 1;
        transition capable_found;
    }

    state capable_keys {
        meta.mptcp_keys = 2;
        transition capable_found;
    }

    state capable_found {
        meta.mptcp = MPTCP_CAPABLE;
        meta.mptcp_version = (bit<8>)meta.options[299:296];
        meta.key_a = meta.options[287:224];
        meta.key_b = meta.options[223:160];
        transition accept;
    }

    state join {
        transition select(meta.options[311:304]) {
            12: join_syn;
            16: join_other;
            24: join_other;
            default: next_option;
        }
    }

    state join_syn {
        meta.mptcp = MPTCP_JOIN_SYN;
        meta.token = meta.options[287:256];
        transition accept;
    }

    state join_other {
        meta.mptcp = MPTCP_JOIN;
        transition accept;
    }

    /* Flags m, M, a, A and length: 4 bytes, an acknowledgement of 4 or 8, a mapping of 10 or 14 and perhaps a checksum of 2. */
    state dss {
        transition select(meta.options[291:288], meta.options[311:304]) {
            (0b0000 &&& 0b0101, 4): accept;
            (0b0001 &&& 0b0111, 8): accept;
            (0b0011 &&& 0b0111, 12): accept;
            (0b0100 &&& 0b1101, 14): accept;
            (0b0100 &&& 0b1101, 16): accept;
            (0b0101 &&& 0b1111, 18): accept;
            (0b0101 &&& 0b1111, 20): accept;
            (0b0111 &&& 0b1111, 22): accept;
            (0b0111 &&& 0b1111, 24): accept;
            (0b1100 &&& 0b1101, 18): accept;
            (0b1100 &&& 0b1101, 20): accept;
            (0b1101 &&& 0b1111, 22): accept;
            (0b1101 &&& 0b1111, 24): accept;
            (0b1111 &&& 0b1111, 26): accept;
            (0b1111 &&& 0b1111, 28): accept;
            default: next_option;
        }
    }

    /* Echo, or version 0's address family, and length: an address, perhaps a port, perhaps an HMAC. */
    state add_addr {
        transition select(meta.options[299:296], meta.options[311:304]) {
            (1 &&& 1, 8): accept;
            (1 &&& 1, 10): accept;
            (4, 8): accept;
            (4, 10): accept;
            (0 &&& 1, 16): accept;
            (0 &&& 1, 18): accept;
            (1 &&& 1, 20): accept;
            (1 &&& 1, 22): accept;
            (6, 20): accept;
            (6, 22): accept;
            (0 &&& 1, 28): accept;
            (0 &&& 1, 30): accept;
            default: next_option;
        }
    }

    state remove_addr {
        transition select(meta.options[311:304]) {
            0 .. 3: next_option;
            default: accept;
        }
    }

    state backup {
        transition select(meta.options[311:304]) {
            3 .. 4: accept;
            default: next_option;
        }
    }

    state fail_or_close {
        transition select(meta.options[311:304]) {
            12: accept;
            default: next_option;
        }
    }

    state reset {
        transition select(meta.options[311:304]) {
            4: accept;
            default: next_option;
        }
    }
}

control SwitchDeparser(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr);
    }
}

control NoChecksum(inout headers_t hdr, inout metadata_t meta) {
    apply {
    }
}
