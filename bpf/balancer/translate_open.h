/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/* Handshakes. A SYN alone changes nothing that is known of a subflow: it may be forged. The kernel's SYN/ACK says that
 * there is a new one, and the client's third packet that the client knows the assigned key. */
#pragma once

#include "balancer/translate_keys.h"

/* ---- the client's SYN ---- */

/* Notes what the SYN had, and leaves what the kernel has answered to the one before it. */
static __always_inline void note_syn(struct work *work)
{
	struct opening *known = bpf_map_lookup_elem(&openings, &work->key);

	if (!known) {
		bpf_map_update_elem(&openings, &work->key, &work->opening, BPF_ANY);
		return;
	}
	known->kind = work->opening.kind;
	known->version = work->opening.version;
	known->token = work->opening.token;
	known->nonce = work->opening.nonce;
	__builtin_memcpy(known->assigned, work->opening.assigned, KEY_SIZE);
}

/* A SYN without anything to translate: an answer to it has nothing either. */
__noinline int note_other_syn(struct work *work)
{
	struct opening *known;

	if (!work)
		return 0;
	known = bpf_map_lookup_elem(&openings, &work->key);
	if (known)
		known->kind = OPENING_NONE;
	return 0;
}

/* The assigned key of a SYN: byte of MP_CAPABLE at which it starts; 0: it has none. */
static __always_inline __u32 assigned_place(__u32 version, __u32 length)
{
	if (version == 1)
		return length == 12 ? 4 : 0;
	return version == 0 && length == 20 ? 12 : 0;
}

/* Takes the key out: the option gets the length that it had, and the key's bytes become padding. */
__noinline int take_key(struct work *work, __u32 at)
{
	__u8 *option, *key;
	__u32 place, version;

	if (!work)
		return 0;
	option = option_at(work, at);
	version = option[2] & 0xf;
	place = assigned_place(version, option[1]);
	if (!place) {
		note_other_syn(work);
		return 0;
	}
	key = place == 4 ? option + 4 : option + 12;
	work->opening = (struct opening){ .kind = OPENING_CAPABLE, .version = version };
	__builtin_memcpy(work->opening.assigned, key, KEY_SIZE);
	note_syn(work);
	option[1] = place;
	__builtin_memset(key, 1, KEY_SIZE); /* NOP */
	work->changed = true;
	note(work, TRANSLATE_KEYS_TAKEN);
	return 0;
}

/* Gives the kernel its own token. */
__noinline int take_token(struct work *work, __u32 at)
{
	struct translation *connection;
	__u8 *option;
	__u32 token;

	if (!work)
		return 0;
	option = option_at(work, at);
	token = get32(option + 4);
	connection = option[1] == 12 ? bpf_map_lookup_elem(&connections, &token) : NULL;
	if (!connection) {
		note_other_syn(work);
		return 0;
	}
	work->opening = (struct opening){ .kind = OPENING_JOIN, .token = token };
	__builtin_memcpy(&work->opening.nonce, option + 8, sizeof(work->opening.nonce));
	put32(option + 4, connection->kernel_token);
	work->changed = true;
	note_syn(work);
	note(work, TRANSLATE_JOINS);
	return 0;
}

/* ---- the kernel's SYN/ACK ---- */

/* The kernel has opened another subflow with these addresses and ports. */
static __always_inline void forget(struct work *work)
{
	if (bpf_map_lookup_elem(&subflows, &work->key))
		bpf_map_delete_elem(&subflows, &work->key);
}

__noinline int answer_other(struct work *work)
{
	if (work)
		forget(work);
	return 0;
}

static __always_inline bool answers_with(const struct subflow *subflow, const __u8 kernel[KEY_SIZE])
{
	return subflow && subflow->kind == OPENING_CAPABLE && same_key(subflow->connection.kernel, kernel);
}

/* True if the token is free, or of the same key. */
static __always_inline bool token_free(const struct translation *translation)
{
	const struct translation *other = bpf_map_lookup_elem(&connections, &translation->assigned_token);

	return !other || same_key(other->assigned, translation->assigned);
}

/* The kernel's first answer to a SYN that had a key. False: the kernel's own key goes to the client. */
static __always_inline bool answer_first(struct work *work, struct opening *opening, __u32 version, const __u8 kernel[KEY_SIZE])
{
	if (opening->kind != OPENING_CAPABLE || opening->version != version)
		return false;
	translate_keys(work, version, opening->assigned, kernel);
	if (!token_free(&work->translation)) {
		note(work, TRANSLATE_TOKEN_TAKEN);
		return false;
	}
	opening->answered = (struct subflow){ .connection = work->translation, .kind = OPENING_CAPABLE };
	return true;
}

/* Puts the assigned key in place of the kernel's. A SYN/ACK that comes again gets the same one. */
__noinline int answer_capable(struct work *work, __u32 at)
{
	struct opening *opening;
	struct subflow *known;
	__u8 *option;

	if (!work)
		return 0;
	option = option_at(work, at);
	if (option[1] != 12)
		return answer_other(work);
	known = bpf_map_lookup_elem(&subflows, &work->key);
	if (answers_with(known, option + 4)) {
		put_key(work, option + 4, known->connection.assigned);
		return 0;
	}
	forget(work);
	opening = bpf_map_lookup_elem(&openings, &work->key);
	if (!opening)
		return 0;
	if (!answers_with(&opening->answered, option + 4) && !answer_first(work, opening, option[2] & 0xf, option + 4)) {
		opening->answered.kind = OPENING_NONE;
		return 0;
	}
	put_key(work, option + 4, opening->answered.connection.assigned);
	note(work, TRANSLATE_ANSWERED);
	return 0;
}

static __always_inline bool joins_with(const struct subflow *subflow, __u32 nonce)
{
	return subflow && subflow->kind == OPENING_JOIN && subflow->server_nonce == nonce;
}

static __always_inline bool answer_first_join(struct opening *opening, __u32 nonce)
{
	struct translation *connection;

	if (opening->kind != OPENING_JOIN)
		return false;
	connection = bpf_map_lookup_elem(&connections, &opening->token);
	if (!connection)
		return false;
	opening->answered.connection = *connection;
	opening->answered.client_nonce = opening->nonce;
	opening->answered.server_nonce = nonce;
	opening->answered.kind = OPENING_JOIN;
	return true;
}

/* The subflow that a join's SYN/ACK is of. */
static __always_inline struct subflow *answered_join(struct work *work, __u32 nonce)
{
	struct subflow *known = bpf_map_lookup_elem(&subflows, &work->key);
	struct opening *opening;

	if (joins_with(known, nonce))
		return known;
	forget(work);
	opening = bpf_map_lookup_elem(&openings, &work->key);
	if (!opening)
		return NULL;
	if (joins_with(&opening->answered, nonce) || answer_first_join(opening, nonce))
		return &opening->answered;
	opening->answered.kind = OPENING_NONE;
	return NULL;
}

/* Puts the HMAC of the assigned key in place of that of the kernel's. */
__noinline int answer_join(struct work *work, __u32 at)
{
	struct translation *connection;
	struct subflow *subflow;
	__u32 nonce;
	__u8 *option;

	if (!work)
		return 0;
	option = option_at(work, at);
	if (option[1] != 16)
		return answer_other(work);
	__builtin_memcpy(&nonce, option + 12, sizeof(nonce));
	subflow = answered_join(work, nonce);
	if (!subflow)
		return 0;
	connection = &subflow->connection;
	join_hmac(work, connection->version, connection->assigned, connection->client, nonce, subflow->client_nonce);
	put32(option + 4, work->hmac.digest.words[0]);
	put32(option + 8, work->hmac.digest.words[1]);
	work->changed = true;
	note(work, TRANSLATE_JOINS_ANSWERED);
	return 0;
}

/* ---- the client's third packet ---- */

/* By the client's token the kernel's own joins find their connection. Of two with one token it is the later one. */
static __always_inline void name_by_client(struct work *work, const struct translation *connection)
{
	__u32 token;
	__u64 key;

	__builtin_memcpy(&key, connection->client, sizeof(key));
	hash_key(work, connection->version, key);
	token = work->digest.words[0];
	bpf_map_update_elem(&client_tokens, &token, &connection->assigned_token, BPF_ANY);
}

/* The client has shown that it had the kernel's answer. */
static __always_inline void open_connection(struct work *work, struct opening *opening, const __u8 client[KEY_SIZE])
{
	struct translation *connection = &opening->answered.connection;

	__builtin_memcpy(connection->client, client, KEY_SIZE);
	if (!token_free(connection))
		note(work, TRANSLATE_TOKEN_TAKEN); /* since the answer: its joins are refused */
	else
		bpf_map_update_elem(&connections, &connection->assigned_token, connection, BPF_ANY);
	name_by_client(work, connection);
	bpf_map_update_elem(&subflows, &work->key, &opening->answered, BPF_ANY);
	if (!bpf_map_delete_elem(&openings, &work->key)) /* of packets on several processors at once, one ends the handshake */
		note(work, TRANSLATE_OPENED);
}

static __always_inline bool is_assigned(const struct subflow *subflow, const __u8 key[KEY_SIZE])
{
	return subflow && subflow->kind == OPENING_CAPABLE && same_key(subflow->connection.assigned, key);
}

/* Both keys, in 20 bytes; in version 1 there may be the length of data, and its checksum, behind them. */
__noinline int take_both_keys(struct work *work, __u32 at)
{
	struct opening *opening;
	struct subflow *known;
	__u8 kernel[KEY_SIZE];
	__u8 *option;

	if (!work)
		return 0;
	option = option_at(work, at);
	if (option[1] < 20)
		return 0;
	opening = bpf_map_lookup_elem(&openings, &work->key);
	if (opening && is_assigned(&opening->answered, option + 12)) {
		__builtin_memcpy(kernel, opening->answered.connection.kernel, KEY_SIZE);
		open_connection(work, opening, option + 4);
		put_key(work, option + 12, kernel);
		return 0;
	}
	known = bpf_map_lookup_elem(&subflows, &work->key);
	if (is_assigned(known, option + 12) && same_key(known->connection.client, option + 4))
		put_key(work, option + 12, known->connection.kernel);
	return 0;
}

/* True if the 20 bytes at `bytes` are the start of the digest. Version 0 has no more, version 1 sends no more. */
static __always_inline bool is_join_hmac(const struct hmac *hmac, const __u8 *bytes)
{
	return !(differs(hmac, 0, bytes) | differs(hmac, 1, bytes + 4) | differs(hmac, 2, bytes + 8) |
		 differs(hmac, 3, bytes + 12) | differs(hmac, 4, bytes + 16));
}

static __always_inline void put_join_hmac(struct work *work, __u8 *to)
{
#pragma clang loop unroll(full)
	for (int word = 0; word < 5; word++)
		put32(to + 4 * word, work->hmac.digest.words[word]);
	work->changed = true;
}

/* The client's HMAC of the assigned key becomes that of the kernel's. One that is wrong stays wrong: else this program
 * would admit whoever knows a token. */
__noinline int take_join_hmac(struct work *work, __u32 at)
{
	struct translation *connection;
	struct opening *opening;
	struct subflow *subflow;
	__u8 *option;

	if (!work)
		return 0;
	option = option_at(work, at);
	if (option[1] != 24)
		return 0;
	opening = bpf_map_lookup_elem(&openings, &work->key);
	if (opening && opening->answered.kind != OPENING_JOIN)
		opening = NULL;
	subflow = opening ? &opening->answered : bpf_map_lookup_elem(&subflows, &work->key);
	if (!subflow || subflow->kind != OPENING_JOIN)
		return 0;
	connection = &subflow->connection;
	join_hmac(work, connection->version, connection->client, connection->assigned, subflow->client_nonce,
		  subflow->server_nonce);
	if (!is_join_hmac(&work->hmac, option + 4)) {
		note(work, TRANSLATE_HMAC_WRONG);
		return 0;
	}
	join_hmac(work, connection->version, connection->client, connection->kernel, subflow->client_nonce,
		  subflow->server_nonce);
	put_join_hmac(work, option + 4);
	if (opening) {
		bpf_map_update_elem(&subflows, &work->key, &opening->answered, BPF_ANY);
		if (!bpf_map_delete_elem(&openings, &work->key))
			note(work, TRANSLATE_JOINED);
	}
	return 0;
}
