/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/* Joins that the server opens, to an address that the client has announced. The SYN has the client's token, which no
 * one translates; the HMACs of the two packets behind it depend on the server's key. */
#pragma once

#include "balancer/translate_open.h"

/* Notes which connection the kernel's SYN joins. It is right as it is. */
__noinline int open_join(struct work *work, __u32 at)
{
	struct translation *connection = NULL;
	struct opening *opening = work ? &work->opening : NULL;
	__u32 *assigned, token;
	__u8 *option;

	if (!opening)
		return 0;
	option = option_at(work, at);
	token = get32(option + 4);
	assigned = option[1] == 12 ? bpf_map_lookup_elem(&client_tokens, &token) : NULL;
	if (assigned)
		connection = bpf_map_lookup_elem(&connections, assigned);
	if (!connection)
		return 0;
	*opening = (struct opening){ .kind = OPENING_SERVER_JOIN };
	opening->answered.connection = *connection;
	__builtin_memcpy(&opening->answered.server_nonce, option + 8, sizeof(opening->answered.server_nonce));
	bpf_map_update_elem(&openings, &work->key, opening, BPF_ANY);
	note(work, TRANSLATE_SERVER_JOINS);
	return 0;
}

static __always_inline bool is_server_join(const struct subflow *subflow)
{
	return subflow && subflow->kind == OPENING_SERVER_JOIN;
}

/* The client's HMAC of the assigned key becomes that of the kernel's. A wrong one stays wrong, and the kernel refuses
 * it. A SYN/ACK that comes again gets the same. */
__noinline int accept_join(struct work *work, __u32 at)
{
	struct translation *connection;
	struct opening *opening;
	struct subflow *subflow;
	__u32 nonce;
	__u8 *option;

	if (!work)
		return 0;
	option = option_at(work, at);
	if (option[1] != 16)
		return 0;
	opening = bpf_map_lookup_elem(&openings, &work->key);
	if (opening && opening->kind != OPENING_SERVER_JOIN)
		opening = NULL;
	subflow = opening ? &opening->answered : bpf_map_lookup_elem(&subflows, &work->key);
	if (!subflow || (!opening && !is_server_join(subflow)))
		return 0;
	connection = &subflow->connection;
	__builtin_memcpy(&nonce, option + 12, sizeof(nonce));
	join_hmac(work, connection->version, connection->client, connection->assigned, nonce, subflow->server_nonce);
	if (differs(&work->hmac, 0, option + 4) | differs(&work->hmac, 1, option + 8)) {
		note(work, TRANSLATE_HMAC_WRONG);
		return 0;
	}
	join_hmac(work, connection->version, connection->client, connection->kernel, nonce, subflow->server_nonce);
	put32(option + 4, work->hmac.digest.words[0]);
	put32(option + 8, work->hmac.digest.words[1]);
	work->changed = true;
	if (opening) {
		subflow->client_nonce = nonce;
		subflow->kind = OPENING_SERVER_JOIN;
		bpf_map_update_elem(&subflows, &work->key, subflow, BPF_ANY);
		if (!bpf_map_delete_elem(&openings, &work->key))
			note(work, TRANSLATE_SERVER_JOINED);
	}
	return 0;
}

/* The kernel's HMAC becomes that of the assigned key. */
__noinline int give_join_hmac(struct work *work, __u32 at)
{
	struct translation *connection;
	struct subflow *subflow;
	__u8 *option;

	if (!work)
		return 0;
	option = option_at(work, at);
	subflow = option[1] == 24 ? bpf_map_lookup_elem(&subflows, &work->key) : NULL;
	if (!is_server_join(subflow))
		return 0;
	connection = &subflow->connection;
	join_hmac(work, connection->version, connection->assigned, connection->client, subflow->server_nonce,
		  subflow->client_nonce);
	put_join_hmac(work, option + 4);
	return 0;
}
