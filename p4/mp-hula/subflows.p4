/* SPDX-License-Identifier: Apache-2.0 */
/* Owners of flowlets (MP-HULA section 2.5). A mapping is valid while the flowlet in its slot is live and
 * the subflow's, and so ends with it. Connections that collide overwrite each other, and the owner tells them apart. */

/* The number of the first mapping of the packet's connection. */
control FindRow(inout metadata_t meta) {
    action mix_first() {
        MIX(meta.scheme.row, meta.scheme.shim_id[63:32], (bit<32>)meta.tor)
    }

    action mix_second() {
        MIX(meta.scheme.row, meta.scheme.row, meta.scheme.shim_id[31:0])
    }

    apply {
        mix_first();
        mix_second();
        meta.scheme.row = (meta.scheme.row & meta.scheme.mapping_mask) << 4;
    }
}

/* The live flowlets of the connection's other subflows towards the same ToR: their ports go to `avoided`, or, if `ends`, those on
 * meta.port end. */
control HopsOfOthers(inout metadata_t meta, in bit<1> ends) {
    bit<8> other = 0;
    bit<32> slot = 0;
    bit<8> subflow = 0;
    bit<32> token_a = 0;
    bit<32> token_b = 0;
    bit<24> tor = 0;
    bit<64> last = 0;
    bit<16> next_port = 0;

    action end_flowlet() {
        flowlet_next_port.write(slot, 0);
        flowlet_subflow.write(slot, 0);
        flowlet_token_a.write(slot, 0);
        flowlet_token_b.write(slot, 0);
        flowlet_tor.write(slot, 0);
    }

    action read_flowlet() {
        flowlet_subflow.read(subflow, slot);
        flowlet_token_a.read(token_a, slot);
        flowlet_token_b.read(token_b, slot);
        flowlet_tor.read(tor, slot);
        flowlet_last.read(last, slot);
        flowlet_next_port.read(next_port, slot);
        last = since(meta.now, last);
        if (subflow == other && token_a ++ token_b == meta.scheme.shim_id && tor == meta.tor && next_port != 0
            && last <= meta.scheme.flowlet_gap) {
            if (ends == 0) {
                meta.scheme.avoided = meta.scheme.avoided | (64w1 << (bit<8>)(next_port - 1));
            } else if (next_port == meta.port + 1) {
                end_flowlet();
            }
        }
    }

    action read_others() {
        for (other = 1; other <= SUBFLOWS; other = other + 1) {
            mapping_next_slot.read(slot, meta.scheme.row + (bit<32>)(other - 1));
            if (other != meta.scheme.shim_subflow && slot != 0 && slot - 1 <= meta.scheme.flowlet_mask) {
                slot = slot - 1;
                read_flowlet();
            }
        }
    }

    apply {
        read_others();
    }
}

/* Makes the packet's subflow, or nobody, the owner of the flowlet in this slot. */
control SetOwner(inout metadata_t meta, in bit<32> slot) {
#ifdef ENDS_OTHERS
    HopsOfOthers() end_others;
#endif

    action set_owner() {
        flowlet_subflow.write(slot, meta.scheme.shim_subflow);
        flowlet_token_a.write(slot, meta.scheme.shim_id[63:32]);
        flowlet_token_b.write(slot, meta.scheme.shim_id[31:0]);
        flowlet_tor.write(slot, meta.tor);
        mapping_next_slot.write(meta.scheme.row + (bit<32>)(meta.scheme.shim_subflow - 1), slot + 1);
    }

    action clear_owner() {
        flowlet_subflow.write(slot, 0);
        flowlet_token_a.write(slot, 0);
        flowlet_token_b.write(slot, 0);
        flowlet_tor.write(slot, 0);
    }

    apply {
        if (meta.scheme.shim_subflow != 0) {
            set_owner();
#ifdef ENDS_OTHERS
            if (meta.scheme.apart == 1 && meta.scheme.shim_subflow == 1 && meta.scheme.best_k > 1) {
                end_others.apply(meta, 1);
            }
#endif
        } else {
            clear_owner();
        }
    }
}
