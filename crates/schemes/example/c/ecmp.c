/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ECMP as a scheme outside of the simulator: the least that a scheme has. Runs are those of `scheme = "ecmp"`, to the
 * bit.
 *
 *     cc -O2 -shared -fPIC -I crates/schemes/abi/include -o libecmp.so crates/schemes/example/c/ecmp.c
 */
#include <stdlib.h>

#include "heddle_scheme.h"
#include "hash.h"

/* A switch keeps no state but its salt. */
static void *create(void *config, const struct heddle_switch *info)
{
	uint32_t *salt = malloc(sizeof(*salt));

	(void)config;
	if (!salt)
		abort();
	*salt = info->salt;
	return salt;
}

static uint16_t forward(void *state, const struct heddle_step *step, struct heddle_packet *packet, const uint16_t *next_hops,
			size_t count, const struct heddle_ports *ports)
{
	const uint32_t *salt = state;

	(void)step;
	(void)ports;
	return next_hops[pick(mix(packet->flow_hash, *salt), count)];
}

static const struct heddle_scheme ecmp = {
	.abi = HEDDLE_SCHEME_ABI,
	.name = "ecmp-in-c",
	.create = create,
	.destroy = free,
	.forward = forward,
};

const struct heddle_scheme *heddle_scheme(void)
{
	return &ecmp;
}
