/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/* Decisions about packets: where each goes, what is counted, and what is written to maps.
 *
 * A decision is data. Who decides reads maps and writes none: act.h carries everything out, and the program that
 * explains does not. Some answers to clients and peers are made in the frame while it is decided about them (refuse.h,
 * echo.h, heartbeat.h); a frame is no map. */
#pragma once

#include "balancer/context.h"
#include "balancer/flow_entry.h"
#include "balancer/targets.h"

enum action {
	PASS,
	DROP,
	SEND,   /* to `target` */
	ASSIGN, /* SEND, with `key` in it */
	BOUNCE, /* back as the frame is now */
	STEER,  /* to the balancer `peer` with `message`; to `target` if the packet is too long for that */
};

/* The maps that a packet writes to: bits of `writes`. Each has one write at most. */
enum write {
	WRITES_FLOW = 0x01,
	WRITES_TOKEN = 0x02,
	WRITES_CANDIDATE = 0x04,
	ENDS_CANDIDATE = 0x08,
	WRITES_FRAGMENT = 0x10,
	WRITES_JOIN_COUNT = 0x20,
	WRITES_KEY = 0x40,  /* `key` is the flow's */
	TAKES_READY = 0x80, /* the first of the keys made ahead, used or not */
	WRITES_PEER = 0x100,
	COUNTS_CONNECTION = 0x200,   /* towards the limits of source and service */
	WRITES_ANSWERED = 0x400,     /* the flow's target has answered its handshake */
	WRITES_SILENT = 0x800,       /* it has not: the SYN came again */
	WRITES_UNEXPLAINED = 0x1000, /* the flow's backend is explained by nothing but entries */
};

enum flow_change {
	CHANGES_STATUS, /* of the known flow, its token stays */
	CHANGES_TOKEN,  /* of the known flow, too */
	STORES_STATELESS,
	STORES_STATEFUL,
};

/* The entry of the packet's flow. */
struct flow_write {
	struct flow_snapshot value;
	__u8 change; /* enum flow_change */
};

/* The status word of an entry of the token table. */
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

/* The place of an entry of the token table. */
struct token_place {
	__u32 bucket;
	__u32 slot;
};

enum token_change {
	RENEWS_TOKEN,
	STORES_TOKEN,
	COUNTS_JOIN,
};

struct token_write {
	__u32 token;
	__u16 target; /* in the service under which the token is stored */
	__u8 state;   /* enum token_state */
	__u8 change;  /* enum token_change */
	bool evicts;  /* another token that lives */
	struct token_place place;
	union token_status was; /* when the place was chosen */
};

struct fragment_write {
	__u16 target;
	__u8 table; /* enum fragment_table */
};

enum peer_news {
	PEER_REFUSED,  /* its message has a wrong tag */
	PEER_HEARD,    /* a message of it */
	PEER_BEATS,    /* its heartbeat */
	PEER_ANSWERED, /* its answer to a heartbeat */
};

/* Events of one packet's processing. A packet has five of different kinds at most. */
#define EVENTS 8

struct event {
	__u8 counter; /* enum counter */
	__u8 times;
};

struct decision {
	__u8 action;        /* enum action */
	__u8 verdict;       /* enum counter; of the steering, where there is one */
	__u8 sent_verdict;  /* STEER: the verdict if it goes to `target` all the same */
	__u8 option;        /* ASSIGN: where MP_CAPABLE starts: bytes into the TCP options, */
	__u8 option_length; /* how long it is, */
	__u8 mptcp_version; /* and its version */
	__u16 target;
	__u16 peer;
	__u16 counted;  /* the target that the packet went to, when it is sent; NO_TARGET: none */
	__u16 writes;   /* enum write */
	__u8 limits;    /* that the packet counts towards: bit n for enum limit_kind n */
	__u8 key_event; /* WRITES_KEY: KEY_READY, KEY_GENERATED or KEY_REPEATED */
	__u8 peer_news; /* WRITES_PEER: enum peer_news */
	__u8 events_noted;
	struct event events[EVENTS];
	struct steering message;
	struct flow_write flow;
	struct token_write token;
	struct candidate candidate;
	struct assigned_key key;
	struct fragment_write fragment;
};

/* Notes an event, to be counted. */
__noinline int note(struct decision *decision, __u32 event)
{
	struct event *last;
	__u32 noted;

	if (!decision)
		return 0;
	noted = decision->events_noted;
	last = &decision->events[(noted - 1) & (EVENTS - 1)];
	if (noted && last->counter == event) {
		last->times++;
	} else if (noted < EVENTS) {
		decision->events[noted & (EVENTS - 1)] = (struct event){ .counter = event, .times = 1 };
		decision->events_noted = noted + 1;
	}
	return 0;
}

/* ---- limits ---- */

static __always_inline const struct limit *limit_of(enum limit_kind which)
{
	if (which == LIMIT_LEARN)
		return &settings.learn;
	return which == LIMIT_QUERY || which == LIMIT_WAITING ? &settings.query : &settings.errors;
}

/* The rest of a limit at this tick. */
static __always_inline __u64 left_of(const struct rate_limit *rest, const struct limit *limit, __u32 now)
{
	__u64 grown = rest->left + (__u64)(now - rest->tick) * limit->per_tick;

	return grown > limit->burst || !rest->tick ? limit->burst : grown;
}

/* True if the limit allows one more event now, which is counted then. */
static __always_inline bool within_limit(const struct packet_context *context, enum limit_kind which, struct decision *decision)
{
	const struct limit *limit = limit_of(which);
	const struct rate_limit *rest;

	if (!limit->per_tick)
		return true;
	rest = bpf_map_lookup_elem(&rate_limits, &which);
	if (!rest || !left_of(rest, limit, context->now))
		return false;
	decision->limits |= 1 << which;
	return true;
}

/* ---- where the packet goes ---- */

static __always_inline void put_be32(__u8 *to, __u32 value)
{
	__be32 word = bpf_htonl(value);

	__builtin_memcpy(to, &word, sizeof(word));
}

static __always_inline __u32 get_be32(const __u8 *from)
{
	__be32 word;

	__builtin_memcpy(&word, from, sizeof(word));
	return bpf_ntohl(word);
}

static __always_inline void decide_pass(struct decision *decision, enum counter verdict)
{
	decision->action = PASS;
	decision->verdict = verdict;
}

static __always_inline void decide_drop(struct decision *decision, enum counter verdict)
{
	decision->action = DROP;
	decision->verdict = verdict;
}

static __always_inline void decide_send(struct decision *decision, __u32 target, enum counter verdict)
{
	decision->action = target == NO_TARGET ? DROP : SEND;
	decision->verdict = target == NO_TARGET ? DROP_NO_BACKEND : verdict;
	decision->target = target;
}

/* A flow without a token is stored with this target. Its packets do not say that they are worth a question: where
 * nothing explains the target, the other balancers ask about all flows that they do not know. */
static __always_inline void note_placement(const struct packet_context *context, __u32 target, struct decision *decision)
{
	if (target != own_hashed_target(context) && !hashed_otherwise_before(context))
		decision->writes |= WRITES_UNEXPLAINED;
}

/* After decide_send: sends through `peer`, with a message about a token and a backend. */
static __always_inline void decide_steer(struct decision *decision, __u32 peer, enum steering_kind kind, enum counter verdict)
{
	decision->action = STEER;
	decision->sent_verdict = decision->verdict;
	decision->verdict = verdict;
	decision->peer = peer;
	decision->message.version = STEERING_VERSION;
	decision->message.kind = kind;
}

static __always_inline void set_token(struct decision *decision, __u32 token)
{
	put_be32(decision->message.token, token);
}

static __always_inline void set_backend(struct decision *decision, __u32 target)
{
	put_be32(decision->message.backend, target_id(target));
}

/* Outer IPv6, UDP and the steering header: the most that steering adds. */
#define STEERING_OVERHEAD 68

/* True if the packet with a steering header fits the MTU to the balancer. Registrations wait for a packet that does. */
static __always_inline bool steerable(const struct packet_context *context, __u32 peer)
{
	const struct target *target = target_at(peer);

	return target && (!target->mtu || context->packet.length + STEERING_OVERHEAD <= target->mtu);
}
