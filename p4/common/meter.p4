/* SPDX-License-Identifier: Apache-2.0 */
/* The utilisation estimator of a port (HULA section 4.2): U = D + U * (1 - dt / tau), updated when a packet starts transmission.
 *
 * Tau is a power of two of nanoseconds, at most 2^28, and the register at most 2^36 - 1 bytes: their product fits into 64 bits.
 * The division by what the link carries in tau is a multiplication by its inverse, exact for all values of the register: egress
 * of a v1model switch has several threads, but a port is always one thread's. */

const bit<64> DRE_MAX_BYTES = 0xfffffffff;

bit<64> dre_decayed(in bit<64> bytes, in bit<64> last, in bit<64> now, in bit<8> tau) {
    bit<64> dt = since(now, last);
    bit<64> left = 0;
    if (dt >> tau == 0) {
        left = bytes - ((bytes * dt) >> tau);
    }
    return left;
}

/* Of 65536. */
bit<16> dre_util(in bit<64> bytes, in bit<96> inverse) {
    bit<160> quotient = ((bit<160>)bytes << 16) * (bit<160>)inverse >> 88;
    bit<16> util = 0xffff;
    if (quotient < 0xffff) {
        util = (bit<16>)quotient;
    }
    return util;
}

register<bit<64>>(SWITCH_PORTS) meter_bytes;
register<bit<64>>(SWITCH_PORTS) meter_last;

/* Counts a packet that starts transmission. */
control Meter(in bit<32> port, in bit<64> now, in bit<32> bytes, in bit<8> tau) {
    apply {
        bit<64> held;
        bit<64> last;
        meter_bytes.read(held, port);
        meter_last.read(last, port);
        held = dre_decayed(held, last, now, tau) + (bit<64>)bytes;
        if (held > DRE_MAX_BYTES) {
            held = DRE_MAX_BYTES;
        }
        meter_bytes.write(port, held);
        meter_last.write(port, now);
    }
}

/* The transmit utilisation of the port of arrival. */
control ReadMeter(inout headers_t hdr, inout metadata_t meta) {
    apply {
        bit<64> held = 0;
        bit<64> last = 0;
        if (meta.arrival < SWITCH_PORTS) {
            meter_bytes.read(held, (bit<32>)meta.arrival);
            meter_last.read(last, (bit<32>)meta.arrival);
        }
        held = dre_decayed(held, last, meta.now, meta.tau);
        meta.link_util = dre_util(held, meta.inverse);
#ifdef TEST_INPUTS
        if (hdr.test_input.kind == TEST_PACKET) {
            meta.link_util = hdr.test_input.link_util;
        }
#endif
    }
}
