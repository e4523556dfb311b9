/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For each flowlet the shorter queue of two next hops that are drawn: the scheme of the book's tutorial. Runs are those
 * of python/examples/two_choices.py, to the bit.
 *
 *     cc -O2 -shared -fPIC -I crates/schemes/abi/include -o libtwo_choices.so crates/schemes/example/c/two_choices.c
 */
#include <stdlib.h>

#include "heddle_scheme.h"
#include "hash.h"

#define SLOTS 1024
#define FLOWLET_GAP 100000 /* nanoseconds */

struct flowlet {
	uint64_t last;
	uint16_t port;
};

static void *create(void *config, const struct heddle_switch *info)
{
	struct flowlet *table = malloc(SLOTS * sizeof(*table));

	(void)config;
	(void)info;
	if (!table)
		abort();
	for (size_t i = 0; i < SLOTS; i++)
		table[i] = (struct flowlet){ .last = 0, .port = UINT16_MAX };
	return table;
}

static int is_next_hop(uint16_t port, const uint16_t *next_hops, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (next_hops[i] == port)
			return 1;
	return 0;
}

static uint16_t forward(void *state, const struct heddle_step *step, struct heddle_packet *packet, const uint16_t *next_hops,
			size_t count, const struct heddle_ports *ports)
{
	struct flowlet *flowlet = (struct flowlet *)state + packet->flow_hash % SLOTS;

	if (!is_next_hop(flowlet->port, next_hops, count) || step->now - flowlet->last > FLOWLET_GAP) {
		uint16_t first = next_hops[pick(mix(step->random, 1), count)];
		uint16_t second = next_hops[pick(mix(step->random, 2), count)];
		uint32_t queue = ports->queue_bytes(ports->context, first);

		flowlet->port = ports->queue_bytes(ports->context, second) < queue ? second : first;
	}
	flowlet->last = step->now;
	return flowlet->port;
}

static const struct heddle_scheme two_choices = {
	.abi = HEDDLE_SCHEME_ABI,
	.needs = HEDDLE_NEEDS_RANDOM,
	.name = "two-choices",
	.create = create,
	.destroy = free,
	.forward = forward,
};

const struct heddle_scheme *heddle_scheme(void)
{
	return &two_choices;
}
