/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/* Association of subflows with MPTCP connections, by the handshakes that pass a ToR (MP-HULA section 2.1). A port of
 * crates/schemes/policy/src/association.rs, which decides on what the paper leaves open.
 *
 * Three tables: subflows by the 5-tuple that leaves the ToR's host, tokens, and keys A of version 0 until key B comes.
 * The first two have sets of four slots. Tables of zeros are empty. */
#pragma once

#include <linux/types.h>
#include <stdbool.h>
#include <stddef.h>

#include "common/sha1.h"
#include "common/sha256.h"
#include "switch/abi.h"
#include "switch/clock.h"
#include "switch/digest.h"
#include "switch/handshake.h"
#include "switch/hash.h"

#define WAYS 4 /* slots of a set */
#define FIN_FROM_HOST 1
#define FIN_TO_HOST 2
#define FINS (FIN_FROM_HOST | FIN_TO_HOST)

struct subflow_entry {
	__u64 seen;
	__u32 token_a; /* of the end that opened the connection */
	__u32 token_b;
	__u16 fingerprint;
	__u8 number;   /* of the subflow, from 1; 0: empty */
	__u8 subflows; /* of the connection; current in the first subflow's entry only */
	__u8 fins;
	__u8 pad[3];
};

struct key_entry {
	__u64 since;
	__u8 key[8];
	__u16 fingerprint;
	__u8 used;
	__u8 pad[5];
};

struct association_tables {
	struct subflow_entry entries[ASSOCIATION_SLOTS];
	struct key_entry keys[ASSOCIATION_SLOTS];
	__u32 tokens[2 * ASSOCIATION_SLOTS]; /* slot of the connection's first subflow + 1; 0: none */
	__u16 fingerprints
		[ASSOCIATION_SLOTS]; /* those of the entries, once more: a packet of plain TCP reads 8 bytes of a set, and not its entries */
};

struct association {
	const struct mp_hula_config *config;
	struct association_tables *tables;
	struct scheme_counters *counts;
};

struct tokens {
	__u32 a;
	__u32 b;
};

#define NO_SLOT 0xffffffff

static __always_inline bool is_live(const struct subflow_entry *entry, __u64 now, __u64 idle_after)
{
	return entry->number && since(now, entry->seen) <= idle_after;
}

static __always_inline bool is_closed(const struct subflow_entry *entry)
{
	return (entry->fins & FINS) == FINS;
}

static __always_inline bool has_token(const struct subflow_entry *entry, __u32 token)
{
	return entry->token_a == token || entry->token_b == token;
}

static __always_inline __u32 token_of(__u8 version, const __u8 key[8])
{
	return version ? token_v1(key) : token_v0(key);
}

static __always_inline __u32 flow_hash_at(const struct association *to, __u32 flow)
{
	return mix(flow, to->config->hula.salt);
}

/* First slot of a set. */
static __always_inline __u32 flow_set(const struct association *to, __u32 hash)
{
	return hash * WAYS & (to->config->association_slots - 1) & (ASSOCIATION_SLOTS - WAYS);
}

static __always_inline __u32 token_set(const struct association *to, __u32 token)
{
	__u32 hash = mix(token, to->config->hula.salt);

	return hash * WAYS & (2 * to->config->association_slots - 1) & (2 * ASSOCIATION_SLOTS - WAYS);
}

static __always_inline struct subflow_entry *entry_at(const struct association *to, __u32 slot)
{
	return &to->tables->entries[slot & (ASSOCIATION_SLOTS - 1)];
}

static __always_inline __u16 *fingerprint_at(const struct association *to, __u32 slot)
{
	return &to->tables->fingerprints[slot & (ASSOCIATION_SLOTS - 1)];
}

static __always_inline __u32 *token_at(const struct association *to, __u32 index)
{
	return &to->tables->tokens[index & (2 * ASSOCIATION_SLOTS - 1)];
}

static __always_inline struct key_entry *key_at(const struct association *to, __u32 hash)
{
	return &to->tables->keys[hash & (to->config->association_slots - 1) & (ASSOCIATION_SLOTS - 1)];
}

/* The live entry of a flow, or NULL. */
static __always_inline struct subflow_entry *find_flow(const struct association *to, __u64 now, __u32 flow)
{
	__u32 hash = flow_hash_at(to, flow), set = flow_set(to, hash);

	for (__u32 way = 0; way < WAYS; way++) {
		struct subflow_entry *entry = entry_at(to, set + way);

		if (*fingerprint_at(to, set + way) == hash >> 16 && is_live(entry, now, to->config->idle_after))
			return entry;
	}
	return NULL;
}

static __always_inline void remove_key(const struct association *to, __u32 flow)
{
	__u32 hash = flow_hash_at(to, flow);
	struct key_entry *entry = key_at(to, hash);

	if (entry->fingerprint == hash >> 16)
		entry->used = 0;
}

/* Removes the entries of a 5-tuple. */
static __always_inline void remove_flow(const struct association *to, __u32 flow)
{
	__u32 hash = flow_hash_at(to, flow), set = flow_set(to, hash);

	remove_key(to, flow);
	for (__u32 way = 0; way < WAYS; way++) {
		struct subflow_entry *entry = entry_at(to, set + way);

		if (entry->fingerprint == hash >> 16)
			entry->number = 0;
	}
}

/* A slot for a flow: an empty or idle one, or else one whose subflow is closed; NO_SLOT if there is none. */
static __always_inline __u32 free_slot(const struct association *to, __u64 now, __u32 flow)
{
	__u32 set = flow_set(to, flow_hash_at(to, flow)), closed = NO_SLOT;

	for (__u32 way = 0; way < WAYS; way++) {
		const struct subflow_entry *entry = entry_at(to, set + way);

		if (!is_live(entry, now, to->config->idle_after))
			return set + way;
		if (closed == NO_SLOT && is_closed(entry))
			closed = set + way;
	}
	return closed;
}

/* The live first subflow to which an entry of the token table refers, or NULL. */
static __always_inline struct subflow_entry *first_subflow(const struct association *to, __u64 now, __u32 index)
{
	__u32 slot = *token_at(to, index) - 1;
	struct subflow_entry *entry = entry_at(to, slot);

	if (slot >= to->config->association_slots || entry->number != 1 || !is_live(entry, now, to->config->idle_after))
		return NULL;
	return entry;
}

/* The first subflow of the connection with a token, or NULL. */
static __always_inline struct subflow_entry *find_token(const struct association *to, __u64 now, __u32 token)
{
	__u32 set = token_set(to, token);

	for (__u32 way = 0; way < WAYS; way++) {
		struct subflow_entry *first = first_subflow(to, now, set + way);

		if (first && has_token(first, token))
			return first;
	}
	return NULL;
}

/* True if a live connection needs this entry of the token table. */
static __always_inline bool token_is_needed(const struct association *to, __u64 now, __u32 index)
{
	const struct subflow_entry *first = first_subflow(to, now, index);
	__u32 set = index & ~(WAYS - 1U);

	if (!first || is_closed(first))
		return false;
	return token_set(to, first->token_a) == set || token_set(to, first->token_b) == set;
}

/* A free entry of the token table, NO_SLOT if there is none. */
static __always_inline __u32 free_token(const struct association *to, __u64 now, __u32 token)
{
	__u32 set = token_set(to, token);

	for (__u32 way = 0; way < WAYS; way++)
		if (!token_is_needed(to, now, set + way))
			return set + way;
	return NO_SLOT;
}

static __always_inline void store_entry(const struct association *to, __u64 now, __u32 slot, __u32 flow,
					const struct tokens *tokens, __u8 number)
{
	__u16 fingerprint = flow_hash_at(to, flow) >> 16;

	*fingerprint_at(to, slot) = fingerprint;
	*entry_at(to, slot) = (struct subflow_entry){
		.seen = now,
		.token_a = tokens->a,
		.token_b = tokens->b,
		.fingerprint = fingerprint,
		.number = number,
		.subflows = number,
	};
}

/* A connection whose keys are known: its first subflow, unless there is the entry. */
static __always_inline void open_connection(const struct association *to, __u64 now, __u32 flow, const struct tokens *tokens)
{
	const struct subflow_entry *known = find_flow(to, now, flow);
	__u32 slot, at_a, at_b;

	if (known && known->token_a == tokens->a && known->token_b == tokens->b)
		return;
	remove_flow(to, flow);
	slot = free_slot(to, now, flow);
	if (slot == NO_SLOT) {
		to->counts->table_collisions++;
		return;
	}
	if (find_token(to, now, tokens->a)) {
		to->counts->token_collisions++;
		return;
	}
	at_a = free_token(to, now, tokens->a);
	if (at_a == NO_SLOT) {
		to->counts->table_collisions++;
		return;
	}
	if (find_token(to, now, tokens->b)) {
		to->counts->token_collisions++;
		return;
	}
	at_b = free_token(to, now, tokens->b);
	if (at_b == NO_SLOT) {
		to->counts->table_collisions++;
		return;
	}
	store_entry(to, now, slot, flow, tokens, 1);
	*token_at(to, at_a) = slot + 1;
	*token_at(to, at_b) = slot + 1;
	to->counts->connections++;
}

/* A version-0 SYN: a new connection, unless it repeats the SYN of the known one. */
static __always_inline void store_key(const struct association *to, __u64 now, const struct handshake *packet)
{
	__u32 flow = packet->out_hash, hash = flow_hash_at(to, flow);
	const struct subflow_entry *known = find_flow(to, now, flow);
	struct key_entry *entry = key_at(to, hash);

	if (known && known->token_a == token_of(packet->version, packet->keys))
		return;
	remove_flow(to, flow);
	if (entry->used && entry->fingerprint != hash >> 16 && since(now, entry->since) <= to->config->idle_after) {
		to->counts->table_collisions++;
		return;
	}
	entry->since = now;
	__builtin_memcpy(entry->key, packet->keys, sizeof(entry->key));
	entry->fingerprint = hash >> 16;
	entry->used = 1;
}

/* A version-0 SYN/ACK: with the key of the SYN, the connection's keys. */
static __always_inline void take_key(const struct association *to, __u64 now, const struct handshake *packet)
{
	__u32 hash = flow_hash_at(to, packet->out_hash);
	struct key_entry *entry = key_at(to, hash);
	struct tokens tokens;

	if (!entry->used || entry->fingerprint != hash >> 16)
		return;
	entry->used = 0;
	tokens.a = token_of(packet->version, entry->key);
	tokens.b = token_of(packet->version, packet->keys);
	open_connection(to, now, packet->out_hash, &tokens);
}

static __always_inline void on_capable(const struct association *to, __u64 now, const struct handshake *packet)
{
	bool syn = packet->flags & HANDSHAKE_SYN, ack = packet->flags & HANDSHAKE_ACK;
	struct tokens tokens;

	if (syn && !ack) {
		if (packet->key_count == 1)
			store_key(to, now, packet);
		else
			remove_key(to, packet->out_hash);
	} else if (syn) {
		if (packet->key_count == 1)
			take_key(to, now, packet);
	} else if (packet->key_count == 2) {
		tokens.a = token_of(packet->version, packet->keys);
		tokens.b = token_of(packet->version, packet->keys + 8);
		open_connection(to, now, packet->out_hash, &tokens);
	}
}

/* The next subflow's number: after 16 numbers restart at 2. */
static __always_inline __u8 count_subflow(struct subflow_entry *first)
{
	first->subflows = first->subflows < SUBFLOWS ? first->subflows + 1 : 2;
	return first->subflows;
}

/* A SYN with MP_JOIN: a further subflow of the connection with the token, unless there is the entry. */
static __always_inline void on_join(const struct association *to, __u64 now, const struct handshake *packet)
{
	__u32 flow = packet->out_hash, slot;
	const struct subflow_entry *known = find_flow(to, now, flow);
	struct subflow_entry *first;
	struct tokens tokens;

	if (known && known->number != 1 && has_token(known, packet->token))
		return;
	remove_flow(to, flow);
	first = find_token(to, now, packet->token);
	if (!first) {
		to->counts->unknown_tokens++;
		return;
	}
	slot = free_slot(to, now, flow);
	if (slot == NO_SLOT) {
		to->counts->table_collisions++;
		return;
	}
	tokens.a = first->token_a;
	tokens.b = first->token_b;
	if (first->subflows == SUBFLOWS)
		to->counts->wraps++;
	store_entry(to, now, slot, flow, &tokens, count_subflow(first));
	to->counts->joins++;
}

static __always_inline void note_fin(const struct association *to, __u64 now, const struct handshake *packet)
{
	struct subflow_entry *entry = find_flow(to, now, packet->out_hash);

	if (entry)
		entry->fins |= packet->from_host ? FIN_FROM_HOST : FIN_TO_HOST;
}

/* Handles a packet of a handshake or teardown, from or to a host of this ToR. A global function, which the verifier
 * looks at by itself. */
__noinline int association_observe(const struct mp_hula_config *config, struct association_tables *tables,
				   struct scheme_counters *counts, __u64 now, const struct handshake *packet)
{
	const struct association to = { .config = config, .tables = tables, .counts = counts };
	bool syn, ack, join;

	if (!config || !tables || !counts || !packet)
		return -1;
	syn = packet->flags & HANDSHAKE_SYN;
	ack = packet->flags & HANDSHAKE_ACK;
	join = packet->option == HANDSHAKE_JOIN_SYN || packet->option == HANDSHAKE_JOIN;
	if (packet->flags & HANDSHAKE_RST) {
		remove_flow(&to, packet->out_hash);
		return 0;
	}
	if (packet->option == HANDSHAKE_CAPABLE)
		on_capable(&to, now, packet);
	else if (syn && !ack && packet->option == HANDSHAKE_JOIN_SYN)
		on_join(&to, now, packet);
	else if (syn && !(ack && join))
		remove_flow(&to, packet->out_hash);
	if (packet->flags & HANDSHAKE_FIN)
		note_fin(&to, now, packet);
	return 0;
}

/* The shim of a packet from a host: none for plain TCP and for a connection with one subflow. Refreshes the entry. */
static __always_inline struct shim association_shim(const struct association *to, __u64 now, __u32 flow)
{
	struct subflow_entry *entry = find_flow(to, now, flow);
	struct shim shim = {};

	if (!entry)
		return shim;
	entry->seen = now;
	if (entry->subflows > 1) {
		shim.id = (__u64)entry->token_a << 32 | entry->token_b;
		shim.subflow = entry->number;
	}
	return shim;
}

static __always_inline void subflow_entry_digest(const struct subflow_entry *entry, __u64 *digest)
{
	digest_word(digest, entry->number);
	if (!entry->number)
		return;
	digest_word(digest, entry->fingerprint);
	digest_word(digest, (__u64)entry->token_a << 32 | entry->token_b);
	digest_word(digest, entry->subflows);
	digest_word(digest, entry->seen);
	digest_word(digest, entry->fins);
}

static __always_inline void key_entry_digest(const struct key_entry *entry, __u64 *digest)
{
	__u64 key = 0;

	digest_word(digest, entry->used);
	if (!entry->used)
		return;
	for (int byte = 0; byte < 8; byte++)
		key = key << 8 | entry->key[byte];
	digest_word(digest, entry->fingerprint);
	digest_word(digest, key);
	digest_word(digest, entry->since);
}

static __always_inline void association_digest(const struct association *of, __u64 *digest)
{
	__u32 slots = of->config->association_slots;

	for (__u32 slot = 0; slot < slots && slot < ASSOCIATION_SLOTS; slot++)
		subflow_entry_digest(&of->tables->entries[slot], digest);
	for (__u32 slot = 0; slot < 2 * slots && slot < 2 * ASSOCIATION_SLOTS; slot++)
		digest_word(digest, of->tables->tokens[slot] - 1U);
	for (__u32 slot = 0; slot < slots && slot < ASSOCIATION_SLOTS; slot++)
		key_entry_digest(&of->tables->keys[slot], digest);
}
