/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/* The scheme of this object: one of WITH_HULA, WITH_MP_HULA and WITH_CFLB is defined, or none: ECMP.
 *
 * Each has scheme_forward, the port of a data packet to another ToR (negative: none), and scheme_probe, which returns 0 if the probe was
 * handled. */
#pragma once

#if defined(WITH_MP_HULA)
#include "switch/scheme_mp_hula.h"
#elif defined(WITH_HULA)
#include "switch/scheme_hula.h"
#elif defined(WITH_CFLB)
#include "switch/scheme_cflb.h"
#else
#include "switch/scheme_ecmp.h"
#endif

#ifndef WITH_MP_HULA
static __always_inline bool scheme_has_shims(void)
{
	return false;
}
#endif

#ifndef WITH_CFLB
static __always_inline bool scheme_reads_fields(void)
{
	return false;
}
#endif
