/* SPDX-License-Identifier: Apache-2.0 */
/* The passes of HULA's and MP-HULA's packets: between ingress and egress, and on the recirculation port, each has a bridge header
 * in front. A port without one is a host's or a switch's. */

#define HAS_BRIDGE

typedef bit<8> pass_t;
const pass_t PASS_DATA = 0x80;     /* to egress: a packet */
const pass_t PASS_MEASURE = 0x81;  /* to egress and back: a probe, for the utilisation of its port of arrival */
const pass_t PASS_MEASURED = 0x82; /* from there: it has it */
const pass_t PASS_PROBE = 0x83;    /* to egress: replicas of a probe; a copy for the recirculation port comes back as PASS_SET_BEST */
const pass_t PASS_SET_BEST = 0x84; /* from there: the port is the best hop to the probe's ToR */
const pass_t PASS_SET_HOP = 0x85;  /* MP-HULA, to egress and back: a subflow has another hop */

header bridge_t {
    pass_t pass;
    @padding bit<7> padding;
    PortId_t port; /* of a probe's arrival */
    bit<8> util;   /* of that port */
#ifdef HAS_SHIMS
    bit<16> row; /* of the connection of a subflow that has another hop */
    bit<8> way;  /* and the subflow's place in it */
    bit<8> hop;  /* a bit for the hop's number */
#endif
}
