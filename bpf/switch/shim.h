/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/* The shim of MP-HULA, Shuttle and CONGA in frames (heddle-wire's shim): ETHERTYPE_SHIM, the MPTCP ID, the subflow's
 * number, and the EtherType of what follows.
 *
 * Under other schemes no frame has one. */
#pragma once

#include "switch/scheme.h"
#include "switch/shim_frames.h"
#include "switch/visit.h"

#ifndef SCHEME_HAS_SHIMS
static __always_inline int read_shim(frame *frame, struct visit *visit, __be16 *type)
{
	(void)visit;
	return *type == bpf_htons(ETHERTYPE_SHIM) ? drop(frame, DROPPED_BAD_SHIM) : SHIM_READY;
}

static __always_inline void observe(frame *frame, const struct visit *visit, const struct switch_destination *destination,
				    const struct switch_config *to)
{
	(void)frame;
	(void)visit;
	(void)destination;
	(void)to;
}

static __always_inline int add_shim(frame *frame, struct visit *visit)
{
	(void)frame;
	(void)visit;
	return SHIM_READY;
}

static __always_inline int remove_shim(frame *frame, struct visit *visit)
{
	(void)frame;
	(void)visit;
	return SHIM_READY;
}
#endif
