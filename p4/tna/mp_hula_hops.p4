/* SPDX-License-Identifier: Apache-2.0 */
/* MP-HULA's next hops (section 2.3) and what the subflows of a connection use of them (sections 2.4 and 2.5), with one access to
 * a register in a pass.
 *
 * Each of a ToR's next hops has a number, and a register of its own: a probe by it writes there and reads the others. A word of
 * 16 bits has what is left of its path's capacity in front of its number, so the greatest word is the best hop, and 0 is none.
 * Likewise each of a connection's subflows. */

#ifndef CONNECTIONS
#define CONNECTIONS 65536
#endif

const bit<16> NO_HOP = 0;

struct path_t {
    bit<32> updated;
    bit<32> word;
}

struct subflow_t {
    bit<32> last;
    bit<32> hop; /* a bit */
}

/* The word of a hop that a probe has named, or that is stale for want of probes (HULA section 4.4). */
control Hop(inout metadata_t meta, in bit<8> number, inout bit<16> word) {
    Register<path_t, bit<16>>(SWITCH_TORS, {0, 0}) paths;
    RegisterParam<bit<32>>(600000) fail_after;

    RegisterAction<path_t, bit<16>, bit<16>>(paths) read = {
        void apply(inout path_t path, out bit<16> found) {
            if (meta.now - path.updated > fail_after.read()) {
                found = 0;
            } else {
                found = (bit<16>)path.word;
            }
        }
    };

    RegisterAction<path_t, bit<16>, bit<16>>(paths) write = {
        void apply(inout path_t path, out bit<16> found) {
            path.updated = meta.now;
            path.word = (bit<32>)meta.scheme.word;
            found = meta.scheme.word;
        }
    };

    apply {
        if (meta.scheme.probed == number) {
            word = write.execute(meta.tor);
        } else {
            word = read.execute(meta.tor);
        }
    }
}

/* The hop of another subflow of the connection, if it has had packets within a flowlet's gap. */
control Subflow(inout metadata_t meta, in bit<8> number, inout bit<8> hop) {
    Register<subflow_t, bit<16>>(CONNECTIONS, {0, 0}) subflows;
    RegisterParam<bit<32>>(100000) flowlet_gap;

    RegisterAction<subflow_t, bit<16>, bit<8>>(subflows) read = {
        void apply(inout subflow_t subflow, out bit<8> found) {
            if (meta.now - subflow.last > flowlet_gap.read()) {
                found = 0;
            } else {
                found = (bit<8>)subflow.hop;
            }
        }
    };

    RegisterAction<subflow_t, bit<16>, bit<8>>(subflows) touch = {
        void apply(inout subflow_t subflow, out bit<8> found) {
            subflow.last = meta.now;
            found = (bit<8>)subflow.hop;
        }
    };

    RegisterAction<subflow_t, bit<16>, bit<8>>(subflows) write = {
        void apply(inout subflow_t subflow, out bit<8> found) {
            subflow.last = meta.now;
            subflow.hop = (bit<32>)meta.scheme.hop;
            found = 0;
        }
    };

    apply {
        if (meta.scheme.way != number) {
            hop = read.execute(meta.scheme.row);
        } else if (meta.scheme.sets == 1) {
            hop = write.execute(meta.scheme.row);
        } else {
            meta.scheme.own = touch.execute(meta.scheme.row);
        }
    }
}

/* The words of all hops to the ToR, whose numbers begin with 1. */
control Hops(inout metadata_t meta) {
    Hop() hop_0;
    Hop() hop_1;
    Hop() hop_2;
    Hop() hop_3;

    apply {
        hop_0.apply(meta, 1, meta.scheme.word_0);
        hop_1.apply(meta, 2, meta.scheme.word_1);
        hop_2.apply(meta, 3, meta.scheme.word_2);
        hop_3.apply(meta, 4, meta.scheme.word_3);
    }
}

/* A set of hops. */
control HopsOfOthers(inout metadata_t meta) {
    Subflow() subflow_0;
    Subflow() subflow_1;
    Subflow() subflow_2;
    Subflow() subflow_3;
    bit<8> hop_0 = 0;
    bit<8> hop_1 = 0;
    bit<8> hop_2 = 0;
    bit<8> hop_3 = 0;

    apply {
        subflow_0.apply(meta, 0, hop_0);
        subflow_1.apply(meta, 1, hop_1);
        subflow_2.apply(meta, 2, hop_2);
        subflow_3.apply(meta, 3, hop_3);
        hop_0 = hop_0 | hop_1;
        hop_2 = hop_2 | hop_3;
        meta.scheme.avoided = hop_0 | hop_2;
    }
}

/* The best of the hops that no other subflow uses, or of all if all are used. */
control BestHop(inout metadata_t meta) {
    apply {
        meta.scheme.best = max(meta.scheme.word_0, meta.scheme.word_1);
        meta.scheme.second = max(meta.scheme.word_2, meta.scheme.word_3);
        if (meta.scheme.avoided[0:0] == 1) {
            meta.scheme.word_0 = NO_HOP;
        }
        if (meta.scheme.avoided[1:1] == 1) {
            meta.scheme.word_1 = NO_HOP;
        }
        if (meta.scheme.avoided[2:2] == 1) {
            meta.scheme.word_2 = NO_HOP;
        }
        if (meta.scheme.avoided[3:3] == 1) {
            meta.scheme.word_3 = NO_HOP;
        }
        meta.scheme.best = max(meta.scheme.best, meta.scheme.second);
        meta.scheme.word_0 = max(meta.scheme.word_0, meta.scheme.word_1);
        meta.scheme.word_2 = max(meta.scheme.word_2, meta.scheme.word_3);
        meta.scheme.word = max(meta.scheme.word_0, meta.scheme.word_2);
        if (meta.scheme.word == NO_HOP) {
            meta.scheme.word = meta.scheme.best;
        }
    }
}
