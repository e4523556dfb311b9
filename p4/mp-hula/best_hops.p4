/* SPDX-License-Identifier: Apache-2.0 */
/* The k best next hops towards a ToR, best first (MP-HULA section 2.3). A port of crates/schemes/policy/src/best_hops.rs, which
 * reads the paper's text. With k = 1 this is HULA's rule. */

/* Sets the utilisation of the path by the port of arrival. */
control UpdateBestHops(inout metadata_t meta) {
    KeepFresh() keep_fresh;
    bit<32> first = 0;
    bit<32> place = 0;
    bit<32> kept = 0;
    bit<32> at = 0;
    bit<1> found = 0;
    bit<1> changes = 0;
    bit<16> port = 0;
    bit<16> port_before = 0;
    bit<16> util = 0;
    bit<16> before = 0;
    bit<64> updated = 0;
    bit<64> updated_before = 0;

    /* Its place, if it gets one: its own, a free one, or that of the worst if that is worse. */
    action find_place() {
        first = (bit<32>)meta.tor << 3;
        changes = 1;
        if (found == 1) {
            best_util.read(before, first + at);
            if (meta.scheme.listing == 1 && meta.probe_util >= before) {
                changes = 0;
            }
        } else if (kept < (bit<32>)meta.scheme.best_k) {
            at = kept;
            kept = kept + 1;
        } else {
            at = kept - 1;
            best_util.read(util, first + at);
            if (meta.probe_util >= util) {
                changes = 0;
            }
        }
        best_known.write((bit<32>)meta.tor, (bit<8>)kept);
        if (changes == 1) {
            best_port.write(first + at, meta.arrival);
            best_util.write(first + at, meta.probe_util);
            best_updated.write(first + at, meta.now);
        }
    }

    /* Exchanges the hops at this place and in front of it if the one behind is strictly better. */
    action exchange() {
        best_util.read(util, first + place);
        best_util.read(before, first + (place - 1));
        if (util < before) {
            best_util.write(first + place, before);
            best_util.write(first + (place - 1), util);
            best_port.read(port, first + place);
            best_port.read(port_before, first + (place - 1));
            best_port.write(first + place, port_before);
            best_port.write(first + (place - 1), port);
            best_updated.read(updated, first + place);
            best_updated.read(updated_before, first + (place - 1));
            best_updated.write(first + place, updated_before);
            best_updated.write(first + (place - 1), updated);
        }
    }

    /* One pass moves the hop past strictly worse ones, the next one past strictly better ones. */
    action sort() {
        if (changes == 1) {
            for (place = kept - 1; place > 0; place = place - 1) {
                exchange();
            }
            for (place = 2; place < kept; place = place + 1) {
                exchange();
            }
        }
        best_util.read(meta.probe_util, first);
    }

    apply {
        keep_fresh.apply(meta, kept, at, found);
        find_place();
        sort();
    }
}

control Probe(inout headers_t hdr, inout metadata_t meta) {
    PathUtil() path_util;
    UpdateBestHops() update_best_hops;
    Suppress() suppress;

    apply {
        scheme_counters.count(COUNT_PROBES);
        path_util.apply(hdr, meta);
        if (meta.tor >= meta.tors) {
            meta.verdict = DROPPED_BAD_PROBE;
        } else if (has_port(meta.hops, meta.arrival) == 1 && (meta.is_tor == 0 || meta.tor != meta.own_tor)) {
            update_best_hops.apply(meta);
            if (meta.is_tor == 0) {
                suppress.apply(meta);
            }
        }
    }
}
