/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/* Limits of joins, counted by the balancer that owns the token. A token goes over the network in clear, and who has
 * seen it can repeat it: a backend looks up a connection and computes an HMAC for each. One address has a share of the
 * token's joins; what it sends beyond takes nothing from the others. */
#pragma once

#include "balancer/token_table.h"

/* The joins that the packet's source had of this token since the last refresh interval; NULL: none. */
static __always_inline struct join_count *joins_of_source(const struct packet_context *context, const struct join_source *key)
{
	struct join_count *count = bpf_map_lookup_elem(&join_counts, key);

	return count && within(context->now, count->since, settings.refresh) ? count : NULL;
}

static __always_inline void join_source(const struct packet_context *context, __u32 token, struct join_source *key)
{
	*key = (struct join_source){ .source = context->key.client, .token = token, .vip = tokens_service(context) };
}

/* True if the packet's source may have another join of this token, which is counted then. Two at the same moment may
 * both be let in. */
static __always_inline bool source_may_join(const struct packet_context *context, __u32 token, struct decision *decision)
{
	struct join_source key;
	struct join_count *count;

	if (!settings.most_source_joins)
		return true;
	join_source(context, token, &key);
	count = joins_of_source(context, &key);
	if (count && count->joins >= settings.most_source_joins)
		return false;
	decision->token.token = token;
	decision->writes |= WRITES_JOIN_COUNT;
	return true;
}

/* True if the token may have another join before its next refresh, which is counted then. */
static __always_inline bool may_join(const struct packet_context *context, __u32 token, const struct token_snapshot *found,
				     struct decision *decision)
{
	__u8 most = settings.most_joins;

	if (!source_may_join(context, token, decision) || (most && found->status.joins >= most)) {
		note(decision, JOINS_LIMITED);
		return false;
	}
	count_join(token, found, decision);
	return true;
}

/* Counts a join of decision->token's from the packet's source. Two at the same moment may count as one. */
__noinline int write_join_count(const struct packet_context *context, const struct decision *decision)
{
	struct join_count first = { .joins = 1 };
	struct join_source key;
	struct join_count *count;

	if (!context || !decision)
		return 0;
	first.since = context->now;
	join_source(context, decision->token.token, &key);
	count = joins_of_source(context, &key);
	if (count)
		count->joins += 1;
	else
		bpf_map_update_elem(&join_counts, &key, &first, BPF_ANY);
	return 0;
}
