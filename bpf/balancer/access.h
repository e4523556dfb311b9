/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/* Access to a service by the source of packets: prefixes that may use it, and how many connections are opened in a
 * second.
 *
 * The first balancer that a packet comes to asks; others trust it. A service that asks nothing has vip.access 0, and
 * its packets pay no more than the look at that. */
#pragma once

#include "balancer/flow_table.h"

/* True if the packet's source may not use the service. Asked of every packet: a connection that is open when its source
 * is denied ends. */
__noinline int is_denied(const struct packet_context *context)
{
	struct access_prefix key = { .bits = ACCESS_SERVICE_BITS + 128 };
	const __u32 *rule;

	if (!context)
		return false;
	key.source.vip = context->vip.id;
	__builtin_memcpy(key.source.address, &context->packet.source, sizeof(key.source.address));
	rule = bpf_map_lookup_elem(&access_rules, &key);
	return rule && *rule == ACCESS_DENY;
}

/* A word of an address with its first bits alone. */
static __always_inline __u64 first_bits(__u64 word, __u32 bits)
{
	if (bits >= 64)
		return word;
	return bits ? word & bpf_cpu_to_be64(~0ULL << (64 - bits & 63)) : 0;
}

static __always_inline void connection_source(const struct packet_context *context, const struct access_limit *limit,
					      struct connection_source *key)
{
	const struct address *source = &context->packet.source;
	__u32 bits = context->packet.v6 ? limit->ipv6_bits : limit->ipv4_bits;

	*key = (struct connection_source){ .vip = context->vip.id };
	key->prefix.high = first_bits(source->high, bits);
	key->prefix.low = bits > 64 ? first_bits(source->low, bits - 64) : 0;
}

static __always_inline struct access_limit *limit_of_service(const struct packet_context *context)
{
	__u32 service = context->vip.id;

	return bpf_map_lookup_elem(&access_limits, &service);
}

static __always_inline bool is_used_up(const struct packet_context *context, const struct connection_count *count, __u32 limit)
{
	return count && count->second == context->now / TOUCH && count->connections >= limit;
}

/* True if the packet opens a connection, not for the second time. */
static __always_inline bool opens_connection(const struct packet_context *context)
{
	if (context->packet.protocol == IPPROTO_UDP)
		return !context->known;
	if ((context->packet.tcp_flags & (TCP_SYN | TCP_ACK)) != TCP_SYN)
		return false;
	return !context->known || !is_opening(context->flow.state);
}

/* The verdict on a packet that opens a connection beyond a limit; 0: it is within, and counts. */
__noinline int over_limit(const struct packet_context *context, struct decision *decision)
{
	const struct access_limit *limit;
	struct connection_source key;

	if (!context || !decision || !opens_connection(context))
		return 0;
	limit = limit_of_service(context);
	if (!limit)
		return 0;
	connection_source(context, limit, &key);
	if (limit->source && is_used_up(context, bpf_map_lookup_elem(&connection_counts, &key), limit->source))
		return DROP_SOURCE_RATE;
	if (limit->service && is_used_up(context, &limit->opened, limit->service))
		return DROP_SERVICE_RATE;
	decision->writes |= COUNTS_CONNECTION;
	return 0;
}

static __always_inline void count_one(struct connection_count *count, __u32 second)
{
	if (count->second != second) {
		WRITE_ONCE(count->connections, 0);
		WRITE_ONCE(count->second, second);
	}
	__sync_fetch_and_add(&count->connections, 1);
}

__noinline int count_connection(const struct packet_context *context)
{
	struct connection_count first = { .connections = 1 };
	struct connection_count *count;
	struct connection_source key;
	struct access_limit *limit;

	if (!context)
		return 0;
	limit = limit_of_service(context);
	if (!limit)
		return 0;
	first.second = context->now / TOUCH;
	count_one(&limit->opened, first.second);
	if (!limit->source)
		return 0;
	connection_source(context, limit, &key);
	count = bpf_map_lookup_elem(&connection_counts, &key);
	if (count)
		count_one(count, first.second);
	else
		bpf_map_update_elem(&connection_counts, &key, &first, BPF_ANY);
	return 0;
}
