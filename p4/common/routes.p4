/* SPDX-License-Identifier: Apache-2.0 */
/* The tables that the control plane fills: the switch's settings, its ports and its routes. */

control Configure(inout metadata_t meta) {
    action set_switch(bit<32> salt, bit<24> tors, bit<1> is_tor, bit<24> own_tor, bit<64> up, bit<8> tau, bit<16> controller, bit<32> least_mtu) {
        meta.salt = salt;
        meta.tors = tors;
        meta.is_tor = is_tor;
        meta.own_tor = own_tor;
        meta.up = up;
        meta.tau = tau;
        meta.controller = controller;
        meta.mtu = least_mtu;
    }

    table switch_settings {
        actions = {
            set_switch;
        }
        default_action = set_switch(0, 0, 0, 0, 0, 0, NO_PORT, NO_LIMIT);
    }

    /* `inverse` is 0 for ports whose utilisation is not measured. */
    action set_port(role_t role, bit<16> probe_group, bit<96> inverse) {
        meta.role = role;
        meta.probe_group = probe_group;
        meta.inverse = inverse;
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
        size = 128;
    }

    apply {
        switch_settings.apply();
        ports.apply();
    }
}

/* From an address to the ToR, and at that ToR to the host's port. */
control Destination(inout headers_t hdr, inout metadata_t meta) {
    action to_tor(bit<24> tor) {
        meta.tor = tor;
    }

    action to_host(bit<16> port) {
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
        size = 65536;
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
        size = 65536;
    }

    apply {
        if (hdr.ipv4.isValid()) {
            destinations_v4.apply();
        } else {
            destinations_v6.apply();
        }
    }
}

/* The next hops towards `meta.tor`. */
control NextHops(inout metadata_t meta) {
    action set_next_hops(bit<64> set, bit<8> count, bit<16> group, bit<64> usable) {
        meta.hops = set;
        meta.count = count;
        meta.group = group;
        meta.usable = usable;
    }

    action no_next_hops() {
        meta.hops = 0;
        meta.count = 0;
    }

    table next_hops {
        key = {
            meta.tor: exact;
        }
        actions = {
            set_next_hops;
            no_next_hops;
        }
        default_action = no_next_hops();
        size = SWITCH_TORS;
    }

    apply {
        next_hops.apply();
    }
}

/* From the number of a next hop to its port, where the scheme did not name the port. */
control Member(inout metadata_t meta) {
    action set_member(bit<16> port) {
        meta.port = port;
    }

    action no_member() {
        meta.verdict = DROPPED_NO_ROUTE;
    }

    table members {
        key = {
            meta.group: exact;
            meta.index: exact;
        }
        actions = {
            set_member;
            no_member;
        }
        default_action = no_member();
        size = 16384;
    }

    apply {
        if (meta.port == NO_PORT) {
            members.apply();
        }
    }
}
