/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/* mptcp = "assign": the balancer chooses the receiver's key, as RomanRoads does (section III-B, III-C).
 *
 * A SYN with MP_CAPABLE of version 0 (RFC 6824) has the sender's key: 12 bytes. The balancer appends a key whose token
 * is in its own part of the ring, which makes them 20, as in the third packet. In version 1 (RFC 8684) the option has 4
 * bytes and no key; with the balancer's it has 12, as in the SYN/ACK. A program on the backend (translate.bpf.c) takes
 * the key out again, and gives it to the client in place of the kernel's.
 *
 * Differences to the paper, for floods' sake: the token is provisional until the client goes on (token_table.h), and
 * the key given to a flow is stored in a map of its own (LRU). */
#pragma once

#include "balancer/forward.h"
#include "balancer/learn.h"
#include "common/siphash.h"

#define KEY_SIZE 8
#define KEY_TRIES 16  /* so many keys are made for a SYN: n balancers need n on average */
#define MAX_MOVED 256 /* bytes of frame up to the sender's key's end, at most */

/* ---- which key ---- */

static __always_inline bool own_token(__u32 token)
{
	__u32 slot = ring_slot_of_token(token);
	__u32 *owner = bpf_map_lookup_elem(&ring, &slot);

	return token && (!settings.peers || (owner && *owner == NO_TARGET));
}

static __always_inline __u32 token_of_key(__u32 version, const __u8 key[KEY_SIZE])
{
	return version ? token_v1(key) : token_v0(key);
}

/* The helper's generator is not cryptographic: from some of its numbers the next can be computed, and clients would see
 * them in keys. Keys must be hard to guess (RFC 6824, section 5). So it only makes sure that none comes twice, and a
 * secret does the rest. */
static __always_inline void make_key(__u32 version, struct assigned_key *key)
{
	__u64 once = (__u64)bpf_get_prandom_u32() << 32 | bpf_get_prandom_u32();
	__u64 bits = siphash(settings.seed, once);

	__builtin_memcpy(key->key, &bits, KEY_SIZE);
	key->token = token_of_key(version, key->key);
}

/* Decides on the key if it can be a new connection's: this balancer owns its token, and no connection has it. The token
 * is provisional. */
static __always_inline bool use_key(const struct packet_context *context, const struct assigned_key *key, enum counter event,
				    struct decision *decision)
{
	struct token_snapshot found;

	if (!own_token(key->token) || find_token(context, key->token, &found))
		return false;
	if (!learn_token(context, key->token, decision->target, TOKEN_PROVISIONAL, decision))
		return false;
	decision->key = *key;
	decision->key_event = event;
	return true;
}

/* A key made now. False: it cannot be a new connection's. */
__noinline int try_key(const struct packet_context *context, struct decision *decision)
{
	struct assigned_key key = {};

	if (!context || !decision)
		return false;
	make_key(decision->mptcp_version, &key);
	return use_key(context, &key, KEY_GENERATED, decision);
}

/* One that can be. False: none was found. */
static __always_inline bool generate_key(const struct packet_context *context, struct decision *decision)
{
#pragma clang loop unroll(disable)
	for (int try = 0; try < KEY_TRIES; try++) {
		if (try_key(context, decision))
			return true;
	}
	return false;
}

/* The first of the keys made ahead for this version, which act.h takes out. */
static __always_inline bool see_ready_key(__u32 version, struct assigned_key *key)
{
	return version ? !bpf_map_peek_elem(&ready_keys_v1, key) : !bpf_map_peek_elem(&ready_keys, key);
}

/* A key for a new connection: a ready one, or else one made now. False: none was found. */
__noinline int new_key(const struct packet_context *context, struct decision *decision)
{
	struct assigned_key ready = {};

	if (!context || !decision)
		return false;
	if (see_ready_key(decision->mptcp_version, &ready)) {
		decision->writes |= TAKES_READY;
		if (use_key(context, &ready, KEY_READY, decision))
			return true;
	}
	return generate_key(context, decision);
}

/* The key that this SYN had before. Not if a connection went on with it: then the client has opened another since; nor
 * if it was for another version, which has another token. */
__noinline int repeated_key(const struct packet_context *context, struct decision *decision)
{
	struct assigned_key *given;
	struct token_snapshot found;
	struct flow_key flow;

	if (!context || !decision)
		return false;
	flow = context->key;
	given = bpf_map_lookup_elem(&assigned, &flow);
	if (!given || context->now - given->seen >= settings.syn_timeout)
		return false;
	if (token_of_key(decision->mptcp_version, given->key) != given->token)
		return false;
	if (find_token(context, given->token, &found) && found.status.state == TOKEN_CONFIRMED)
		return false;
	if (!learn_token(context, given->token, decision->target, TOKEN_PROVISIONAL, decision))
		return false;
	decision->key = *given;
	decision->key_event = KEY_REPEATED;
	return true;
}

/* ---- taking it ---- */

/* Takes the first of the keys made ahead. Two processors that see the same one decide on it both, and one gets it: for
 * the other it is the next one, or a key made now. False: there is none. */
static __always_inline bool take_ready_key(const struct packet_context *context, struct decision *decision)
{
	struct assigned_key ready = {};
	bool missing = decision->mptcp_version ? bpf_map_pop_elem(&ready_keys_v1, &ready) : bpf_map_pop_elem(&ready_keys, &ready);

	if (decision->key_event != KEY_READY || (!missing && ready.token == decision->key.token))
		return true;
	return (!missing && use_key(context, &ready, KEY_READY, decision)) || generate_key(context, decision);
}

/* Takes the key that was decided on, and its token. False: other processors were faster with all of them. */
__noinline int take_key(const struct packet_context *context, struct decision *decision)
{
	struct assigned_key key;
	struct flow_key flow;

	if (!context || !decision)
		return false;
	if (decision->writes & TAKES_READY && !take_ready_key(context, decision))
		return false;
	if (!write_token(context, decision))
		return false;
	decision->flow.value.token = decision->key.token;
	flow = context->key;
	key = decision->key;
	key.seen = context->now;
	bpf_map_update_elem(&assigned, &flow, &key, BPF_ANY);
	return true;
}

/* ---- into the packet ---- */

/* Offset in the frame of the option that starts at byte `at` of the options. */
static __always_inline __u32 option_place(const struct packet_context *context, __u8 at)
{
	return context->packet.l4 + OPTIONS_OFFSET + at;
}

/* True if the TCP header and the target's MTU have room for eight bytes more behind byte `end` of the options. */
static __always_inline bool key_fits(const struct packet_context *context, __u8 end, __u32 index)
{
	const struct target *target = target_at(index);

	return target && context->packet.options + KEY_SIZE <= MAX_OPTIONS && option_place(context, end) <= MAX_MOVED &&
	       !too_long(&context->packet, target, overhead(target) + KEY_SIZE);
}

/* Moves all before the frame's byte `end` eight bytes forward: words from the start, and the last word, where they may
 * overlap. */
__noinline int make_gap(struct xdp_md *ctx, __u32 end)
{
	__u32 last = end - KEY_SIZE;
	__u64 *to, *tail, moved;

	if (end < KEY_SIZE || end > MAX_MOVED || bpf_xdp_adjust_head(ctx, -KEY_SIZE))
		return false;
	tail = (void *)(long)ctx->data + last;
	if ((void *)(tail + 2) > end_of_frame(ctx))
		return false;
	moved = tail[1];
	to = (void *)(long)ctx->data;
#pragma clang loop unroll(disable)
	for (__u32 at = 0; at < MAX_MOVED && at < last && (void *)(to + 2) <= end_of_frame(ctx); at += 8, to++)
		to[0] = to[1];
	tail[0] = moved;
	return true;
}

static __always_inline void lengthen_ip(void *at, bool v6)
{
	struct ipv6hdr *ip6 = at;
	struct iphdr *ip = at;
	__be16 old = ip->tot_len;

	if (v6) {
		ip6->payload_len = bpf_htons(bpf_ntohs(ip6->payload_len) + KEY_SIZE);
		return;
	}
	ip->tot_len = bpf_htons(bpf_ntohs(old) + KEY_SIZE);
	ip->check = checksum_update(ip->check, old, ip->tot_len);
}

static __always_inline __u64 sum_of_key(const __u8 key[KEY_SIZE])
{
	__u32 words[2];

	__builtin_memcpy(words, key, sizeof(words));
	return (__u64)words[0] + words[1];
}

/* The header is two words longer, so is the segment in the pseudo header, and the option has the key and its length:
 * all that is more than before, so what the sum gains. An option at an odd byte has its bytes the other way round in
 * the sum (RFC 1071). */
static __always_inline void lengthen_tcp(struct tcphdr *tcp, __u8 at, const __u8 key[KEY_SIZE])
{
	__u16 option = fold(sum_of_key(key) + bpf_htons(KEY_SIZE));

	if (at & 1)
		option = __builtin_bswap16(option);
	tcp->check = checksum((__u64)(__u16)~tcp->check + option + bpf_htons(KEY_SIZE) + bpf_htons(KEY_SIZE / 4 << 12));
	tcp->doff += KEY_SIZE / 4;
}

/* Appends the key to the option of this length that starts at byte `at` of the options. False: the frame cannot
 * grow. */
__noinline int insert_key(struct xdp_md *ctx, struct packet_context *context, __u8 at, __u8 length,
			  const struct assigned_key *key)
{
	__u32 place, behind, l4;
	void *data, *end;

	if (!context || !key)
		return false;
	place = option_place(context, at);
	behind = place + length;
	l4 = context->packet.l4;
	if (place > MAX_MOVED || behind > MAX_MOVED || l4 > MAX_MOVED || !make_gap(ctx, behind))
		return false;
	data = (void *)(long)ctx->data;
	end = end_of_frame(ctx);
	if (data + link_size(&context->packet) + IPV4_SIZE > end || data + l4 + sizeof(struct tcphdr) > end ||
	    data + place + 2 > end || data + behind + KEY_SIZE > end)
		return false;
	lengthen_ip(data + link_size(&context->packet), context->packet.v6);
	lengthen_tcp(data + l4, at, key->key);
	*(__u8 *)(data + place + 1) = length + KEY_SIZE;
	__builtin_memcpy(data + behind, key->key, KEY_SIZE);
	context->packet.length += KEY_SIZE;
	context->packet.options += KEY_SIZE;
	return true;
}

/* ---- deciding ---- */

/* The target of a SYN: a repeated SYN keeps its flow's. */
static __always_inline __u32 syn_target(const struct packet_context *context)
{
	const struct flow_snapshot *flow = known_flow(context);

	if (flow && (flow->state & FLOW_STATE_MASK) == FLOW_NEW && target_up(flow->target) && context->passed_over == NO_TARGET)
		return flow->target;
	return target_of_new(context);
}

/* True behind the end of a flow that the hash sends where it was: what opens there is another one, and moves
 * nothing. */
static __always_inline bool ended(const struct packet_context *context, const struct flow_snapshot *flow)
{
	__u8 state = flow->state & FLOW_STATE_MASK;

	return state == FLOW_CLOSING || (state == FLOW_CLOSING_STATEFUL && own_hashed_target(context) == flow->target);
}

/* True if the balancer chooses this connection's key. A live flow keeps the key that it has: a SYN for it may be
 * forged. */
static __always_inline bool assignable(const struct packet_context *context)
{
	const struct flow_snapshot *flow = known_flow(context);

	return context->vip.mode == MPTCP_ASSIGN &&
	       (!flow || is_syn_alone(flow) || ended(context, flow) || !keeps_flows(flow->target));
}

/* Decides on the connection's key, and stores its flow. False: none was found. */
static __always_inline bool decide_key(const struct packet_context *context, struct decision *decision)
{
	struct flow_value value = { .target = decision->target, .state = FLOW_NEW };

	if (!repeated_key(context, decision) && !new_key(context, decision))
		return false;
	decision->writes |= WRITES_KEY;
	value.token = decision->key.token;
	store_flow(context, &value, STATELESS, decision);
	return true;
}

/* False: no room for a key, and nothing is decided. Where no key is found the SYN is dropped: the client will try
 * again, in the end without MPTCP. */
static __always_inline bool decide_assign(const struct packet_context *context, const struct mptcp_found *found,
					  struct decision *decision)
{
	__u32 target = syn_target(context);

	if (!key_fits(context, found->at + found->length, target)) {
		note(decision, KEY_NO_ROOM);
		return false;
	}
	decide_send(decision, target, SENT_CAPABLE);
	decision->option = found->at;
	decision->option_length = found->length;
	decision->mptcp_version = found->version;
	if (decision->action != SEND)
		return true;
	if (decide_key(context, decision))
		decision->action = ASSIGN;
	else
		decide_drop(decision, DROP_FAILED);
	return true;
}
