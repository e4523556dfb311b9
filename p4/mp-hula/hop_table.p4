/* SPDX-License-Identifier: Apache-2.0 */
/* The table of k next hops towards a ToR, which MP-HULA and Shuttle have, each with hops and an order of its own. A port of
 * crates/schemes/policy/src/hop_table.rs. */

/* Keeps the hops towards the probe's ToR that were refreshed within T_fail, `kept` of them. `found`: the port of arrival is among
 * them, at `at`. */
control KeepFresh(inout metadata_t meta, out bit<32> kept, out bit<32> at, out bit<1> found) {
    bit<32> first = 0;
    bit<32> place = 0;
    bit<8> known = 0;
    bit<16> port = 0;
    bit<16> util = 0;
    bit<64> updated = 0;
    bit<64> age = 0;

    action keep_fresh() {
        first = (bit<32>)meta.tor << 3;
        kept = 0;
        at = 0;
        found = 0;
        best_known.read(known, (bit<32>)meta.tor);
        for (place = 0; place < (bit<32>)known; place = place + 1) {
            best_updated.read(updated, first + place);
            age = since(meta.now, updated);
            if (age <= meta.scheme.fail_after) {
                best_port.read(port, first + place);
                best_util.read(util, first + place);
                if (port == meta.arrival) {
                    found = 1;
                    at = kept;
                }
                best_updated.write(first + kept, updated);
                best_port.write(first + kept, port);
                best_util.write(first + kept, util);
                kept = kept + 1;
            }
        }
    }

    apply {
        keep_fresh();
    }
}
