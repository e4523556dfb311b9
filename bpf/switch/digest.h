/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/* Digests of a switch's state, by which implementations are compared (vectors/schemes/README.md): 64-bit FNV-1a of
 * 64-bit words. */
#pragma once

#include <linux/types.h>

#include "common/native.h"

#define DIGEST_START 0xcbf29ce484222325ULL

static __always_inline void digest_word(__u64 *digest, __u64 word)
{
	for (int byte = 0; byte < 8; byte++)
		*digest = (*digest ^ (word >> 8 * byte & 0xff)) * 0x100000001b3ULL;
}
