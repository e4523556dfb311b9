/* SPDX-License-Identifier: Apache-2.0 */
/* MP-HULA's shims and flowlets. */

struct flowlet_t {
    bit<32> last;
    bit<32> port;
}

/* From a host's packet to its subflow, whose shim it gets (section 2.2). The control plane has entries for connections of several
 * subflows alone. */
control AddShim(inout tna_headers_t hdr, inout metadata_t meta) {
    action add(bit<64> id, bit<4> subflow) {
        hdr.shim.setValid();
        hdr.shim.id = id;
        hdr.shim.subflow = subflow;
        hdr.shim.reserved = 0;
        hdr.shim.ether_type = hdr.ethernet.ether_type;
        hdr.ethernet.ether_type = ETHERTYPE_SHIM;
    }

    table subflows_v4 {
        key = {
            hdr.ipv4.source: exact;
            hdr.ipv4.destination: exact;
            meta.source_port: exact;
            meta.destination_port: exact;
        }
        actions = {
            add;
            @defaultonly NoAction;
        }
        const default_action = NoAction();
        size = SUBFLOWS_V4;
    }

    table subflows_v6 {
        key = {
            hdr.ipv6.source: exact;
            hdr.ipv6.destination: exact;
            meta.source_port: exact;
            meta.destination_port: exact;
        }
        actions = {
            add;
            @defaultonly NoAction;
        }
        const default_action = NoAction();
        size = SUBFLOWS_V6;
    }

    apply {
        if (hdr.ipv4.isValid()) {
            subflows_v4.apply();
        } else {
            subflows_v6.apply();
        }
    }
}

/* The flowlet's hop. One that starts takes the best hop that no other subflow uses; without a hop, ECMP's. */
control Flowlet(inout tna_headers_t hdr, inout metadata_t meta) {
    Register<flowlet_t, bit<16>>(FLOWLET_SLOTS, {0, 0}) flowlets;
    RegisterParam<bit<32>>(100000) flowlet_gap;
    Hash<bit<16>>(HashAlgorithm_t.CRC16) slot_of_v4;
    Hash<bit<16>>(HashAlgorithm_t.CRC16) slot_of_v6;

    RegisterAction<flowlet_t, bit<16>, bit<32>>(flowlets) continue_flowlet = {
        void apply(inout flowlet_t flowlet, out bit<32> port) {
            if (meta.now - flowlet.last > flowlet_gap.read()) {
                flowlet.port = (bit<32>)meta.scheme.candidate;
            }
            port = flowlet.port;
            flowlet.last = meta.now;
        }
    };

    action slot_v4() {
        meta.scheme.slot = slot_of_v4.get({hdr.ipv4.source, hdr.ipv4.destination, hdr.ipv4.protocol, meta.source_port, meta.destination_port});
    }

    action slot_v6() {
        meta.scheme.slot = slot_of_v6.get({hdr.ipv6.source, hdr.ipv6.destination, hdr.ipv6.next, meta.source_port, meta.destination_port});
    }

    action take(PortId_t port) {
        meta.scheme.candidate = port;
    }

    action take_hash() {
        meta.scheme.candidate = meta.by_hash;
    }

    /* The ports of the hops that may be used. */
    table numbered_hops {
        key = {
            meta.tor: exact;
            meta.scheme.word[7:0]: exact;
        }
        actions = {
            take;
            take_hash;
        }
        default_action = take_hash();
        size = HOPS_OF_ALL_TORS;
    }

    action keep(bit<8> hop) {
        meta.scheme.hop = hop;
    }

    action leave() {
        meta.port = meta.by_hash;
    }

    /* The same the other way round. The slot may be another ToR's, and its hop may have gone down: then ECMP's hop, until the
     * flowlet ends. */
    table usable_flowlet {
        key = {
            meta.tor: exact;
            meta.port: exact;
        }
        actions = {
            keep;
            leave;
        }
        default_action = leave();
        size = HOPS_OF_ALL_TORS;
    }

    apply {
        if (hdr.ipv4.isValid()) {
            slot_v4();
        } else {
            slot_v6();
        }
        numbered_hops.apply();
        meta.port = (PortId_t)continue_flowlet.execute(meta.scheme.slot);
        usable_flowlet.apply();
    }
}
