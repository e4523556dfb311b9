/* SPDX-License-Identifier: Apache-2.0 */
/* A data packet to another ToR: its shim, its flowlet, the flowlet's hop and owner. The scheme's own part stands in front of this
 * file:
 *
 * control Choose(metadata)   a known hop for a flowlet that starts, in meta.port; NO_PORT if none is known */

control Forward(inout headers_t hdr, inout metadata_t meta) {
    ReadShim() read_shim;
    FindRow() find_row;
    Choose() choose;
    FallBack() fall_back;
    Member() member;
    SetOwner() clear_owner;
    SetOwner() adopt;
    SetOwner() own;
    AddShim() add_shim;
    bit<32> slot = 0;
    bit<64> last = 0;
    bit<16> before = 0;
    bit<8> owner = 0;
    bit<8> subflow = 0;
    bit<1> started = 0;

    action mix_flow() {
        MIX(meta.mixed, meta.flow_hash, meta.salt)
    }

    apply {
        if (meta.role == ROLE_HOST && meta.is_tor == 1) {
            read_shim.apply(meta);
        } else if (hdr.shim.isValid()) {
            meta.scheme.shim_id = hdr.shim.id;
            meta.scheme.shim_subflow = (bit<8>)hdr.shim.subflow + 1;
            meta.length = meta.length + SHIM_BYTES;
        }
        mix_flow();
        slot = meta.mixed & meta.scheme.flowlet_mask;
        find_row.apply(meta);
        if (meta.count == 1) {
            meta.index = 0;
        } else {
            flowlet_last.read(last, slot);
            flowlet_next_port.read(before, slot);
            flowlet_last.write(slot, meta.now);
            if (since(meta.now, last) > meta.scheme.flowlet_gap || has_port(meta.hops, before - 1) == 0) {
                /* The flowlet has ended. */
                subflow = meta.scheme.shim_subflow;
                meta.scheme.shim_subflow = 0;
                clear_owner.apply(meta, slot);
                meta.scheme.shim_subflow = subflow;
                started = 1;
            } else if (is_usable(meta.hops, meta.up, meta.scheme.local_detection, before - 1) == 0) {
                started = 1;
            } else {
                meta.port = before - 1;
                flowlet_subflow.read(owner, slot);
                if (owner == 0 && meta.scheme.shim_subflow != 0) {
                    /* A flowlet that started without a shim is the subflow's. */
                    adopt.apply(meta, slot);
                }
            }
            if (started == 1) {
                choose.apply(meta);
                if (meta.port == NO_PORT) {
                    scheme_counters.count(COUNT_FALLBACKS);
                    fall_back.apply(meta);
                }
            }
        }
        member.apply(meta);
        if (started == 1) {
            scheme_counters.count(COUNT_FLOWLETS);
            if (before != 0 && before != meta.port + 1) {
                scheme_counters.count(COUNT_MOVES);
            }
            flowlet_next_port.write(slot, meta.port + 1);
            own.apply(meta, slot);
        }
        add_shim.apply(hdr, meta);
    }
}
