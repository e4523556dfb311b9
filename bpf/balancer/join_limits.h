/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/* Limits of joins, counted by the balancer that owns the token. A token goes over the network in clear, and who has seen it can repeat it:
 * a backend looks up a connection and computes an HMAC for each. One address has a share of the token's joins; what it sends beyond
 * takes nothing from the others. */
#pragma once

#include "balancer/token_table.h"

/* The joins that the packet's source had of this token since the last refresh interval; NULL: none. */
static __always_inline struct join_count *joins_of_source(const struct packet_context *context, const struct join_source *key)
{
	struct join_count *count = bpf_map_lookup_elem(&join_counts, key);

	return count && within(context->now, count->since, settings.refresh) ? count : NULL;
}

/* True if the packet's source may have another join of this token; counts it. Two at the same moment may count as one. */
static __always_inline bool source_may_join(const struct packet_context *context, __u32 token)
{
	const struct join_source key = { .source = context->key.client, .token = token, .vip = tokens_service(context) };
	const struct join_count first = { .since = context->now, .joins = 1 };
	struct join_count *count;

	if (!settings.most_source_joins)
		return true;
	count = joins_of_source(context, &key);
	if (count && count->joins >= settings.most_source_joins)
		return false;
	if (DRY_RUN)
		return true;
	if (count)
		count->joins += 1;
	else
		bpf_map_update_elem(&join_counts, &key, &first, BPF_ANY);
	return true;
}

/* True if the token may have another join before its next refresh; counts it. */
static __always_inline bool may_join(const struct packet_context *context, __u32 token, const struct token_snapshot *found)
{
	__u8 most = settings.most_joins;

	if (!source_may_join(context, token) || (most && found->status.joins >= most)) {
		count(context, JOINS_LIMITED);
		return false;
	}
	if (!DRY_RUN)
		count_join(found);
	return true;
}
