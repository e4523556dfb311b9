/* SPDX-License-Identifier: Apache-2.0 */
/* ECMP for Tofino: the next hop of a flow is a hash of its 5-tuple (RFC 2992). The rules are those of p4/ecmp, the hash is the
 * chip's CRC. */

#include <core.p4>
#include <tna.p4>

struct scheme_t {
}

#include "switch.p4"
#include "headers.p4"
#include "routes.p4"

control Forward(inout tna_headers_t hdr, inout metadata_t meta) {
    apply {
        meta.port = meta.by_hash;
    }
}

#include "stateless.p4"
