/* SPDX-License-Identifier: Apache-2.0 */
/* The remote figures of the next hops towards a ToR: what a probe said of the path behind the switch's own link. A port of
 * crates/schemes/policy/src/shuttle/hops.rs and of `probe` in shuttle.rs. */

/* Sets the remote figure of the port of arrival. In a full table a new hop takes the place of the first one with the highest
 * figure, if its own is lower. */
control UpdateRemoteHops(inout metadata_t meta) {
    KeepFresh() keep_fresh;
    bit<32> first = 0;
    bit<32> place = 0;
    bit<32> kept = 0;
    bit<32> at = 0;
    bit<1> found = 0;
    bit<1> changes = 0;
    bit<16> figure = 0;
    bit<16> highest = 0;

    action find_highest() {
        at = 0;
        best_util.read(highest, first);
        for (place = 1; place < kept; place = place + 1) {
            best_util.read(figure, first + place);
            if (figure > highest) {
                highest = figure;
                at = place;
            }
        }
    }

    /* Its place, if it gets one: its own, a free one, or that of the highest. */
    action set_figure() {
        first = (bit<32>)meta.tor << 3;
        changes = 1;
        if (found == 0) {
            if (kept < (bit<32>)meta.scheme.best_k) {
                at = kept;
                kept = kept + 1;
            } else {
                find_highest();
                if (meta.probe_util >= highest) {
                    changes = 0;
                }
            }
        }
        best_known.write((bit<32>)meta.tor, (bit<8>)kept);
        if (changes == 1) {
            best_port.write(first + at, meta.arrival);
            best_util.write(first + at, meta.probe_util);
            best_updated.write(first + at, meta.now);
        }
    }

    apply {
        keep_fresh.apply(meta, kept, at, found);
        set_figure();
    }
}

/* The least of max(remote figure, own link now) over the hops known, in the probe's quantisation. */
control LeastPath(inout metadata_t meta) {
    ReadLoads() read_loads;
    bit<8> known = 0;
    bit<32> place = 0;
    bit<16> path = 0;
    bit<32> own = 0;

    /* The own link of which 65536 is the range: with a range of one link its utilisation alone. */
    action own_figure() {
        own = (bit<32>)meta.scheme.utils[15:0];
        if (meta.scheme.range_shift != 0) {
            own = (own + queue_of_link(meta.scheme.queues[31:0], meta.scheme.full_queue_shift, meta.scheme.range_shift)) >> meta.scheme.range_shift;
            if (own > 0xffff) {
                own = 0xffff;
            }
        }
        own = own >> meta.scheme.quantise;
    }

    action find_least() {
        meta.probe_util = 0xffff;
        best_known.read(known, (bit<32>)meta.tor);
        for (place = 0; place < (bit<32>)known; place = place + 1) {
            best_util.read(path, ((bit<32>)meta.tor << 3) + place);
            own_figure();
            if ((bit<16>)own > path) {
                path = (bit<16>)own;
            }
            if (path < meta.probe_util) {
                meta.probe_util = path;
            }
            meta.scheme.utils = meta.scheme.utils >> 16;
            meta.scheme.queues = meta.scheme.queues >> 32;
        }
    }

    apply {
        read_loads.apply(meta);
        find_least();
    }
}

control Probe(inout headers_t hdr, inout metadata_t meta) {
    ReadProbe() read_probe;
    UpdateRemoteHops() update_remote_hops;
    Suppress() suppress;
    LeastPath() least_path;

    apply {
        scheme_counters.count(COUNT_PROBES);
        read_probe.apply(hdr, meta);
        if (meta.tor >= meta.tors) {
            meta.verdict = DROPPED_BAD_PROBE;
        } else if (has_port(meta.hops, meta.arrival) == 1 && (meta.is_tor == 0 || meta.tor != meta.own_tor)) {
            update_remote_hops.apply(meta);
            if (meta.is_tor == 0) {
                suppress.apply(meta);
                if (meta.verdict == PROBE_FORWARDED) {
                    least_path.apply(meta);
                }
            }
        }
    }
}
