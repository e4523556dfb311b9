/* SPDX-License-Identifier: Apache-2.0 */
/* The hop of a flowlet that starts (MP-HULA sections 2.4 and 2.5). */

/* The best known hop that the packet's flowlet may take, in meta.port; NO_PORT if none is known. The first subflow takes the
 * best; a further one the best that no other live subflow of its connection uses. */
control Choose(inout metadata_t meta) {
    HopsOfOthers() hops_of_others;
    bit<32> place = 0;
    bit<8> known = 0;
    bit<16> port = 0;
    bit<16> first = NO_PORT;
    bit<16> second = NO_PORT;
    bit<16> free = NO_PORT;
    bit<1> yields = 0;

    /* The best two of the hops that may be taken, and the best that is not avoided; a connection that yields passes over the
     * first. */
    action consider() {
        if (is_usable(meta.hops, meta.up, meta.scheme.local_detection, port) == 1) {
            if (free == NO_PORT && (first != NO_PORT || yields == 0) && has_port(meta.scheme.avoided, port) == 0) {
                free = port;
            }
            if (first == NO_PORT) {
                first = port;
            } else if (second == NO_PORT) {
                second = port;
            }
        }
    }

    action consider_all() {
        for (place = 0; place < (bit<32>)known; place = place + 1) {
            best_port.read(port, ((bit<32>)meta.tor << 3) + place);
            consider();
        }
    }

    apply {
        meta.scheme.avoided = 0;
        if (meta.tor < meta.tors) {
            best_known.read(known, (bit<32>)meta.tor);
        }
        if (meta.scheme.shim_subflow != 0) {
            yields = meta.scheme.yields;
            if (meta.scheme.shim_subflow != 1 || yields == 1) {
                hops_of_others.apply(meta, 0);
            }
        }
        consider_all();
        if (free != NO_PORT) {
            meta.port = free;
        } else if (yields == 1 && second == NO_PORT && first != NO_PORT && has_port(meta.scheme.avoided, first) == 0) {
            meta.port = first;
        } else {
            if (first != NO_PORT) {
                scheme_counters.count(COUNT_SHARED);
            }
            meta.port = first;
            if (yields == 1 && second != NO_PORT) {
                meta.port = second;
            }
        }
    }
}
