/* SPDX-License-Identifier: Apache-2.0 */
/* Utilisation and queue of the switch's own ports, as they are now.
 *
 * v1model tells a packet's queue in egress alone, in packets, and BMv2's own queue is not the link's: frames wait in the device
 * behind it. So egress computes the queue from what it sends, as heddle-switch does (bpf/switch/meter.h): each frame adds its
 * bytes, and the link drains them at its rate. It writes registers, which ingress reads. A frame that the device drops is counted
 * all the same, so the queue is limited to the one that fills the range of costs: more would change no choice. */

const bit<64> MOST_IDLE = 1 << 28; /* the longest tau */

/* Of a port: the queue in bytes behind the frame of meter_last, and what its link carries in tau, and the inverse of that. */
register<bit<32>>(SWITCH_PORTS) port_queue;
register<bit<64>>(SWITCH_PORTS) port_full;
register<bit<96>>(SWITCH_PORTS) port_inverse;

/* The queue of a link that carries `full` bytes in tau, at most 2^36, after the time since the last frame. */
bit<32> drained(in bit<32> queue, in bit<64> idle, in bit<64> full, in bit<8> tau) {
    bit<64> gone = MOST_IDLE;
    bit<32> left = 0;
    if (idle < MOST_IDLE) {
        gone = idle;
    }
    gone = (gone * full) >> tau;
    if (gone < (bit<64>)queue) {
        left = queue - (bit<32>)gone;
    }
    return left;
}

/* Counts a packet on its way to a port, before the port's estimator does. */
control MeasureQueue(inout metadata_t meta, in bit<32> port, in bit<64> now, in bit<32> bytes) {
    bit<64> own_full = 0;
    bit<96> own_inverse = 0;
    bit<32> queue = 0;
    bit<32> most = 0;
    bit<64> last = 0;
    bit<64> idle = 0;

    /* What the link carries in tau, and ceil(2^88 / full). */
    action set_capacity(bit<64> full, bit<96> inverse) {
        own_full = full;
        own_inverse = inverse;
    }

    action no_capacity() {
    }

    table capacities {
        key = {
            port: exact @name("port");
        }
        actions = {
            set_capacity;
            no_capacity;
        }
        default_action = no_capacity();
        size = 128;
    }

    action measure() {
        port_queue.read(queue, port);
        meter_last.read(last, port);
        idle = since(now, last);
        queue = drained(queue, idle, own_full, meta.tau) + bytes;
        most = 32w1 << 31;
        if (meta.scheme.full_queue_shift + meta.scheme.range_shift < 31) {
            most = 32w1 << (meta.scheme.full_queue_shift + meta.scheme.range_shift);
        }
        if (queue > most) {
            queue = most;
        }
        port_queue.write(port, queue);
        port_full.write(port, own_full);
        port_inverse.write(port, own_inverse);
    }

    apply {
        if (capacities.apply().hit) {
            measure();
        }
    }
}

#ifdef TEST_INPUTS
#define FOUR_TIMES(shift) shift shift shift shift /* v1model shifts by 255 bits at most */
#endif

/* The loads of the ports of all hops known towards meta.tor, in meta.scheme.utils and meta.scheme.queues. */
control ReadLoads(inout metadata_t meta) {
    bit<8> known = 0;
    bit<32> place = 0;
    bit<16> port = 0;
    bit<64> held = 0;
    bit<64> last = 0;
    bit<64> full = 0;
    bit<96> inverse = 0;
    bit<16> util = 0;
    bit<32> queue = 0;

    action read_load() {
        meter_bytes.read(held, (bit<32>)port);
        meter_last.read(last, (bit<32>)port);
        port_queue.read(queue, (bit<32>)port);
        port_full.read(full, (bit<32>)port);
        port_inverse.read(inverse, (bit<32>)port);
        held = dre_decayed(held, last, meta.now, meta.tau);
        util = dre_util(held, inverse);
        last = since(meta.now, last);
        queue = drained(queue, last, full, meta.tau);
#ifdef TEST_INPUTS
        if (meta.scheme.loaded == 1) {
            util = (bit<16>)(meta.scheme.port_utils FOUR_TIMES(>> ((bit<8>)port << 2)));
            queue = (bit<32>)(meta.scheme.port_queues FOUR_TIMES(>> ((bit<8>)port << 2)) FOUR_TIMES(>> ((bit<8>)port << 2)));
        }
#endif
    }

    action read_loads() {
        best_known.read(known, (bit<32>)meta.tor);
        for (place = (bit<32>)known; place > 0; place = place - 1) {
            best_port.read(port, ((bit<32>)meta.tor << 3) + (place - 1));
            read_load();
            meta.scheme.utils = meta.scheme.utils[111:0] ++ util;
            meta.scheme.queues = meta.scheme.queues[223:0] ++ queue;
        }
    }

    apply {
        read_loads();
    }
}

/* A queue of bytes as a share of a full link, of 65536; at most the range. */
bit<32> queue_of_link(in bit<32> queue, in bit<8> full_queue_shift, in bit<8> range_shift) {
    bit<64> share = ((bit<64>)queue << 16) >> full_queue_shift;
    bit<64> most = 64w0x10000 << range_shift;
    if (share > most) {
        share = most;
    }
    return (bit<32>)share;
}
