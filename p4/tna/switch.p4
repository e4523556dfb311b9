/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the programs for Tofino (TNA): sizes, verdicts, a packet's way through the switch. `scheme_t` is the scheme's own
 * part. */

#ifndef SWITCH_TORS
#define SWITCH_TORS 1024
#endif
#define HOPS_OF_ALL_TORS 8192
#define MOST_HOPS 64

typedef bit<4> role_t;
const role_t ROLE_NONE = 0;
const role_t ROLE_HOST = 1;
const role_t ROLE_SWITCH = 2;

const PortId_t NO_PORT = 0x1ff;

/* As in p4/common/metadata.p4. */
typedef bit<8> verdict_t;
const verdict_t FORWARDED = 0;
const verdict_t DELIVERED = 1;
const verdict_t PROBE_TAKEN = 2;
const verdict_t PROBE_FORWARDED = 3;
const verdict_t PROBE_SENT = 4;
const verdict_t DROPPED_NO_ROUTE = 5;
const verdict_t DROPPED_TTL = 6;
const verdict_t DROPPED_NOT_IP = 8;
const verdict_t DROPPED_HOST_PROBE = 9;
const verdict_t DROPPED_HOST_SHIM = 10;
const verdict_t DROPPED_BAD_SHIM = 12;
const verdict_t DROPPED_NO_PORT = 13;
#define VERDICTS 16

struct metadata_t {
    bit<32> now; /* ns */
    verdict_t verdict;
    role_t role;
    bit<1> replicates;   /* the switch is no ToR */
    bit<16> probe_group; /* multicast group of a probe that arrives here: never has the port itself */
    PortId_t arrival;
    bit<16> tor;
    bit<1> local;
    bit<8> ttl;
    bit<16> source_port; /* of the packet's flow: 0 without ports */
    bit<16> destination_port;
    bit<32> flow_hash;
    PortId_t by_hash;    /* ECMP's hop */
    PortId_t port;
    scheme_t scheme;
}
