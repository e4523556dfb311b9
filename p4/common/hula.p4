/* SPDX-License-Identifier: Apache-2.0 */
/* HULA and MP-HULA: their settings, suppression, the choice by hash. */

#ifndef FLOWLET_SLOTS
#define FLOWLET_SLOTS 65536
#endif

control ConfigureHula(inout metadata_t meta) {
    /* suppress_for: 7/8 of the probe period. fail_after: T_fail. flowlet_mask: slots in use, a power of two, less one. quantise:
     * 16 bits less those of a probe's utilisation. listing: figure 3b's update rule as printed. local_detection: ports of the
     * switch that are down are not used. */
    action set_hula(bit<64> suppress_for, bit<64> fail_after, bit<64> flowlet_gap, bit<32> flowlet_mask, bit<8> quantise, bit<1> listing,
                    bit<1> local_detection) {
        meta.scheme.suppress_for = suppress_for;
        meta.scheme.fail_after = fail_after;
        meta.scheme.flowlet_gap = flowlet_gap;
        meta.scheme.flowlet_mask = flowlet_mask;
        meta.scheme.quantise = quantise;
        meta.scheme.listing = listing;
        meta.scheme.local_detection = local_detection;
    }

    table hula_settings {
        actions = {
            set_hula;
        }
        default_action = set_hula(0, 0, 0, 0, 8, 0, 0);
    }

    apply {
        hula_settings.apply();
    }
}

/* The utilisation that a probe tells, in its quantisation. */
control ReadProbe(inout headers_t hdr, inout metadata_t meta) {
    apply {
#ifdef TEST_INPUTS
        meta.probe_util = hdr.test_input.util;
#else
        bit<16> most = 16w0xffff >> meta.scheme.quantise;
        meta.probe_util = (bit<16>)hdr.probe.util;
        if (meta.probe_util > most) {
            meta.probe_util = most;
        }
#endif
    }
}

/* The utilisation of a probe's path, with this switch's link: the larger of both, in the probe's quantisation. */
control PathUtil(inout headers_t hdr, inout metadata_t meta) {
    ReadProbe() read_probe;

    apply {
        bit<16> link = meta.link_util >> meta.scheme.quantise;
        read_probe.apply(hdr, meta);
        if (link > meta.probe_util) {
            meta.probe_util = link;
        }
    }
}

register<bit<64>>(SWITCH_TORS) probe_sent;     /* when a probe of this ToR last went on */
register<bit<1>>(SWITCH_TORS) probe_sent_once; /* there was one */

/* Probes of one ToR go on about once in each period (section 4.5). */
control Suppress(inout metadata_t meta) {
    apply {
        bit<64> sent;
        bit<1> once;
        probe_sent.read(sent, (bit<32>)meta.tor);
        probe_sent_once.read(once, (bit<32>)meta.tor);
        if (once == 0 || since(meta.now, sent) >= meta.scheme.suppress_for) {
            probe_sent.write((bit<32>)meta.tor, meta.now);
            probe_sent_once.write((bit<32>)meta.tor, 1);
            meta.verdict = PROBE_FORWARDED;
        }
    }
}

/* 1 for a port that a flowlet may take. */
bit<1> is_usable(in bit<64> hops, in bit<64> up, in bit<1> local_detection, in bit<16> port) {
    bit<1> usable = has_port(hops, port);
    if (local_detection == 1) {
        usable = usable & has_port(up, port);
    }
    return usable;
}

/* The number of ECMP's hop, or of the next usable one behind it; ECMP's if none is usable. */
control FallBack(inout metadata_t meta) {
    apply {
        bit<32> index = pick(meta.mixed, (bit<32>)meta.count);
        meta.index = (bit<8>)index;
        if (meta.scheme.local_detection == 1) {
            meta.index = next_index(meta.usable, meta.index);
        }
    }
}
