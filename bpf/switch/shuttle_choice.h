/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/* Shuttle's choice among hops in one pass: a weighted reservoir sample of size 1 (Chao 1982), without a division. A
 * port of crates/schemes/policy/src/shuttle/choice.rs. */
#pragma once

#include <linux/types.h>
#include <stdbool.h>

#include "switch/abi.h"
#include "switch/flowlet.h"
#include "switch/hash.h"

#define FULL_LINK 65536U /* of figures of own ports; of costs it is the range */

/* A hop that a flowlet may take. Costs are fractions of the range, at most twice that. */
struct shuttle_candidate {
	__u32 cost;  /* of the path: the greater of the remote figure and the own utilisation, and the own queue */
	__u32 local; /* of the own port: utilisation and queue, in full links */
	__u16 port;
	__u16 shared; /* another subflow of the connection uses it, and it is to be avoided */
};

/* The hops drawn of those offered so far; NO_PORT: none was offered. */
struct shuttle_choice {
	struct shuttle_candidate first, second;
	__u32 random;
	__u32 offered;
	__u32 total; /* weights offered, since the first hop that is not shared */
	__u32 least; /* the least cost is chosen, and not at random */
	__u32 draws;
};

static __always_inline struct shuttle_choice shuttle_no_choice(const struct shuttle_config *config, __u32 random)
{
	return (struct shuttle_choice){
		.first = { .port = NO_PORT },
		.second = { .port = NO_PORT },
		.random = random,
		.least = config->choice == SHUTTLE_LEAST,
		.draws = config->draws,
	};
}

static __always_inline __u32 shuttle_range_shift(const struct shuttle_config *config)
{
	return config->range_shift < 8 ? config->range_shift : 8;
}

/* The queue of an own port, of which FULL_LINK is a full link; at most the range. */
static __always_inline __u32 shuttle_queue(const struct shuttle_config *config, const struct port_load *load)
{
	__u32 shift = config->full_queue_shift;
	__u64 queue = ((__u64)load->queue << 16) >> (shift < 31 ? shift : 31);
	__u64 most = (__u64)FULL_LINK << shuttle_range_shift(config);

	return queue < most ? queue : most;
}

/* The own link as a probe tells it, of which FULL_LINK is the range. */
static __always_inline __u16 shuttle_own_figure(const struct shuttle_config *config, const struct port_load *load)
{
	__u32 shift = shuttle_range_shift(config), figure;

	if (!shift)
		return load->util;
	figure = (load->util + shuttle_queue(config, load)) >> shift;
	return figure < FULL_LINK - 1 ? figure : FULL_LINK - 1;
}

static __always_inline struct shuttle_candidate shuttle_candidate(const struct mp_hula_config *config, __u16 port, __u32 remote,
								  const struct port_load *load)
{
	__u32 bits = config->hula.util_bits, range = shuttle_range_shift(&config->shuttle);
	__u32 queue = shuttle_queue(&config->shuttle, load);

	bits = bits ? bits : 1;
	remote <<= bits < 16 ? 16 - bits : 0;
	if (remote > FULL_LINK - 1)
		remote = FULL_LINK - 1;
	remote <<= range;
	return (struct shuttle_candidate){
		.cost = ((remote > load->util ? remote : load->util) + queue) >> range,
		.local = load->util + queue,
		.port = port,
	};
}

/* (1 - cost)^2 in units of 2^-16, from 1 to 2^16: a hop that is full still has a chance. */
static __always_inline __u32 shuttle_weight(__u32 cost)
{
	__u64 room = FULL_LINK - (cost < FULL_LINK - 1 ? cost : FULL_LINK - 1);
	__u32 weight = room * room >> 16;

	return weight ? weight : 1;
}

/* Draws anew: the hop offered last takes the place of `held` with a probability of its share of all weights. */
static __always_inline void shuttle_draw(const struct shuttle_choice *choice, const struct shuttle_candidate *candidate,
					 __u32 nth, struct shuttle_candidate *held)
{
	__u32 bits = mix(choice->random, 2 * choice->offered + nth);

	if (pick(bits, choice->total) < shuttle_weight(candidate->cost))
		*held = *candidate;
}

/* Offers one hop. A hop that is shared counts only while all are. A global function, which the verifier looks at by
 * itself. */
__noinline int shuttle_offer(struct shuttle_choice *choice, const struct shuttle_candidate *candidate)
{
	bool none;

	if (!choice || !candidate)
		return -1;
	none = choice->first.port == NO_PORT;
	if (!none && !choice->first.shared && candidate->shared)
		return 0;
	if (!none && choice->first.shared && !candidate->shared) {
		choice->total = 0;
		none = true;
	}
	choice->total += shuttle_weight(candidate->cost);
	choice->offered++;
	if (choice->least) {
		if (none || candidate->cost < choice->first.cost)
			choice->first = *candidate;
		return 0;
	}
	shuttle_draw(choice, candidate, 0, &choice->first);
	if (choice->draws > 1)
		shuttle_draw(choice, candidate, 1, &choice->second);
	return 0;
}

/* The hop chosen; its port is NO_PORT if none was offered. */
static __always_inline struct shuttle_candidate shuttle_chosen(const struct shuttle_choice *choice)
{
	bool single = choice->draws < 2 || choice->least;

	if (!single && choice->second.port != NO_PORT && choice->second.local < choice->first.local)
		return choice->second;
	return choice->first;
}
