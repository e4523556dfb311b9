/* SPDX-License-Identifier: Apache-2.0 */
/* Two rounds of p4/tna/rc5.p4 on a packet that is nothing but their header, for v1model: what test_tna.py runs. */

#include <core.p4>
#include <v1model.p4>

header bridge_t {
    bit<8> rounds;
    bit<16> left;
    bit<16> right;
}

struct headers_t {
    bridge_t bridge;
}

struct metadata_t {
}

#include "../tna/rc5.p4"

parser TestParser(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    state start {
        packet.extract(hdr.bridge);
        transition accept;
    }
}

control Checksum(inout headers_t hdr, inout metadata_t meta) {
    apply {
    }
}

control TestIngress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    RoundKeys() round_keys;
    Rounds() rounds;
    round_keys_t keys = {0, 0, 0, 0};

    apply {
        round_keys.apply(hdr.bridge.rounds, keys);
        rounds.apply(hdr.bridge, keys);
        standard.egress_spec = standard.ingress_port;
    }
}

control TestEgress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    apply {
    }
}

control TestDeparser(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr);
    }
}

V1Switch(TestParser(), Checksum(), TestIngress(), TestEgress(), Checksum(), TestDeparser()) main;
