/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of the pipeline that schemes without shims and handshakes, or without probes and settings, do not have. */

#ifndef HAS_SHIMS
control Observe(inout headers_t hdr, inout metadata_t meta) {
    apply {
    }
}

/* No switch of these schemes adds a shim: the packet is not theirs. */
control Deliver(inout headers_t hdr, inout metadata_t meta) {
    apply {
    }
}
#endif

#ifndef HAS_SETTINGS
control ConfigureScheme(inout metadata_t meta) {
    apply {
    }
}
#endif

#ifndef HAS_PROBES
/* Probes are of other schemes. */
control Probe(inout headers_t hdr, inout metadata_t meta) {
    apply {
    }
}
#endif
