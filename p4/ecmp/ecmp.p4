/* SPDX-License-Identifier: Apache-2.0 */
/* ECMP: the next hop of a flow is a hash of its 5-tuple (RFC 2992). A port of crates/schemes/policy/src/ecmp.rs. */

#include <core.p4>
#include <v1model.p4>

struct scheme_t {
}

#include "../common/headers.p4"
#include "../common/metadata.p4"
#include "../common/hash.p4"
#include "../common/parser.p4"
#include "../common/flow.p4"
#include "../common/routes.p4"
#include "../common/report.p4"
#include "../common/meter.p4"
#include "../common/empty.p4"

control Forward(inout headers_t hdr, inout metadata_t meta) {
    Member() member;

    action mix_flow() {
        MIX(meta.mixed, meta.flow_hash, meta.salt)
    }

    apply {
        bit<32> index = 0;
        mix_flow();
        index = pick(meta.mixed, (bit<32>)meta.count);
        meta.index = (bit<8>)index;
        member.apply(meta);
    }
}

#include "../common/switch.p4"
