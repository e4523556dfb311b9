/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/* Maps of every scheme's programs. The daemon's maps are in shared memory, so that it writes them without a
 * capability. */
#pragma once

#include "common/native.h"
#include "include/address.h"
#include "include/count.h"
#include <stddef.h>

#include "switch/switch_abi.h"

#define ARRAY(name, entries, of)                   \
	struct {                                   \
		__uint(type, BPF_MAP_TYPE_ARRAY);  \
		__uint(max_entries, entries);      \
		__uint(map_flags, BPF_F_MMAPABLE); \
		__type(key, __u32);                \
		__type(value, of);                 \
	} name SEC(".maps")

#define PER_PROCESSOR(name, entries, of)                 \
	struct {                                         \
		__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY); \
		__uint(max_entries, entries);            \
		__type(key, __u32);                      \
		__type(value, of);                       \
	} name SEC(".maps")

#define HASH(name, entries, from, to)                 \
	struct {                                      \
		__uint(type, BPF_MAP_TYPE_HASH);      \
		__uint(max_entries, entries);         \
		__uint(map_flags, BPF_F_NO_PREALLOC); \
		__type(key, from);                    \
		__type(value, to);                    \
	} name SEC(".maps")

ARRAY(config, 1, struct switch_config);
ARRAY(ports, SWITCH_PORTS, struct switch_port);
ARRAY(meters, SWITCH_PORTS, struct port_meter);
/* The set of next hops towards each ToR, by number. */
ARRAY(tor_groups, SWITCH_TORS, __u32);
ARRAY(groups, SWITCH_GROUPS, struct next_hops);
/* The port of an interface + 1, 0: none; of those from SWITCH_NEAR_INTERFACES on by hash. */
ARRAY(near_interfaces, SWITCH_NEAR_INTERFACES, __u32);
HASH(far_interfaces, SWITCH_PORTS, __u32, __u32);
HASH(destinations, SWITCH_DESTINATIONS, struct address, struct switch_destination);
/* Prefixes of the kernel's routes; asked for addresses that are not in `destinations`. */
struct {
	__uint(type, BPF_MAP_TYPE_LPM_TRIE);
	__uint(max_entries, SWITCH_PREFIXES);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, struct address_prefix);
	__type(value, struct switch_destination);
} prefixes SEC(".maps");
PER_PROCESSOR(verdicts, SWITCH_COUNTERS, struct count);
PER_PROCESSOR(port_counts, SWITCH_PORTS *PORT_COUNTERS, struct count);
PER_PROCESSOR(scheme_counts, 1, struct scheme_counters);

static __always_inline void count_in(void *map, __u32 index, __u64 bytes)
{
	struct count *count = bpf_map_lookup_elem(map, &index);

	if (count) {
		count->packets++;
		count->bytes += bytes;
	}
}

static __always_inline void count_event(__u32 counter)
{
	count_in(&verdicts, counter, 0);
}

static __always_inline struct switch_config *get_config(void)
{
	return bpf_map_lookup_elem(&config, &(__u32){ 0 });
}

/* The number of an interface's port, no port's if it has none. */
static __always_inline __u32 port_of_interface(__u32 interface)
{
	__u32 *next = interface < SWITCH_NEAR_INTERFACES ? bpf_map_lookup_elem(&near_interfaces, &interface)
							 : bpf_map_lookup_elem(&far_interfaces, &interface);

	return (next ? *next : 0) - 1;
}

static __always_inline struct switch_port *get_port(__u32 port)
{
	return bpf_map_lookup_elem(&ports, &port);
}

static __always_inline struct scheme_counters *get_scheme_counts(void)
{
	return bpf_map_lookup_elem(&scheme_counts, &(__u32){ 0 });
}

/* The next hops towards a ToR, NULL if there is none. */
static __always_inline const struct next_hops *get_next_hops(__u32 tor)
{
	__u32 *group = bpf_map_lookup_elem(&tor_groups, &tor);
	__u32 number = group ? *group : 0;
	const struct next_hops *hops = bpf_map_lookup_elem(&groups, &number);

	return number && hops && hops->count ? hops : NULL;
}
