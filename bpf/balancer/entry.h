/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/* The protocol by which processors share the entries of the flow and token tables.
 *
 * The last eight bytes of an entry are its status word. It ends with `seen`, which is 0 in a free entry and SEEN_BUSY
 * in one that a writer has claimed, and has all else that changes while the entry is in use.
 *
 * - A writer that replaces an entry claims it first: it exchanges the status word by which it chose the entry for a
 *   busy one. Of several writers one succeeds. It writes the rest of the entry, and publishes it with a new status
 *   word.
 * - A writer that changes no more than the status word exchanges the one that it has read for the new one, without a
 *   claim. It fails where another has claimed, changed or replaced the entry since. That change is lost; the next
 *   packet finds the entry as it is then.
 * - A reader reads the status word before and behind the rest. If both are equal, what it read belongs together. A
 *   claimed entry is absent for it.
 *
 * No other write is allowed: one without an exchange could end another processor's claim while that one is still
 * writing. */
#pragma once

#include "common/atomic.h"
#include "include/abi.h"

/* The part of a status word that both tables have. */
union status {
	struct {
		__u32 own;
		__u32 seen;
	};
	__u64 word;
};

/* Limit of reads of an entry that other processors change meanwhile. */
#define READ_TRIES 4

/* The buckets in which an entry may be: its own, and two extra ones. */
#define BUCKET_CHOICES 3

/* Takes the entry for a writer. False: another was faster, or has it. */
static __always_inline bool claim(shared_word *status, __u64 was)
{
	const union status busy = { .seen = SEEN_BUSY };

	return ((union status){ .word = was }).seen != SEEN_BUSY && compare_exchange(status, was, busy.word);
}

/* Gives a claimed entry to readers, with all that was written to it. */
static __always_inline void publish(shared_word *status, __u64 value)
{
	write_release(status, value);
}
