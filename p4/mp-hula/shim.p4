/* SPDX-License-Identifier: Apache-2.0 */
/* The shim at its ends (MP-HULA section 2.2). */

/* A data packet from the fabric at its destination ToR: the shim is removed. */
control Deliver(inout headers_t hdr, inout metadata_t meta) {
    apply {
        if (hdr.shim.isValid()) {
            if (hdr.vlan.isValid()) {
                hdr.vlan.ether_type = hdr.shim.ether_type;
            } else {
                hdr.ethernet.ether_type = hdr.shim.ether_type;
            }
            hdr.shim.setInvalid();
        }
    }
}

/* Adds the shim of its subflow. */
control AddShim(inout headers_t hdr, inout metadata_t meta) {
    action add() {
        hdr.shim.setValid();
        hdr.shim.id = meta.scheme.shim_id;
        hdr.shim.subflow = (bit<4>)(meta.scheme.shim_subflow - 1);
        hdr.shim.reserved = 0;
        meta.length = meta.length + SHIM_BYTES;
    }

    apply {
        if (!hdr.shim.isValid() && meta.scheme.shim_subflow != 0) {
            add();
            if (hdr.vlan.isValid()) {
                hdr.shim.ether_type = hdr.vlan.ether_type;
                hdr.vlan.ether_type = ETHERTYPE_SHIM;
            } else {
                hdr.shim.ether_type = hdr.ethernet.ether_type;
                hdr.ethernet.ether_type = ETHERTYPE_SHIM;
            }
        }
    }
}
