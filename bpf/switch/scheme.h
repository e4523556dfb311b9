/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/* The scheme of this object, whose header SCHEME_HEADER names: "switch/scheme_hula.h"; without it ECMP.
 *
 * Each has SCHEME_OF_OBJECT (its number), SCHEME_MAPS (its own maps), and scheme_forward, the port of a data packet to
 * another ToR (negative: none). One with probes defines SCHEME_HAS_PROBES and has scheme_probe, which returns 0 if the
 * probe was handled. One with shims defines SCHEME_HAS_SHIMS, and has scheme_egress; if switches on the way change
 * them, SCHEME_WRITES_SHIMS, and if ToRs read handshakes, SCHEME_READS_HANDSHAKES, with scheme_observe. One that reads
 * header fields, and not the hash of the flow, defines SCHEME_READS_FIELDS. */
#pragma once

#ifndef SCHEME_HEADER
#define SCHEME_HEADER "switch/scheme_ecmp.h"
#endif

#include SCHEME_HEADER

#ifndef SCHEME_HAS_PROBES
static __always_inline int scheme_probe(struct probe_request *request)
{
	(void)request;
	return 0;
}
#endif

static __always_inline bool scheme_reads_fields(void)
{
#ifdef SCHEME_READS_FIELDS
	return true;
#else
	return false;
#endif
}
