/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/* The way of most SYNs: without MPTCP, in a frame that is plain but for the flag, for a flow without an entry whose own
 * bucket has a place, or for one whose SYN came a moment ago.
 *
 * Whatever is not so is left as it is, for the rest of the program: a condition here may be stricter than there, not
 * laxer. */
#pragma once

#include "balancer/plain.h"
#include "balancer/syn.h"

static __always_inline bool read_syn(struct xdp_md *ctx, struct packet_context *context, bool v6)
{
	const __u32 l4 = ETH_HLEN + (v6 ? IPV6_SIZE : IPV4_SIZE);
	const struct tcphdr *tcp = (void *)(long)ctx->data + l4;
	struct packet *packet = &context->packet;

	if (read_plain(ctx, packet, v6) != PLAIN_SYN || !read_client(ctx, &context->key, v6) ||
	    (void *)(tcp + 1) > end_of_frame(ctx))
		return false;
	packet->source = context->key.client;
	packet->tcp_flags = ((const __u8 *)tcp)[13];
	packet->options = tcp->doff * 4 - TCP_HEADER;
	context->sequence = bpf_ntohl(tcp->seq);
	return usual_options(ctx, l4, packet->options) == packet->options;
}

static __always_inline bool read_any_syn(struct xdp_md *ctx, struct packet_context *context)
{
	const struct ethhdr *ethernet = (void *)(long)ctx->data;

	if ((void *)(ethernet + 1) > end_of_frame(ctx))
		return false;
	return ethernet->h_proto == bpf_htons(ETH_P_IP) ? read_syn(ctx, context, false) : read_syn(ctx, context, true);
}

/* True if it is for a service that treats all SYNs alike, from an address that may be a client's. */
static __always_inline bool identify_syn(struct xdp_md *ctx, struct packet_context *context)
{
	const struct packet *packet = &context->packet;
	const struct vip *vip;

	context->service = (struct vip_key){
		.address = packet->destination,
		.port = packet->destination_port,
		.protocol = packet->protocol,
	};
	vip = find_vip(&context->service);
	if (!vip || !is_plain_service(vip) || vip->access || check_link(ctx) != LINK_OURS)
		return false;
	if (!settings.forwards_invalid && has_invalid_source(packet))
		return false;
	context->vip = *vip;
	context->now = now();
	context->passed_over = NO_TARGET;
	context->key.vip = context->vip.id;
	context->hash = hash_flow(settings.seed, &context->key.client, context->key.port, context->key.vip);
	return true;
}

/* What the flow's own bucket says. */
enum own_bucket {
	HAS_PLACE,
	HAS_NO_PLACE,
	HAS_FLOW, /* maybe no longer */
};

/* Looks for the flow and for the first free place at once, up to an entry that was never used. */
static __always_inline enum own_bucket look_in_own_bucket(struct packet_context *context, struct flow_place *place)
{
	__u32 index = main_bucket(context->hash);
	struct flow_bucket *bucket = flow_bucket(index);

#pragma clang loop unroll(disable)
	for (int i = 0; i < BUCKET_ENTRIES && bucket; i++) {
		struct flow *flow = &bucket->flows[i];
		struct flow_snapshot was = read_flow_status(flow);

		if (is_flow_of(flow, read_flow_identity(flow), &context->key)) {
			context->bucket = index;
			context->slot = i;
			return HAS_FLOW;
		}
		if (place->rank == STAYS && was.seen != SEEN_BUSY && !flow_live(&was, context->now))
			choose(place, index, i, &was, FREE);
		if (!was.seen)
			return HAS_PLACE;
	}
	return place->rank == FREE ? HAS_PLACE : HAS_NO_PLACE;
}

/* The target of a SYN that came again at once; NO_TARGET: it is another one. */
static __always_inline __u32 target_of_syn_again(struct packet_context *context)
{
	struct flow *flow = flow_at(context->bucket, context->slot);

	context->known = flow && try_to_read_flow(flow, &context->key, &context->flow) == READ_WHOLE &&
			 flow_live(&context->flow, context->now);
	if (!context->known || !opens_again(context) || is_repeated(context) || gives_way_to_syn(&context->flow))
		return NO_TARGET;
	return context->flow.target;
}

static __always_inline bool is_in(__u32 index, const struct packet_context *context)
{
	struct flow_bucket *bucket = flow_bucket(index);
	bool found = false;

	for (int i = 0; i < BUCKET_ENTRIES && bucket; i++)
		found |= is_flow_of(&bucket->flows[i], read_flow_identity(&bucket->flows[i]), &context->key);
	return found;
}

/* True if the flow may have an entry in an extra bucket. */
static __always_inline bool may_be_in_extra(const struct packet_context *context)
{
	return may_have_overflowed(context) &&
	       (is_in(bucket_choice(context->hash, 1), context) || is_in(bucket_choice(context->hash, 2), context));
}

/* True if there is a place for the flow's entry in its own bucket. */
static __always_inline bool makes_place(const struct packet_context *context, enum own_bucket own, struct flow_place *place)
{
	__u32 index = NO_TARGET;

	return own == HAS_PLACE || gives_way_at_once(context, bpf_map_lookup_elem(&target_signs, &index), STATELESS, place);
}

static __always_inline __u32 target_of_plain_syn(struct packet_context *context)
{
	__u32 hashed;

	look_up_slot(context);
	hashed = own_hashed_target(context);
	return hashed != NO_TARGET && takes_new(context, hashed) ? hashed : NO_TARGET;
}

static __always_inline int send_syn(struct xdp_md *ctx, struct packet_context *context, __u32 target)
{
	struct sending sending = { .settings = &settings, .flow_hash = context->hash };

	sending.target = target_at(target);
	if (!sending.target || sending.target->vlan)
		return NOT_PLAIN;
	return forward_untagged(ctx, &context->packet, &sending);
}

static __always_inline void store_syn(const struct packet_context *context, const struct flow_place *place, __u32 target)
{
	const struct flow_snapshot value = {
		.target = target,
		.state = FLOW_NEW,
		.epoch = opening_number(context),
		.seen = context->now,
	};
	struct flow *flow = flow_at(place->bucket, place->slot);

	if (place->rank != FREE && place->rank != CLOSED)
		count(context, FLOW_EVICTED);
	if (flow && replace_flow(flow, &place->was, &context->key, &value))
		count(context, FLOW_ADDED);
}

/* An XDP verdict, or negative. */
__noinline int balance_syn(struct xdp_md *ctx, struct packet_context *context)
{
	struct flow_place place = {};
	enum own_bucket own;
	__u32 target;
	int sent;

	if (!context || !read_any_syn(ctx, context) || !identify_syn(ctx, context))
		return NOT_PLAIN;
	own = look_in_own_bucket(context, &place);
	if (own == HAS_FLOW)
		target = target_of_syn_again(context);
	else if (may_be_in_extra(context) || !makes_place(context, own, &place))
		target = NO_TARGET;
	else
		target = target_of_plain_syn(context);
	sent = target == NO_TARGET ? NOT_PLAIN : send_syn(ctx, context, target);
	if (sent < 0)
		return NOT_PLAIN;
	if (own != HAS_FLOW)
		store_syn(context, &place, target);
	count(context, SENT_SYN);
	count_target(context, target);
	return sent;
}
