/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/* The balancer's maps. The loader sets their sizes; the numbers here serve small tests. */
#pragma once

#include "common/native.h"
#include "include/abi.h"

/* The tables' sizes, as the loader made them: a power of two of buckets, and extra buckets behind them. */
const volatile __u32 FLOW_BUCKETS = 1024;
const volatile __u32 FLOW_EXTRA = 384;
const volatile __u32 TOKEN_BUCKETS = 1024;
const volatile __u32 TOKEN_EXTRA = 384;
/* A power of two. */
const volatile __u32 FRAGMENT_BUCKETS = 1024;

/* Explain: decide, write `traces`, and do not act. */
const volatile __u8 DRY_RUN = 0;
/* The time is settings.now, not the kernel's. */
const volatile __u8 SETTINGS_CLOCK = 0;

/* The key of arrays of one entry: not on the stack, where the compiler gives each look-up a place of its own. */
const volatile __u32 ONLY_ENTRY = 0;

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 256);
	__type(key, struct vip_key);
	__type(value, struct vip);
} vips SEC(".maps");

/* The number of changes of `vips` (known_vips.h). */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} vips_changes SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 4096);
	__type(key, __u32);
	__type(value, struct target);
} targets SEC(".maps");

/* Index of each target by the id that all balancers use for it. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 4096);
	__type(key, __u32);
	__type(value, __u32);
} target_ids SEC(".maps");

/* A group's services have the same backends, each with a target for each of them. By service in the upper and target in
 * the lower 16 bits: to the target of the service under which the group's tokens are stored, and back. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 8192);
	__type(key, __u32);
	__type(value, __u32);
} group_targets SEC(".maps");

/* The backends that connection ids of QUIC name. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 8192);
	__type(key, struct quic_server);
	__type(value, __u32);
} quic_servers SEC(".maps");

/* Addresses that may send steering headers: the other balancers, with the target of each. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 256);
	__type(key, struct address);
	__type(value, __u32);
} peers SEC(".maps");

/* The state of the other balancers, by their targets. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 4096);
	__type(key, __u32);
	__type(value, struct peer_state);
} peer_states SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, MAGLEV_STRIDE);
	__type(key, __u32);
	__type(value, struct maglev_pair);
} maglev SEC(".maps");

/* The two balancers that keep the entries of each part of the token space and of the flows' hashes; NO_TARGET: this
 * one. Three arrays of RING_SIZE, as of enum ring_part. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 3 * RING_SIZE);
	__type(key, __u32);
	__type(value, __u32);
} ring SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1024 + 384);
	__type(key, __u32);
	__type(value, struct flow_bucket);
} flows SEC(".maps");

/* For each main bucket of `flows`: the tick at which an entry of one of its flows was last written to an extra bucket;
 * 0: never. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1024);
	__type(key, __u32);
	__type(value, __u32);
} overflows SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 8192);
	__type(key, struct flow_key);
	__type(value, struct candidate);
} candidates SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1024 + 384);
	__type(key, __u32);
	__type(value, struct token_bucket);
} tokens SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 16384);
	__type(key, struct join_source);
	__type(value, struct join_count);
} join_counts SEC(".maps");

/* Access to services: one of access_rule by service and source prefix. Empty where no service says. */
struct {
	__uint(type, BPF_MAP_TYPE_LPM_TRIE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 16384);
	__type(key, struct access_prefix);
	__type(value, __u32);
} access_rules SEC(".maps");

/* By service. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 256);
	__type(key, __u32);
	__type(value, struct access_limit);
} access_limits SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 16384);
	__type(key, struct connection_source);
	__type(value, struct connection_count);
} connection_counts SEC(".maps");

/* Two tables of FRAGMENT_BUCKETS, one behind the other (fragment_table.h). */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 2 * 1024);
	__type(key, __u32);
	__type(value, struct fragment_bucket);
} fragments SEC(".maps");

/* Later fragments that wait for their first one (struct waiting_fragment). The daemon takes them, and has the program
 * process them once more. */
struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, WAITING_BYTES);
} waiting SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 65536);
	__type(key, struct flow_key);
	__type(value, struct assigned_key);
} assigned SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_QUEUE);
	__uint(max_entries, 4096);
	__type(value, struct assigned_key);
} ready_keys SEC(".maps");

/* The same for MPTCP version 1, whose tokens are of another hash. */
struct {
	__uint(type, BPF_MAP_TYPE_QUEUE);
	__uint(max_entries, 4096);
	__type(value, struct assigned_key);
} ready_keys_v1 SEC(".maps");

/* A map of one entry, `.bss`, and the only variable there. Where it is pinned already, the loader gives it the values
 * that it finds: aya would write zeros over them. */
struct settings settings;

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 256 * COUNTERS);
	__type(key, __u32);
	__type(value, struct count);
} counters SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 4096);
	__type(key, __u32);
	__type(value, struct count);
} target_counts SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 4096);
	__type(key, __u32);
	__type(value, struct target_signs);
} target_signs SEC(".maps");

/* The limits of `struct settings`. */
enum limit_kind {
	LIMIT_LEARN,
	LIMIT_QUERY,
	LIMIT_ERRORS,
	LIMIT_REFUSALS, /* as of errors; apart from them, so that a scan of ports hides no MTU */
	LIMIT_WAITING,  /* as of queries: fragments that wait */
	LIMITS,
};

struct rate_limit {
	__u32 tick;
	__u32 left;
};

/* The rest of each limit (enum limit_kind), per processor. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, LIMITS);
	__type(key, __u32);
	__type(value, struct rate_limit);
} rate_limits SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct trace);
} traces SEC(".maps");
