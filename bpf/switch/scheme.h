/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/* The scheme of this object: one of WITH_HULA, WITH_MP_HULA, WITH_SHUTTLE and WITH_CFLB is defined, or none: ECMP.
 *
 * Each has scheme_forward, the port of a data packet to another ToR (negative: none), and scheme_probe, which returns 0 if the probe was
 * handled. A scheme with shims defines SCHEME_HAS_SHIMS, and has scheme_observe and scheme_egress (scheme_mptcp.h). */
#pragma once

#if defined(WITH_MP_HULA)
#include "switch/scheme_mp_hula.h"
#elif defined(WITH_SHUTTLE)
#include "switch/scheme_shuttle.h"
#elif defined(WITH_HULA)
#include "switch/scheme_hula.h"
#elif defined(WITH_CFLB)
#include "switch/scheme_cflb.h"
#else
#include "switch/scheme_ecmp.h"
#endif

#ifndef WITH_CFLB
static __always_inline bool scheme_reads_fields(void)
{
	return false;
}
#endif
