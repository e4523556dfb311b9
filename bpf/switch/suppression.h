/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/* Suppression of probe replication: probes of one ToR go on about once in each period (HULA section 4.5). */
#pragma once

#include <linux/types.h>
#include <stdbool.h>

#include "switch/clock.h"
#include "switch/digest.h"

struct suppression {
	__u64 sent; /* time of the last probe that went on */
	__u64 any;  /* there was one */
};

/* True if a probe may go on now; then others are suppressed for 7/8 of the period. */
static __always_inline bool suppression_pass(struct suppression *last, __u64 now, __u64 period)
{
	if (last->any && since(now, last->sent) < period - period / 8)
		return false;
	last->any = 1;
	last->sent = now;
	return true;
}

static __always_inline void suppression_digest(const struct suppression *last, __u64 *digest)
{
	digest_word(digest, last->any);
	digest_word(digest, last->sent);
}
