/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/* Tokens, initial data sequence numbers and HMACs of both keys. */
#pragma once

#include "balancer/translate_state.h"

/* The hash of a key into work->digest. */
__noinline int hash_key(struct work *work, __u32 version, __u64 key)
{
	if (!work)
		return 0;
	work->hmac.block = (struct hash_block){ { bpf_be64_to_cpu(key) >> 32, bpf_be64_to_cpu(key), 0x80000000 } };
	work->hmac.block.words[15] = KEY_SIZE * 8;
	hash_start(version, &work->digest);
	hash_block(version, &work->digest, &work->hmac.block);
	return 0;
}

/* The last 64 bits of the hash (section 3.1 of both RFCs). */
static __always_inline __u64 start_in(const struct digest *digest, __u32 version)
{
	const __u32 *last = version ? digest->words + 6 : digest->words + 3;

	return (__u64)last[0] << 32 | last[1];
}

/* work->translation of a connection with these keys of the server's, in network order. */
static __always_inline void translate_keys(struct work *work, __u32 version, const __u8 assigned[KEY_SIZE],
					   const __u8 kernel[KEY_SIZE])
{
	struct translation *translation = &work->translation;
	__u64 key;

	*translation = (struct translation){ .version = version };
	__builtin_memcpy(translation->assigned, assigned, KEY_SIZE);
	__builtin_memcpy(translation->kernel, kernel, KEY_SIZE);
	__builtin_memcpy(&key, assigned, sizeof(key));
	hash_key(work, version, key);
	translation->assigned_token = work->digest.words[0];
	translation->assigned_start = start_in(&work->digest, version);
	__builtin_memcpy(&key, kernel, sizeof(key));
	hash_key(work, version, key);
	translation->kernel_token = work->digest.words[0];
	translation->kernel_start = start_in(&work->digest, version);
}

static __always_inline void set_keys(struct hmac *hmac, const __u8 sender[KEY_SIZE], const __u8 receiver[KEY_SIZE])
{
	__builtin_memcpy(hmac->keys, sender, KEY_SIZE);
	__builtin_memcpy(hmac->keys + KEY_SIZE, receiver, KEY_SIZE);
}

static __always_inline void clear_message(struct hmac *hmac, __u32 version, __u32 bytes)
{
	hmac->version = version;
	hmac->bytes = bytes;
	__builtin_memset(hmac->message, 0, sizeof(hmac->message));
}

/* The HMAC of a join (section 3.2): of the sender's nonce and the receiver's, both in network order. */
static __always_inline void join_hmac(struct work *work, __u32 version, const __u8 sender[KEY_SIZE],
				      const __u8 receiver[KEY_SIZE], __u32 sent, __u32 received)
{
	set_keys(&work->hmac, sender, receiver);
	clear_message(&work->hmac, version, 8);
	__builtin_memcpy(work->hmac.message, &sent, sizeof(sent));
	__builtin_memcpy(work->hmac.message + 4, &received, sizeof(received));
	hmac_compute(&work->hmac);
}

/* Word `index` of the digest is at `bytes`. */
static __always_inline __u32 differs(const struct hmac *hmac, int index, const __u8 *bytes)
{
	return hmac->digest.words[index] ^ get32(bytes);
}
