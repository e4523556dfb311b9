/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/* The token table: which backend holds the connection of a token. Built as the flow table is.
 *
 * Keys that were seen once make a provisional entry: any host can send an ACK with keys in it. It is confirmed when its
 * connection goes on, and only then outlives `provisional_timeout`. A client that nobody has seen an answer of can send that, too, so
 * the entry is settled when its connection still goes on at the next refresh. No entry is ever overwritten with another backend
 * while it lives, and a settled one gives way to none. */
#pragma once

#include "balancer/context.h"
#include "balancer/entry.h"
#include "balancer/targets.h"

union token_status {
	struct {
		__u8 state;
		__u8 joins;
		__u8 settled;
		__u8 generation;
		__u32 seen;
	};
	__u64 word;
};

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

/* An entry as it was at one moment. `entry` is NULL where there is none. */
struct token_snapshot {
	struct token_entry *entry;
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
		*out = (struct token_snapshot){ .entry = entry, .status = status, .target = identity.target };
		return is_token(identity, token, tokens_service(context)) && token_live(status, context->now);
	}
	return false;
}

static __always_inline struct token_bucket *token_bucket(__u32 index)
{
	return bpf_map_lookup_elem(&tokens, &index);
}

/* The place `choice` for a token: 0 its bucket, 1 and 2 its extra buckets. */
static __always_inline struct token_bucket *token_place_bucket(__u64 hash, int choice)
{
	__u32 half = choice == 1 ? (__u32)(hash >> 32) : (__u32)((hash * HASH_MULTIPLIER) >> 32);

	if (!choice)
		return token_bucket((__u32)hash & (TOKEN_BUCKETS - 1));
	return token_bucket(TOKEN_BUCKETS + (__u32)(((__u64)half * TOKEN_EXTRA) >> 32));
}

/* The token's entry; false: there is none. */
static __always_inline bool find_token(const struct packet_context *context, __u32 token, struct token_snapshot *found)
{
	__u64 hash = hash_token(settings.seed, token, tokens_service(context));

#pragma clang loop unroll(disable)
	for (int choice = 0; choice < BUCKET_CHOICES; choice++) {
		struct token_bucket *bucket = token_place_bucket(hash, choice);

		for (int i = 0; i < BUCKET_ENTRIES && bucket; i++) {
			if (read_token(&bucket->tokens[i], token, context, found))
				return true;
		}
	}
	*found = (struct token_snapshot){};
	return false;
}

/* True if an entry gives way before another: a provisional one before one that is confirmed, then the one that was silent for longer. */
static __always_inline bool gives_way_before(union token_status one, union token_status other, __u32 now)
{
	if (one.state != other.state)
		return one.state == TOKEN_PROVISIONAL;
	return now - one.seen > now - other.seen;
}

/* A free entry, or else the one of those not settled that gives way first; NULL: all are settled. `was`: its status then. */
static __always_inline struct token_entry *token_place(const struct packet_context *context, __u32 token, union token_status *was)
{
	__u64 hash = hash_token(settings.seed, token, tokens_service(context));
	struct token_entry *oldest = NULL;

#pragma clang loop unroll(disable)
	for (int choice = 0; choice < BUCKET_CHOICES; choice++) {
		struct token_bucket *bucket = token_place_bucket(hash, choice);

		for (int i = 0; i < BUCKET_ENTRIES && bucket; i++) {
			struct token_entry *entry = &bucket->tokens[i];
			union token_status status = read_token_status(entry);
			bool live = token_live(status, context->now);

			if (status.seen == SEEN_BUSY || (live && status.settled))
				continue;
			if (live && oldest && !gives_way_before(status, *was, context->now))
				continue;
			oldest = entry;
			*was = status;
			if (!live)
				return entry;
		}
	}
	if (oldest)
		count(context, TOKEN_EVICTED);
	return oldest;
}

/* Registers the token once more. A join that another processor counts meanwhile does not undo it: it is tried again. */
static __always_inline void renew_token(const struct packet_context *context, __u32 token, const struct token_snapshot *found,
					enum token_state state)
{
	struct token_snapshot at = *found;

#pragma clang loop unroll(disable)
	for (int try = 0; try < READ_TRIES; try++) {
		union token_status status = at.status;

		if (state == TOKEN_CONFIRMED) {
			if (status.state == TOKEN_CONFIRMED && !within(context->now, status.seen, TOUCH))
				status.settled = true;
			status.state = TOKEN_CONFIRMED;
			status.joins = 0;
		}
		status.seen = context->now;
		status.generation += 1;
		if (compare_exchange(token_status(at.entry), at.status.word, status.word)) {
			if (state == TOKEN_CONFIRMED)
				count(context, at.status.state == TOKEN_CONFIRMED ? TOKEN_REFRESHED : TOKEN_CONFIRMS);
			return;
		}
		if (!read_token(at.entry, token, context, &at))
			return;
	}
}

/* Counts one more join. Not counted where another processor changes the entry at this moment. */
static __always_inline void count_join(const struct token_snapshot *found)
{
	union token_status status = found->status;

	status.joins += 1;
	status.generation += 1;
	compare_exchange(token_status(found->entry), found->status.word, status.word);
}

/* Replaces an entry whose status was `was`. False: it has changed since. */
static __always_inline bool replace_token(struct token_entry *entry, union token_status was, union token_identity identity,
					  union token_status status)
{
	if (!claim(token_status(entry), was.word))
		return false;
	WRITE_ONCE(*(shared_word *)entry, identity.word);
	publish(token_status(entry), status.word);
	return true;
}

/* Stores a token that is not in the table, or `found` there with a backend that is down. */
static __always_inline bool store_token(const struct packet_context *context, struct token_snapshot *found,
					union token_identity identity, enum token_state state)
{
	union token_status stored = { .state = state, .seen = context->now };

	if (!found->entry)
		found->entry = token_place(context, identity.token, &found->status);
	if (!found->entry) {
		count(context, TOKEN_FULL);
		return false;
	}
	stored.generation = found->status.generation + 1;
	if (!replace_token(found->entry, found->status, identity, stored))
		return false;
	count(context, TOKEN_ADDED);
	return true;
}

/* Remembers that the connection of `token` is with `target`. False: the token is taken, or there is no room. */
__noinline int learn_token(const struct packet_context *context, __u32 token, __u32 target, enum token_state state)
{
	struct token_snapshot found;

	if (DRY_RUN || !context)
		return true;
	target = group_target(context, target);
	if (find_token(context, token, &found)) {
		if (found.target == target) {
			renew_token(context, token, &found, state);
			return true;
		}
		if (keeps_flows(found.target)) {
			count(context, TOKEN_COLLISION);
			return false;
		}
	}
	return store_token(context, &found,
			   (union token_identity){ .token = token, .vip = tokens_service(context), .target = target }, state);
}
