/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/* The tag of a steering header: SipHash-2-4, keyed by a secret of all balancers, of the header and of what it is about.
 *
 * Without the key nobody can make a message, nor put another packet behind one that was overheard, nor send it on as
 * another balancer's. Whoever overhears a message can send it once more: it says then what it said before.
 * heddle_balancer_maps::steering is the same in Rust. */
#pragma once

#include <stddef.h>

#include "common/packet.h"
#include "common/siphash.h"
#include "include/abi.h"

#define HEADER_WITHOUT_TAG 12

/* All that the tag is of, in network order. */
struct tagged {
	__u8 header[HEADER_WITHOUT_TAG]; /* struct steering up to the tag */
	__u8 ports[4];                   /* of the packet that follows, source and destination; of a later fragment its id */
	struct address sender;           /* the outer source */
	struct address source;           /* of the packet that follows */
	struct address destination;
	__u8 protocol;
	__u8 pad[7];
};
#define TAGGED_WORDS 9

_Static_assert(offsetof(struct steering, tag) == HEADER_WITHOUT_TAG, "all but the tag");
_Static_assert(sizeof(struct tagged) == TAGGED_WORDS * 8, "no padding, which would be of no value");

/* SipHash is defined on words with their lowest byte first. */
static __always_inline __u64 sip_word(__u64 word)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	return word;
#else
	return __builtin_bswap64(word);
#endif
}

/* `packet` follows the header; NULL: nothing does (heartbeats). */
static __always_inline void fill_tagged(struct tagged *tagged, const struct steering *message, const struct address *sender,
					const struct packet *packet)
{
	*tagged = (struct tagged){ .sender = *sender };
	__builtin_memcpy(tagged->header, message, HEADER_WITHOUT_TAG);
	if (!packet)
		return;
	tagged->source = packet->source;
	tagged->destination = packet->destination;
	tagged->protocol = packet->protocol;
	if (packet->later_fragment) {
		__builtin_memcpy(tagged->ports, &packet->fragment_id, sizeof(tagged->ports));
	} else {
		__builtin_memcpy(tagged->ports, &packet->source_port, sizeof(packet->source_port));
		__builtin_memcpy(tagged->ports + 2, &packet->destination_port, sizeof(packet->destination_port));
	}
}

/* The tag, as it lies in the header. */
static __always_inline __u64 tag_of(const __u64 key[2], const struct tagged *tagged)
{
	const __u64 *words = (const __u64 *)tagged;
	struct siphash s = sip_start(key);

#pragma clang loop unroll(full)
	for (int i = 0; i < TAGGED_WORDS; i++)
		sip_take(&s, sip_word(words[i]));
	return sip_word(sip_end(&s, TAGGED_WORDS));
}
