/* SPDX-License-Identifier: Apache-2.0 */
/* The hop of a flowlet that starts: a weighted reservoir sample of size 1 (Chao 1982) over the hops known, in one pass without a
 * division. A port of crates/schemes/policy/src/shuttle/choice.rs. */

/* Hops of the subflows of one connection. */
const bit<2> SUBFLOWS_APART = 0;      /* each avoids the hops of the others */
const bit<2> SUBFLOWS_FIRST_FREE = 1; /* each but the first does, as in MP-HULA */
const bit<2> SUBFLOWS_ALIKE = 2;      /* each chooses alone */

const bit<32> FULL_LINK = 0x10000; /* of figures of own ports; of costs it is the range */

/* (1 - cost)^2 in units of 2^-16, from 1 to 2^16: a hop that is full still has a chance. */
bit<32> weight_of(in bit<32> cost) {
    bit<64> room = 1;
    bit<32> weight = 1;
    if (cost < FULL_LINK - 1) {
        room = (bit<64>)(FULL_LINK - cost);
    }
    room = (room * room) >> 16;
    if (room > 1) {
        weight = (bit<32>)room;
    }
    return weight;
}

/* A known hop that the packet's flowlet may take, in meta.port; NO_PORT if none is known. A hop that another live subflow of its
 * connection uses counts only while all do. */
control Choose(inout metadata_t meta) {
    HopsOfOthers() hops_of_others;
    ReadLoads() read_loads;
    bit<8> known = 0;
    bit<32> place = 0;
    /* The hop that is offered */
    bit<16> port = 0;
    bit<16> remote = 0;
    bit<1> shared = 0;
    bit<32> cost = 0;
    bit<32> load = 0; /* of its own port: utilisation and queue, in full links */
    bit<32> weight = 0;
    /* Those drawn so far */
    bit<16> first = NO_PORT;
    bit<1> first_shared = 0;
    bit<32> first_cost = 0;
    bit<32> first_load = 0;
    bit<16> second = NO_PORT;
    bit<1> second_shared = 0;
    bit<32> second_load = 0;
    bit<32> offered = 0;
    bit<32> total = 0; /* weights offered, since the first hop that is not shared */
    bit<1> counts = 0;

    /* Cost of the path: the greater of the remote figure and the own utilisation, and the own queue, as a share of the range. */
    action weigh() {
        load = (bit<32>)meta.scheme.utils[15:0];
        cost = (bit<32>)remote << meta.scheme.quantise;
        if (cost > FULL_LINK - 1) {
            cost = FULL_LINK - 1;
        }
        cost = cost << meta.scheme.range_shift;
        if (load > cost) {
            cost = load;
        }
        weight = queue_of_link(meta.scheme.queues[31:0], meta.scheme.full_queue_shift, meta.scheme.range_shift);
        load = load + weight;
        cost = (cost + weight) >> meta.scheme.range_shift;
        weight = weight_of(cost);
    }

    action take_first() {
        first = port;
        first_shared = shared;
        first_cost = cost;
        first_load = load;
    }

    action draw() {
        MIX(meta.scheme.bits, meta.scheme.random, offered << 1)
        if (pick(meta.scheme.bits, total) < weight) {
            take_first();
        }
        MIX(meta.scheme.bits, meta.scheme.random, (offered << 1) + 1)
        if (pick(meta.scheme.bits, total) < weight) {
            second = port;
            second_shared = shared;
            second_load = load;
        }
    }

    action offer() {
        weigh();
        shared = has_port(meta.scheme.avoided, port);
        counts = 1;
        if (first != NO_PORT) {
            if (first_shared == 0) {
                counts = ~shared;
            } else if (shared == 0) {
                first = NO_PORT;
                second = NO_PORT;
                total = 0;
            }
        }
        if (counts == 1) {
            total = total + weight;
            offered = offered + 1;
            if (meta.scheme.least == 0) {
                draw();
            } else if (first == NO_PORT || cost < first_cost) {
                take_first();
            }
        }
    }

    action offer_all() {
        for (place = 0; place < (bit<32>)known; place = place + 1) {
            best_port.read(port, ((bit<32>)meta.tor << 3) + place);
            best_util.read(remote, ((bit<32>)meta.tor << 3) + place);
            if (is_usable(meta.hops, meta.up, meta.scheme.local_detection, port) == 1) {
                offer();
            }
            meta.scheme.utils = meta.scheme.utils >> 16;
            meta.scheme.queues = meta.scheme.queues >> 32;
        }
    }

    action draw_bits() {
#ifdef TEST_INPUTS
        if (meta.scheme.loaded == 0)
#endif
        {
            random<bit<32>>(meta.scheme.random, 0, 0xffffffff);
        }
    }

    apply {
        meta.scheme.avoided = 0;
        if (meta.scheme.subflows == SUBFLOWS_APART && meta.scheme.shim_subflow != 0
            || meta.scheme.subflows == SUBFLOWS_FIRST_FREE && meta.scheme.shim_subflow > 1) {
            hops_of_others.apply(meta, 0);
        }
        if (meta.tor < meta.tors) {
            best_known.read(known, (bit<32>)meta.tor);
            read_loads.apply(meta);
            if (meta.scheme.least == 0) {
                draw_bits();
            }
            offer_all();
        }
        meta.port = first;
        if (meta.scheme.two_draws == 1 && meta.scheme.least == 0 && second != NO_PORT && second_load < first_load) {
            meta.port = second;
            first_shared = second_shared;
        }
        if (meta.port != NO_PORT && first_shared == 1) {
            scheme_counters.count(COUNT_SHARED);
        }
    }
}
