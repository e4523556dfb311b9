/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/* What the program on backends knows of connections, and the packet in process. */
#pragma once

#include <stdbool.h>

#include "common/hmac.h"
#include "include/count.h"
#include "include/translate_abi.h"

#define KEY_SIZE 8
#define MAX_OPTIONS 40

/* Handshakes: anybody can begin one, so that they have a map of their own. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 16384);
	__type(key, struct subflow_key);
	__type(value, struct opening);
} openings SEC(".maps");

/* Subflows whose client has shown that it knows the assigned key. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 65536);
	__type(key, struct subflow_key);
	__type(value, struct subflow);
} subflows SEC(".maps");

/* Connections by the tokens of their assigned keys. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 32768);
	__type(key, __u32);
	__type(value, struct translation);
} connections SEC(".maps");

/* The tokens of their assigned keys, by those of their clients' keys. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 32768);
	__type(key, __u32);
	__type(value, __u32);
} client_tokens SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, TRANSLATE_COUNTERS);
	__type(key, __u32);
	__type(value, struct count);
} translate_counts SEC(".maps");

/* The packet in process. In a map, since the options are read and written at places that the verifier does not know. */
struct work {
	struct subflow_key key;
	__u32 to_kernel; /* on its way in */
	__u32 size;      /* bytes of options */
	__u32 changed;
	__u32 segment; /* bytes of the packet */
	__u8 old[MAX_OPTIONS];
	__u8 options[64 + 48]; /* an option that starts below byte 64 is within */
	struct opening opening;
	struct translation translation;
	struct digest digest;
	struct hmac hmac;
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct work);
} works SEC(".maps");

static __always_inline void note(const struct work *work, enum translate_counter event)
{
	__u32 index = event;
	struct count *count = bpf_map_lookup_elem(&translate_counts, &index);

	if (!count)
		return;
	count->packets += 1;
	count->bytes += work->segment;
}

static __always_inline __u8 *option_at(struct work *work, __u32 at)
{
	return work->options + (at & 63);
}

static __always_inline bool same_key(const __u8 a[KEY_SIZE], const __u8 b[KEY_SIZE])
{
	__u64 one, other;

	__builtin_memcpy(&one, a, sizeof(one));
	__builtin_memcpy(&other, b, sizeof(other));
	return one == other;
}

static __always_inline void put_key(struct work *work, __u8 *to, const __u8 key[KEY_SIZE])
{
	__builtin_memcpy(to, key, KEY_SIZE);
	work->changed = true;
}

static __always_inline __u32 get32(const __u8 *from)
{
	__be32 word;

	__builtin_memcpy(&word, from, sizeof(word));
	return bpf_ntohl(word);
}

static __always_inline void put32(__u8 *to, __u32 value)
{
	__be32 word = bpf_htonl(value);

	__builtin_memcpy(to, &word, sizeof(word));
}

static __always_inline __u64 get64(const __u8 *from)
{
	__be64 word;

	__builtin_memcpy(&word, from, sizeof(word));
	return bpf_be64_to_cpu(word);
}

static __always_inline void put64(__u8 *to, __u64 value)
{
	__be64 word = bpf_cpu_to_be64(value);

	__builtin_memcpy(to, &word, sizeof(word));
}
