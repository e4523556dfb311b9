/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/* A cache of `vips` for each processor, with what is not there as well: a look-up in a hash table is a call of the
 * kernel's, and takes as long as all else that a packet of a known flow needs.
 *
 * The loader counts changes of `vips` in `vips_changes`, each behind the change itself. What was read before one of
 * them is read anew: an entry has the count as it was before its own reading. */
#pragma once

#include "balancer/hash.h"
#include "balancer/maps.h"
#include "common/atomic.h"

#define KNOWN_VIPS 512 /* a power of two; all of them in one value, which has 32 KB at most */

struct known_vip {
	struct vip_key key;
	struct vip vip; /* its kind is VIP_NONE: there is none */
	__u32 changes;
};

struct known_vips {
	struct known_vip places[KNOWN_VIPS];
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct known_vips);
} known_vips SEC(".maps");

/* All but an address as one word. */
static __always_inline __u64 ports_of(const struct vip_key *key)
{
	return *(const __u64 *)&key->port;
}

_Static_assert(__builtin_offsetof(struct vip_key, port) == 16 && sizeof(struct vip_key) == 24, "three words");

static __always_inline __u32 known_vip_place(const struct vip_key *key)
{
	return (key->address.high ^ key->address.low ^ ports_of(key)) * HASH_MULTIPLIER >> 32 & (KNOWN_VIPS - 1);
}

static __always_inline bool is_known_vip(const struct known_vip *known, const struct vip_key *key, __u32 changes)
{
	return known->key.address.low == key->address.low && known->key.address.high == key->address.high &&
	       ports_of(&known->key) == ports_of(key) && known->changes == changes;
}

/* Reads what `vips` has. */
__noinline int read_vip(struct known_vip *known, const struct vip_key *key)
{
	const __u32 *changes = bpf_map_lookup_elem(&vips_changes, (const void *)&ONLY_ENTRY);
	const struct vip *vip;
	struct vip_key wanted;

	if (!known || !key || !changes)
		return 0;
	wanted = *key;
	known->changes = READ_ONCE(*changes);
	order_reads();
	vip = bpf_map_lookup_elem(&vips, &wanted);
	known->key = wanted;
	known->vip = vip ? *vip : (struct vip){};
	return 0;
}

/* The service, or whatever else, of a key; NULL: there is none. */
static __always_inline const struct vip *find_vip(const struct vip_key *key)
{
	const __u32 *changes = bpf_map_lookup_elem(&vips_changes, (const void *)&ONLY_ENTRY);
	struct known_vips *all = bpf_map_lookup_elem(&known_vips, (const void *)&ONLY_ENTRY);
	struct known_vip *known;

	if (!changes || !all)
		return NULL;
	known = &all->places[known_vip_place(key)];
	if (!is_known_vip(known, key, READ_ONCE(*changes)))
		read_vip(known, key);
	return known->vip.kind == VIP_NONE ? NULL : &known->vip;
}
