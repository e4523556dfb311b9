/* SPDX-License-Identifier: Apache-2.0 */
/* The tables that the control plane fills, ECMP's choice, and what forwarding changes in a packet. */

/* The port of arrival. */
control Ports(inout metadata_t meta) {
    action set_port(role_t role, bit<16> probe_group, bit<1> replicates) {
        meta.role = role;
        meta.probe_group = probe_group;
        meta.replicates = replicates;
    }

    action no_port() {
        meta.role = ROLE_NONE;
    }

    table ports {
        key = {
            meta.arrival: exact;
        }
        actions = {
            set_port;
            no_port;
        }
        default_action = no_port();
        size = 512;
    }

    apply {
        ports.apply();
    }
}

/* From the destination's address to its ToR and ECMP's hop; at that ToR to the host's port. */
control Routes(inout tna_headers_t hdr, inout metadata_t meta) {
    Hash<bit<32>>(HashAlgorithm_t.CRC32) hash_of_v4;
    Hash<bit<32>>(HashAlgorithm_t.CRC32) hash_of_v6;
    Hash<bit<32>>(HashAlgorithm_t.IDENTITY) choice;
    ActionProfile(HOPS_OF_ALL_TORS) hops;
    ActionSelector(hops, choice, SelectorMode_t.FAIR, MOST_HOPS, SWITCH_TORS) members;

    action to_tor(bit<16> tor) {
        meta.tor = tor;
    }

    action to_host(PortId_t port) {
        meta.local = 1;
        meta.port = port;
    }

    action no_route() {
        meta.verdict = DROPPED_NO_ROUTE;
    }

    table destinations_v4 {
        key = {
            hdr.ipv4.destination: lpm;
        }
        actions = {
            to_tor;
            to_host;
            no_route;
        }
        default_action = no_route();
        size = 8192;
    }

    table destinations_v6 {
        key = {
            hdr.ipv6.destination: lpm;
        }
        actions = {
            to_tor;
            to_host;
            no_route;
        }
        default_action = no_route();
        size = 1024;
    }

    action set_hop(PortId_t port) {
        meta.by_hash = port;
    }

    action no_hop() {
        meta.by_hash = NO_PORT;
    }

    /* The next hops, by a hash of the 5-tuple. */
    table by_hash {
        key = {
            meta.tor: exact;
            meta.flow_hash: selector;
        }
        actions = {
            set_hop;
            no_hop;
        }
        default_action = no_hop();
        implementation = members;
        size = SWITCH_TORS;
    }

    action hash_v4() {
        meta.flow_hash = hash_of_v4.get({hdr.ipv4.source, hdr.ipv4.destination, hdr.ipv4.protocol, meta.source_port, meta.destination_port});
        meta.ttl = hdr.ipv4.ttl;
    }

    action hash_v6() {
        meta.flow_hash = hash_of_v6.get({hdr.ipv6.source, hdr.ipv6.destination, hdr.ipv6.next, meta.source_port, meta.destination_port});
        meta.ttl = hdr.ipv6.hop_limit;
    }

    apply {
        if (hdr.ipv4.isValid()) {
            destinations_v4.apply();
            hash_v4();
        } else {
            destinations_v6.apply();
            hash_v6();
        }
        if (meta.local == 0) {
            by_hash.apply();
        }
    }
}

/* A router's change of the packet. */
control DecrementTtl(inout tna_headers_t hdr) {
    /* Equation 3 of RFC 1624 without a 17th bit: the word that the TTL shares with the protocol falls by 0x0100, so the checksum rises by
     * that, and by a carry from 0xfeff on, of which 0xffff would come, which is no header's. */
    action decrement_v4() {
        hdr.ipv4.ttl = hdr.ipv4.ttl - 1;
        hdr.ipv4.checksum = hdr.ipv4.checksum + 0x0100;
    }

    action decrement_v4_with_carry() {
        hdr.ipv4.ttl = hdr.ipv4.ttl - 1;
        hdr.ipv4.checksum = hdr.ipv4.checksum + 0x0101;
    }

    action decrement_v6() {
        hdr.ipv6.hop_limit = hdr.ipv6.hop_limit - 1;
    }

    apply {
        if (hdr.ipv6.isValid()) {
            decrement_v6();
        } else if (hdr.ipv4.checksum[15:8] == 0xff || hdr.ipv4.checksum == 0xfeff) {
            decrement_v4_with_carry();
        } else {
            decrement_v4();
        }
    }
}

/* The Ethernet addresses of the link by which it leaves. */
control Links(inout tna_headers_t hdr, in egress_intrinsic_metadata_t intrinsic) {
    action set_macs(bit<48> own, bit<48> peer) {
        hdr.ethernet.source = own;
        hdr.ethernet.destination = peer;
    }

    action keep_macs() {
    }

    table links {
        key = {
            intrinsic.egress_port: exact;
        }
        actions = {
            set_macs;
            keep_macs;
        }
        default_action = keep_macs();
        size = 512;
    }

    apply {
        links.apply();
    }
}
