/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/* The token table: which backend holds the connection of a token. Built as the flow table is.
 *
 * Keys that were seen once make a provisional entry: any host can send an ACK with keys in it. No join matches it
 * unless a balancer has seen the SYN before the keys. It is confirmed when its connection goes on, and only then
 * outlives `provisional_timeout`. A client that nobody has seen an answer of can send that, too, so the entry is
 * settled when its connection still goes on a second later. No entry that joins match is ever overwritten with another
 * backend while it lives, and a settled one gives way to none. */
#pragma once

#include "balancer/decision.h"
#include "balancer/entry.h"

/* Ticks between two confirmations that settle a token. The second one is sent a second after the first one, and both
 * may have taken some time. */
#define SETTLES_AFTER (TOUCH / 2)

union token_identity {
	struct {
		__u32 token;
		__u16 vip;
		__u16 target;
	};
	__u64 word;
};

_Static_assert(offsetof(struct token_entry, state) == 8 && offsetof(struct token_entry, seen) == 12 &&
		       sizeof(struct token_entry) == 16,
	       "an entry is two words: identity and status");

/* An entry as it was at one moment. */
struct token_snapshot {
	struct token_place place;
	union token_status status;
	__u16 target;
};

static __always_inline shared_word *token_status(struct token_entry *entry)
{
	return (shared_word *)&entry->state;
}

static __always_inline union token_status read_token_status(struct token_entry *entry)
{
	return (union token_status){ .word = READ_ONCE(*token_status(entry)) };
}

static __always_inline union token_identity read_token_identity(struct token_entry *entry)
{
	return (union token_identity){ .word = READ_ONCE(*(shared_word *)entry) };
}

static __always_inline bool token_live(union token_status status, __u32 now)
{
	__u32 timeout = status.state == TOKEN_CONFIRMED ? settings.token_timeout : settings.provisional_timeout;

	return status.seen && status.seen != SEEN_BUSY && within(now, status.seen, timeout);
}

static __always_inline bool is_token(union token_identity identity, __u32 token, __u16 vip)
{
	return identity.token == token && identity.vip == vip;
}

/* The service under which the packet's token is stored. */
static __always_inline __u16 tokens_service(const struct packet_context *context)
{
	return context->vip.group ? context->vip.group : context->vip.id;
}

/* Between the targets of the packet's own service and those of the service under which its tokens are stored. */
static __always_inline __u32 group_target(const struct packet_context *context, __u32 target)
{
	__u32 key = (__u32)context->vip.id << 16 | target;
	__u32 *other = context->vip.group ? bpf_map_lookup_elem(&group_targets, &key) : NULL;

	return other ? *other : target;
}

/* Reads an entry if it is the token's and live. */
static __always_inline bool read_token(struct token_entry *entry, __u32 token, const struct packet_context *context,
				       struct token_snapshot *out)
{
	if (!is_token(read_token_identity(entry), token, tokens_service(context)))
		return false;
#pragma clang loop unroll(disable)
	for (int try = 0; try < READ_TRIES; try++) {
		union token_status status = read_token_status(entry);
		union token_identity identity;

		order_reads();
		identity = read_token_identity(entry);
		order_reads();
		if (read_token_status(entry).word != status.word)
			continue;
		out->status = status;
		out->target = identity.target;
		return is_token(identity, token, tokens_service(context)) && token_live(status, context->now);
	}
	return false;
}

static __always_inline struct token_bucket *token_bucket(__u32 index)
{
	return bpf_map_lookup_elem(&tokens, &index);
}

/* The bucket `choice` for a token: 0 its own, 1 and 2 its extra buckets. */
static __always_inline __u32 token_bucket_choice(__u64 hash, int choice)
{
	__u32 half = choice == 1 ? (__u32)(hash >> 32) : (__u32)((hash * HASH_MULTIPLIER) >> 32);

	if (!choice)
		return (__u32)hash & (TOKEN_BUCKETS - 1);
	return TOKEN_BUCKETS + (__u32)(((__u64)half * TOKEN_EXTRA) >> 32);
}

/* The token's entry; false: there is none. */
__noinline int find_token(const struct packet_context *context, __u32 token, struct token_snapshot *found)
{
	__u64 hash;

	if (!context || !found)
		return false;
	hash = hash_token(settings.seed, token, tokens_service(context));
#pragma clang loop unroll(disable)
	for (int choice = 0; choice < BUCKET_CHOICES; choice++) {
		__u32 index = token_bucket_choice(hash, choice);
		struct token_bucket *bucket = token_bucket(index);

		found->place.bucket = index;
		for (int i = 0; i < BUCKET_ENTRIES && bucket; i++) {
			found->place.slot = i;
			if (read_token(&bucket->tokens[i], token, context, found))
				return true;
		}
	}
	return false;
}

/* True if an entry gives way before another: one that is not confirmed before one that is, then the one that was silent
 * for longer. */
static __always_inline bool gives_way_before(union token_status one, union token_status other, __u32 now)
{
	bool confirmed = one.state == TOKEN_CONFIRMED;

	if (confirmed != (other.state == TOKEN_CONFIRMED))
		return !confirmed;
	return now - one.seen > now - other.seen;
}

/* Chooses a free entry, or else the one of those not settled that gives way first. False: all are settled. */
static __always_inline bool choose_place(const struct packet_context *context, struct token_write *write)
{
	__u64 hash = hash_token(settings.seed, write->token, tokens_service(context));

	write->evicts = false;
#pragma clang loop unroll(disable)
	for (int choice = 0; choice < BUCKET_CHOICES; choice++) {
		__u32 index = token_bucket_choice(hash, choice);
		struct token_bucket *bucket = token_bucket(index);

		for (int i = 0; i < BUCKET_ENTRIES && bucket; i++) {
			union token_status status = read_token_status(&bucket->tokens[i]);
			bool live = token_live(status, context->now);

			if (status.seen == SEEN_BUSY || (live && status.settled))
				continue;
			if (live && write->evicts && !gives_way_before(status, write->was, context->now))
				continue;
			write->place = (struct token_place){ .bucket = index, .slot = i };
			write->was = status;
			write->evicts = live;
			if (!live)
				return true;
		}
	}
	return write->evicts;
}

/* ---- what is decided ---- */

/* Decides how decision->token, of which its first fields say token, target and state, is remembered. False: the token
 * is taken, or there is no room. */
__noinline int place_token(const struct packet_context *context, struct decision *decision)
{
	struct token_snapshot found = {};
	struct token_write *write;

	if (!context || !decision)
		return false;
	write = &decision->token;
	decision->writes &= ~WRITES_TOKEN;
	write->change = STORES_TOKEN;
	if (find_token(context, write->token, &found)) {
		write->place = found.place;
		write->was = found.status;
		write->evicts = false;
		if (found.target == write->target) {
			write->change = RENEWS_TOKEN;
		} else if (found.status.state != TOKEN_UNOPENED && keeps_flows(found.target)) {
			note(decision, TOKEN_COLLISION);
			return false;
		}
	} else if (!choose_place(context, write)) {
		note(decision, TOKEN_FULL);
		return false;
	}
	decision->writes |= WRITES_TOKEN;
	return true;
}

/* Finds the token's entry, if joins match it. */
static __always_inline bool find_joinable(const struct packet_context *context, __u32 token, struct token_snapshot *found)
{
	return find_token(context, token, found) && found->status.state != TOKEN_UNOPENED;
}

/* Remembers that the connection of `token` is with `target`. False: the token is taken, or there is no room. */
static __always_inline bool learn_token(const struct packet_context *context, __u32 token, __u32 target, enum token_state state,
					struct decision *decision)
{
	decision->token.token = token;
	decision->token.target = group_target(context, target);
	decision->token.state = state;
	return place_token(context, decision);
}

/* Counts one more join. */
static __always_inline void count_join(__u32 token, const struct token_snapshot *found, struct decision *decision)
{
	decision->token.token = token;
	decision->token.change = COUNTS_JOIN;
	decision->token.place = found->place;
	decision->token.was = found->status;
	decision->writes |= WRITES_TOKEN;
}

/* ---- writing ---- */

/* Registers the token once more. A join that another processor counts meanwhile does not undo it: it is tried again. */
static __always_inline void renew_token(const struct packet_context *context, struct token_entry *entry,
					const struct token_write *write)
{
	struct token_snapshot at = { .status = write->was };

#pragma clang loop unroll(disable)
	for (int try = 0; try < READ_TRIES; try++) {
		union token_status status = at.status;

		if (write->state == TOKEN_CONFIRMED) {
			if (status.state == TOKEN_CONFIRMED && !within(context->now, status.seen, SETTLES_AFTER))
				status.settled = true;
			status.state = TOKEN_CONFIRMED;
			status.joins = 0;
		} else if (status.state == TOKEN_UNOPENED) {
			status.state = write->state;
		}
		status.seen = context->now;
		status.generation += 1;
		if (compare_exchange(token_status(entry), at.status.word, status.word)) {
			if (write->state == TOKEN_CONFIRMED)
				count(context, at.status.state == TOKEN_CONFIRMED ? TOKEN_REFRESHED : TOKEN_CONFIRMS);
			return;
		}
		if (!read_token(entry, write->token, context, &at))
			return;
	}
}

/* Not where another processor changes the entry at this moment. */
static __always_inline void add_join(struct token_entry *entry, union token_status was)
{
	union token_status status = was;

	status.joins += 1;
	status.generation += 1;
	compare_exchange(token_status(entry), was.word, status.word);
}

/* Replaces the entry, whose status was `write->was`. False: it has changed since. */
static __always_inline bool replace_token(const struct packet_context *context, struct token_entry *entry,
					  const struct token_write *write)
{
	union token_identity identity = { .token = write->token, .vip = tokens_service(context), .target = write->target };
	union token_status stored = {
		.state = write->state,
		.generation = write->was.generation + 1,
		.seen = context->now,
	};

	if (!claim(token_status(entry), write->was.word))
		return false;
	WRITE_ONCE(*(shared_word *)entry, identity.word);
	publish(token_status(entry), stored.word);
	if (write->evicts)
		count(context, TOKEN_EVICTED);
	count(context, TOKEN_ADDED);
	return true;
}

/* Writes the entry as it was decided. False: another processor has changed it since. */
static __always_inline bool write_token_once(const struct packet_context *context, const struct token_write *write)
{
	struct token_bucket *bucket = token_bucket(write->place.bucket);
	struct token_entry *entry;

	if (!bucket)
		return false;
	entry = &bucket->tokens[write->place.slot & (BUCKET_ENTRIES - 1)];
	if (write->change == STORES_TOKEN)
		return replace_token(context, entry, write);
	if (write->change == COUNTS_JOIN)
		add_join(entry, write->was);
	else
		renew_token(context, entry, write);
	return true;
}

/* Writes the token's entry. Where another processor takes the place that was chosen for it, another one is chosen.
 * False: there is none any more, or the other processor has stored this token, with another backend. */
__noinline int write_token(const struct packet_context *context, struct decision *decision)
{
	if (!context || !decision)
		return false;
#pragma clang loop unroll(disable)
	for (int try = 0; try < READ_TRIES; try++) {
		if (write_token_once(context, &decision->token))
			return true;
		if (!place_token(context, decision))
			return false;
	}
	return false;
}
