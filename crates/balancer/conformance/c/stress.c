/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/* Threads that use the flow table and the token table at once, as processors do: run under a race checker.
 *
 * Each flow and each token has one target. Whatever a thread reads must belong together; nothing may stay claimed.
 * There are more flows and tokens than places, so that entries are replaced all the time. The argument
 * `unclaimed-touch` breaks the protocol: the race checker must find it. */
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "balancer/flow_table.h"
#include "balancer/token_table.h"

enum {
	THREADS = 4,
	ROUNDS = 40000,
	/* On a busy machine threads wait long for each other: after LIMIT seconds fewer rounds do. */
	LEAST_ROUNDS = 4000,
	LIMIT = 30,
	NAMES = 24, /* flows, and tokens */
	VIP = 1,
	SAME_BUCKET = 7,
};

/* The main bucket and two extra ones, for every flow and token. */
static struct flow_bucket flow_buckets[3];
static struct token_bucket token_buckets[3];
static __u32 overflow;
static struct target up = { .state = TARGET_UP };
static __u32 clock_ticks = 1;
static bool unclaimed_touch;

static __u32 place_of(__u32 index, __u32 main_buckets)
{
	return index < main_buckets ? 0 : 1 + (index & 1);
}

void *bpf_map_lookup_elem(void *map, const void *key)
{
	__u32 index = *(const __u32 *)key;
	static __thread struct count counted;

	if (map == &flows)
		return &flow_buckets[place_of(index, FLOW_BUCKETS)];
	if (map == &overflows)
		return &overflow;
	if (map == &tokens)
		return &token_buckets[place_of(index, TOKEN_BUCKETS)];
	if (map == &targets)
		return &up;
	return map == &counters ? &counted : NULL;
}

/* Lets other threads run in the middle of reading and writing entries. */
void between_accesses(void)
{
	static __thread __u32 accesses;

	if (++accesses % 31 == 0)
		sched_yield();
}

static void check(bool holds, const char *what)
{
	if (holds)
		return;
	fprintf(stderr, "broken: %s\n", what);
	_Exit(1);
}

static __u32 next_random(__u32 *state)
{
	*state = *state * 1664525 + 1013904223;
	return *state >> 8;
}

static __u32 target_of(__u32 name)
{
	return name + 1;
}

static __u32 token_named(__u32 name)
{
	return 0x1000 + name;
}

static struct packet_context packet_of(__u32 name)
{
	struct packet_context context = { .vip.id = VIP, .hash = SAME_BUCKET };

	context.key.client.high = name;
	context.key.client.low = ~(__u64)name;
	context.key.port = 5; /* the same: flows differ in their addresses alone */
	context.key.vip = VIP;
	context.now = __atomic_load_n(&clock_ticks, __ATOMIC_RELAXED);
	return context;
}

/* Writes without an exchange, which may end another processor's claim. */
static void touch_unclaimed(const struct packet_context *context)
{
	known_entry(context)->seen = context->now;
}

static void change_known_flow(const struct packet_context *context, __u32 name, __u32 choice)
{
	struct flow_snapshot changed = context->flow;
	struct decision decision = {};

	if (choice % 2)
		sched_yield();
	switch (choice) {
	case 0:
		move_flow(context, FLOW_ESTABLISHED, &decision);
		break;
	case 1:
		move_flow(context, FLOW_CLOSING, &decision);
		break;
	case 2:
		changed.token = token_named(name);
		change_flow_token(&changed, &decision);
		break;
	default:
		if (unclaimed_touch)
			touch_unclaimed(context);
		else
			refresh_flow(context, context->flow.state, &decision);
	}
	if (decision.writes & WRITES_FLOW)
		write_flow(context, &decision.flow);
}

static void use_flow(__u32 *random)
{
	__u32 name = next_random(random) % NAMES;
	struct packet_context context = packet_of(name);
	struct flow_value value = { .target = target_of(name), .state = FLOW_NEW };
	struct decision decision = {};

	find_flow(&context);
	if (context.known) {
		check(context.flow.target == target_of(name), "a flow's target is another flow's");
		check(!context.flow.token || context.flow.token == token_named(name), "a flow's token is another flow's");
		check(context.flow.seen && context.flow.seen != SEEN_BUSY, "a claimed entry was read");
		change_known_flow(&context, name, next_random(random) % 8);
		return;
	}
	if (next_random(random) % 2)
		value = (struct flow_value){ .target = target_of(name), .state = FLOW_JOINING, .token = token_named(name) };
	store_flow(&context, &value, value.token ? STATEFUL : STATELESS, &decision);
	write_flow(&context, &decision.flow);
}

static void use_token(__u32 *random)
{
	__u32 name = next_random(random) % NAMES;
	struct packet_context context = packet_of(name);
	struct token_snapshot found;
	struct decision decision = {};
	bool confirmed = next_random(random) % 8 == 0;

	if (find_token(&context, token_named(name), &found)) {
		check(found.target == target_of(name), "a token's target is another token's");
		check(found.status.seen && found.status.seen != SEEN_BUSY, "a claimed token was read");
		count_join(token_named(name), &found, &decision);
		write_token(&context, &decision);
	}
	if (learn_token(&context, token_named(name), target_of(name), confirmed ? TOKEN_CONFIRMED : TOKEN_PROVISIONAL, &decision))
		write_token(&context, &decision);
}

static void *run(void *argument)
{
	__u32 random = (__u32)(unsigned long)argument;

	time_t end = time(NULL) + LIMIT;

	for (int round = 0; round < ROUNDS; round++) {
		if (round >= LEAST_ROUNDS && time(NULL) > end)
			break;
		use_flow(&random);
		use_token(&random);
		if (round % 64 == 0)
			__atomic_fetch_add(&clock_ticks, 1, __ATOMIC_RELAXED);
	}
	return NULL;
}

/* Behind all threads: nothing is claimed, and each entry belongs together. */
static void check_tables(void)
{
	for (int i = 0; i < 3 * BUCKET_ENTRIES; i++) {
		struct flow *flow = &flow_buckets[i / BUCKET_ENTRIES].flows[i % BUCKET_ENTRIES];
		struct token_entry *token = &token_buckets[i / BUCKET_ENTRIES].tokens[i % BUCKET_ENTRIES];

		check(flow->seen != SEEN_BUSY && token->seen != SEEN_BUSY, "an entry stayed claimed");
		check(!flow->seen || flow->target == target_of(flow->client.high), "a flow was stored in parts");
		check(!flow->seen || flow->client.low == ~flow->client.high, "a flow's address was stored in parts");
		check(!token->seen || token_named(token->target - 1) == token->token, "a token was stored in parts");
	}
}

int main(int arguments, char **argument)
{
	pthread_t threads[THREADS];

	unclaimed_touch = arguments > 1 && !strcmp(argument[1], "unclaimed-touch");
	settings.syn_timeout = settings.closing_timeout = settings.provisional_timeout = 20;
	settings.flow_timeout = settings.token_timeout = 40;
	for (unsigned long i = 0; i < THREADS; i++)
		check(!pthread_create(&threads[i], NULL, run, (void *)(i + 1)), "a thread could not be started");
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	check_tables();
	return 0;
}
