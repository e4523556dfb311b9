/* SPDX-License-Identifier: Apache-2.0 */
/*
 * HULA (Katta et al., SOSR 2016) as a scheme outside of the simulator: probes, utilisation, a flowlet table and
 * parameters. Runs are those of `scheme = "hula"` with its defaults, to the bit.
 *
 *     cc -O2 -shared -fPIC -I crates/schemes/abi/include -o libhula.so crates/schemes/example/c/hula.c
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "heddle_scheme.h"
#include "hash.h"

#define NO_PORT UINT16_MAX
#define MOST_SLOTS (1u << 24)
#define UTIL_SHIFT 8 /* a probe has 8 of the 16 bits of a utilisation (section 4.2) */

struct config {
	uint64_t flowlet_gap;
	uint64_t flowlet_slots; /* a power of two */
	uint64_t probe_period;
	uint64_t fail_after;
};

struct flowlet {
	uint64_t last;
	uint16_t port;
};

/* The best hop towards a ToR. */
struct best {
	uint16_t port; /* NO_PORT before the first probe */
	uint16_t util;
	uint64_t updated;
	uint64_t sent; /* time of the last replicated probe, if has_sent */
	int has_sent;
};

struct hula {
	const struct config *config;
	uint32_t salt;
	int32_t tor;
	uint16_t tors;
	struct heddle_counters counters;
	struct best *best;
	struct flowlet *flowlets;
};

static void *allocate(size_t count, size_t size)
{
	void *memory = calloc(count ? count : 1, size);

	if (!memory)
		abort();
	return memory;
}

static uint64_t power_of_two(uint64_t least)
{
	uint64_t power = 1;

	while (power < least)
		power <<= 1;
	return power;
}

static int32_t refuse(struct heddle_setup *setup, struct config *config, const char *why, const char *name)
{
	snprintf(setup->error, sizeof(setup->error), "%s `%s`", why, name);
	free(config);
	return 1;
}

static int32_t configure(const struct heddle_scheme *scheme, const struct heddle_parameter *parameters, size_t count,
			 struct heddle_setup *setup)
{
	struct config *config = allocate(1, sizeof(*config));
	size_t i;

	(void)scheme;
	*config = (struct config){ .flowlet_gap = 100000, .flowlet_slots = 65536, .probe_period = 200000 };
	for (i = 0; i < count; i++) {
		if (!strcmp(parameters[i].name, "flowlet_gap"))
			config->flowlet_gap = parameters[i].value;
		else if (!strcmp(parameters[i].name, "flowlet_slots"))
			config->flowlet_slots = parameters[i].value;
		else if (!strcmp(parameters[i].name, "probe_period"))
			config->probe_period = parameters[i].value;
		else
			return refuse(setup, config, "no parameter is called", parameters[i].name);
	}
	if (!config->flowlet_slots || config->flowlet_slots > MOST_SLOTS)
		return refuse(setup, config, "1 to 16777216 is wanted for", "flowlet_slots");
	if (!config->probe_period)
		return refuse(setup, config, "more than 0 is wanted for", "probe_period");
	config->flowlet_slots = power_of_two(config->flowlet_slots);
	config->fail_after = 3 * config->probe_period;
	setup->config = config;
	setup->tau = 2 * config->probe_period;
	setup->probe_period = config->probe_period;
	return 0;
}

static void *create(void *config, const struct heddle_switch *info)
{
	struct hula *hula = allocate(1, sizeof(*hula));
	uint64_t i;

	hula->config = config;
	hula->salt = info->salt;
	hula->tor = info->tor;
	hula->tors = info->tors;
	hula->best = allocate(info->tors, sizeof(*hula->best));
	for (i = 0; i < info->tors; i++)
		hula->best[i] = (struct best){ .port = NO_PORT, .util = UINT16_MAX };
	hula->flowlets = allocate(hula->config->flowlet_slots, sizeof(*hula->flowlets));
	for (i = 0; i < hula->config->flowlet_slots; i++)
		hula->flowlets[i].port = NO_PORT;
	return hula;
}

static void destroy(void *state)
{
	struct hula *hula = state;

	free(hula->flowlets);
	free(hula->best);
	free(hula);
}

static int contains(const uint16_t *ports, size_t count, uint16_t port)
{
	size_t i;

	for (i = 0; i < count; i++)
		if (ports[i] == port)
			return 1;
	return 0;
}

/* The best hop, or ECMP's where no probe has told of one that the packet may take. */
static uint16_t choose(struct hula *hula, const struct heddle_packet *packet, const uint16_t *next_hops, size_t count)
{
	uint16_t best = hula->best[packet->dst_tor].port;

	if (best != NO_PORT && contains(next_hops, count, best))
		return best;
	hula->counters.fallbacks++;
	return next_hops[pick(mix(packet->flow_hash, hula->salt), count)];
}

/* Section 4.3: a flowlet keeps its port until a pause longer than the gap. */
static uint16_t forward(void *state, const struct heddle_step *step, struct heddle_packet *packet, const uint16_t *next_hops,
			size_t count, const struct heddle_ports *ports)
{
	struct hula *hula = state;
	struct flowlet *flowlet;
	uint16_t port;
	int live;

	(void)ports;
	if (count == 1)
		return next_hops[0];
	flowlet = &hula->flowlets[mix(packet->flow_hash, hula->salt) & (hula->config->flowlet_slots - 1)];
	live = step->now <= flowlet->last || step->now - flowlet->last <= hula->config->flowlet_gap;
	flowlet->last = step->now;
	if (live && contains(next_hops, count, flowlet->port))
		return flowlet->port;
	port = choose(hula, packet, next_hops, count);
	hula->counters.flowlets++;
	hula->counters.moves += flowlet->port != port && flowlet->port != NO_PORT;
	flowlet->port = port;
	return port;
}

static uint8_t originate(void *state, const struct heddle_step *step, struct heddle_probe *probe)
{
	const struct hula *hula = state;

	(void)step;
	if (hula->tor < 0)
		return 0;
	*probe = (struct heddle_probe){ .tor = (uint16_t)hula->tor };
	return 1;
}

/* Section 4.2 and 5.3: a probe that is lower, or from the best hop, or finds a stale entry, replaces it. */
static void update(struct best *best, uint64_t now, uint16_t port, uint16_t util, uint64_t fail_after)
{
	int stale = now > best->updated && now - best->updated > fail_after;

	if (best->port == NO_PORT || util < best->util || stale || best->port == port) {
		best->port = port;
		best->util = util;
		best->updated = now;
	}
}

/* Section 4.5: probes of a ToR are replicated about once in a period. */
static int may_send(struct best *best, uint64_t now, uint64_t period)
{
	if (best->has_sent && now - best->sent < period - period / 8)
		return 0;
	best->has_sent = 1;
	best->sent = now;
	return 1;
}

static uint8_t probe(void *state, const struct heddle_step *step, const struct heddle_probe_arrival *arrival,
		     const struct heddle_ports *ports, struct heddle_probe *forwarded)
{
	struct hula *hula = state;
	uint16_t tor = arrival->probe.tor, util;
	struct best *best;

	hula->counters.probes++;
	if (tor == hula->tor || !arrival->is_next_hop || tor >= hula->tors)
		return 0;
	best = &hula->best[tor];
	util = ports->tx_util(ports->context, arrival->port) >> UTIL_SHIFT;
	if (util < arrival->probe.util)
		util = arrival->probe.util;
	update(best, step->now, arrival->port, util, hula->config->fail_after);
	if (hula->tor >= 0 || !may_send(best, step->now, hula->config->probe_period))
		return 0;
	*forwarded = (struct heddle_probe){ .tor = tor, .util = best->util };
	return 1;
}

/* 16 bytes for each ToR and 8 for each slot, as a switch would hold them. */
static uint64_t state_bytes(void *state)
{
	const struct hula *hula = state;

	return hula->tors * 16 + hula->config->flowlet_slots * 8;
}

static void counters(void *state, struct heddle_counters *counters)
{
	const struct hula *hula = state;

	*counters = hula->counters;
}

static const struct heddle_scheme hula = {
	.abi = HEDDLE_SCHEME_ABI,
	.needs = HEDDLE_NEEDS_UTILISATION,
	.name = "hula-in-c",
	.configure = configure,
	.release = free,
	.create = create,
	.destroy = destroy,
	.forward = forward,
	.originate = originate,
	.probe = probe,
	.state_bytes = state_bytes,
	.counters = counters,
};

const struct heddle_scheme *heddle_scheme(void)
{
	return &hula;
}
