/* SPDX-License-Identifier: Apache-2.0 */
/* Packets that are dropped, and whose sender is to know: the control plane answers with ICMP "time exceeded", "fragmentation
 * needed" or "packet too big" (control/heddle_p4/icmp.py), and sends its answer into the CPU port as any packet. */

/* For a packet that is longer than the least MTU: that of its port. */
control CheckLength(inout metadata_t meta) {
    action set_mtu(bit<32> mtu) {
        meta.mtu = mtu;
    }

    action no_mtu() {
        meta.mtu = NO_LIMIT;
    }

    table mtus {
        key = {
            meta.port: exact;
        }
        actions = {
            set_mtu;
            no_mtu;
        }
        default_action = no_mtu();
        size = 128;
    }

    apply {
        mtus.apply();
        if (meta.length > meta.mtu) {
            meta.verdict = DROPPED_TOO_BIG;
            meta.port = NO_PORT;
        }
    }
}

/* Reports are limited, as the answers are to be (RFC 1812, 4.3.2.8; RFC 4443, 2.4 f), and the CPU port is spared. */
#define REPORT_INTERVAL 1000000 /* ns a report, of a kind */
#define REPORT_BURST 32

const bit<32> EXPIRED = 0;
const bit<32> TOO_LONG = 1;

register<bit<64>>(2) reports_paid; /* the time at which all reports until now will have been paid for, an interval each */

/* A packet with a shim is not reported: its sender did not send it so. */
control Report(inout headers_t hdr, inout metadata_t meta) {
    action report(bit<32> mtu) {
        hdr.report.setValid();
        hdr.report.ether_type = hdr.ethernet.ether_type;
        hdr.report.mtu = mtu;
        hdr.ethernet.ether_type = ETHERTYPE_REPORT;
        meta.port = meta.controller;
    }

    apply {
        bit<32> kind = EXPIRED;
        bit<32> mtu = 0;
        bit<64> paid;
        if (meta.verdict == DROPPED_TOO_BIG) {
            kind = TOO_LONG;
            mtu = meta.mtu;
        }
        reports_paid.read(paid, kind);
        if (paid < meta.now) {
            paid = meta.now;
        }
        if (meta.shimmed == 0 && meta.controller != NO_PORT && paid - meta.now < REPORT_BURST * REPORT_INTERVAL) {
            reports_paid.write(kind, paid + REPORT_INTERVAL);
            report(mtu);
        }
    }
}
