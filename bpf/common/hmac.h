/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/* MPTCP's hashes of keys and its HMACs (RFC 2104): with SHA-1 in version 0 (RFC 6824), with SHA-256 in version 1 (RFC
 * 8684). */
#pragma once

#include <bpf/bpf_endian.h>

#include "common/sha1.h"
#include "common/sha256.h"

/* What a hash function hands from block to block; SHA-1 uses the first five. */
struct digest {
	__u32 words[8];
};

struct hash_block {
	__u32 words[16];
};

__noinline int sha256_block(struct digest *digest, const struct hash_block *block)
{
	struct sha256 hash;

	if (!digest || !block)
		return 0;
	hash = (struct sha256){
		.a = digest->words[0],
		.b = digest->words[1],
		.c = digest->words[2],
		.d = digest->words[3],
		.e = digest->words[4],
		.f = digest->words[5],
		.g = digest->words[6],
		.h = digest->words[7],
	};
	__builtin_memcpy(hash.words, block->words, sizeof(hash.words));
#pragma clang loop unroll(full)
	for (int round = 0; round < 64; round++) {
		keep_in_memory(hash.words);
		sha256_round(&hash, round);
	}
	digest->words[0] += hash.a;
	digest->words[1] += hash.b;
	digest->words[2] += hash.c;
	digest->words[3] += hash.d;
	digest->words[4] += hash.e;
	digest->words[5] += hash.f;
	digest->words[6] += hash.g;
	digest->words[7] += hash.h;
	return 0;
}

__noinline int sha1_block(struct digest *digest, const struct hash_block *block)
{
	struct sha1 hash;

	if (!digest || !block)
		return 0;
	hash = (struct sha1){
		.a = digest->words[0],
		.b = digest->words[1],
		.c = digest->words[2],
		.d = digest->words[3],
		.e = digest->words[4],
	};
	__builtin_memcpy(hash.words, block->words, sizeof(hash.words));
#pragma clang loop unroll(full)
	for (int round = 0; round < 80; round++) {
		keep_in_memory(hash.words);
		sha1_round(&hash, round);
	}
	digest->words[0] += hash.a;
	digest->words[1] += hash.b;
	digest->words[2] += hash.c;
	digest->words[3] += hash.d;
	digest->words[4] += hash.e;
	return 0;
}

static __always_inline void hash_start(__u32 version, struct digest *digest)
{
	if (version)
		*digest = (struct digest){ { 0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab,
					     0x5be0cd19 } };
	else
		*digest = (struct digest){ { 0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0 } };
}

static __always_inline void hash_block(__u32 version, struct digest *digest, const struct hash_block *block)
{
	if (version)
		sha256_block(digest, block);
	else
		sha1_block(digest, block);
}

static __always_inline __u32 hash_words(__u32 version)
{
	return version ? 8 : 5;
}

/* An HMAC in the making: its input, which may go over it again with another key, and its result. */
struct hmac {
	__u32 version; /* of MPTCP */
	__u32 bytes;   /* of the message, at most HMAC_MESSAGE */
	__u8 keys[16]; /* the sender's, the receiver's */
	__u8 message[64];
	struct hash_block block;
	struct hash_block outer;
	struct digest digest;
};

#define HMAC_MESSAGE 55 /* fits in one block with its end */

static __always_inline __u32 word_at(const __u8 *bytes)
{
	__be32 word;

	__builtin_memcpy(&word, bytes, sizeof(word));
	return bpf_ntohl(word);
}

/* The padded key's block, each byte of it changed by `pad`. */
static __always_inline void hmac_key_block(struct hmac *hmac, __u32 pad)
{
	for (int word = 0; word < 16; word++)
		hmac->block.words[word] = pad ^ (word < 4 ? word_at(hmac->keys + 4 * word) : 0);
}

static __always_inline void hmac_message_block(struct hmac *hmac)
{
	for (int word = 0; word < 15; word++)
		hmac->block.words[word] = word_at(hmac->message + 4 * word);
	hmac->block.words[15] = (64 + hmac->bytes) * 8;
}

/* The block of the inner digest, with its end. */
static __always_inline void hmac_outer_block(struct hmac *hmac)
{
	__u32 words = hash_words(hmac->version);

	hmac->outer = (struct hash_block){};
	__builtin_memcpy(hmac->outer.words, hmac->digest.words, sizeof(hmac->digest.words));
	if (words == 5)
		hmac->outer.words[5] = 0x80000000;
	else
		hmac->outer.words[8] = 0x80000000;
	hmac->outer.words[15] = (64 + words * 4) * 8;
}

/* Computes `digest` of the keys and the message, behind whose end nothing but zeros may be. */
__noinline int hmac_compute(struct hmac *hmac)
{
	__u32 version, bytes;

	if (!hmac)
		return 0;
	version = hmac->version;
	bytes = hmac->bytes;
	if (bytes > HMAC_MESSAGE)
		return 0;
	hmac->message[bytes] = 0x80;
	hash_start(version, &hmac->digest);
	hmac_key_block(hmac, 0x36363636);
	hash_block(version, &hmac->digest, &hmac->block);
	hmac_message_block(hmac);
	hash_block(version, &hmac->digest, &hmac->block);
	hmac_outer_block(hmac);
	hash_start(version, &hmac->digest);
	hmac_key_block(hmac, 0x5c5c5c5c);
	hash_block(version, &hmac->digest, &hmac->block);
	hash_block(version, &hmac->digest, &hmac->outer);
	return 0;
}
