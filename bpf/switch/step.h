/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/* Runs a step of any scheme (step_abi.h). */
#pragma once

#include "switch/ecmp.h"
#include "switch/hula.h"
#include "switch/step_abi.h"

/* What a switch holds: of one scheme. */
union switch_state {
	struct dre dre;
	struct hula_tables hula;
};

static __always_inline void step_next_hops(const struct step_input *input, struct next_hops *hops)
{
	for (__u32 i = 0; i < STEP_HOPS && i < input->count; i++)
		next_hops_add(hops, input->next_hops[i]);
}

static __always_inline void step_hula(const struct hula *hula, const struct step_input *input, const struct next_hops *hops,
				      struct step_output *output)
{
	const struct best_hop *best;

	switch (input->kind) {
	case STEP_PACKET:
		output->port = hula_forward(hula, input->now, input->flow_hash, input->dst_tor, hops, input->up);
		break;
	case STEP_ORIGINATE:
		output->probe.forward = hula_originates(hula->config);
		output->probe.tor = hula->config->tor;
		break;
	case STEP_PROBE:
		output->probe = hula_probe(hula, input->now, &input->probe);
		best = hula_best(hula, input->probe.tor);
		if (best && best->next_port) {
			output->best_count = 1;
			output->best_port[0] = best->next_port - 1;
			output->best_util[0] = best->util;
		}
		break;
	}
}

static __always_inline void step_dre(const struct dre_config *config, struct dre *dre, const struct step_input *input,
				     struct step_output *output)
{
	if (input->kind == STEP_SENT)
		dre_add(dre, input->now, input->bytes, config->shift);
	if (input->kind == STEP_UTILISATION)
		output->util = dre_util(dre, input->now, config->shift, config->full);
}

/* Handles a step; `output` is zeros, `hops` is scratch space. Returns 0; -1 for a scheme that does not exist. */
static __always_inline int scheme_step(const struct step_config *config, union switch_state *state,
				       struct scheme_counters *counts, const struct step_input *input, struct next_hops *hops,
				       struct step_output *output)
{
	struct hula hula = { .config = &config->hula, .tables = &state->hula, .counts = counts };

	hops->set = 0;
	hops->count = 0;
	step_next_hops(input, hops);
	switch (config->scheme) {
	case SCHEME_ECMP:
		output->port = ecmp_forward(config->salt, input->flow_hash, hops);
		return 0;
	case SCHEME_HULA:
		step_hula(&hula, input, hops, output);
		return 0;
	case SCHEME_DRE:
		step_dre(&config->dre, &state->dre, input, output);
		return 0;
	}
	return -1;
}

static __always_inline __u64 scheme_digest(const struct step_config *config, union switch_state *state)
{
	struct hula hula = { .config = &config->hula, .tables = &state->hula };
	__u64 digest = DIGEST_START;

	if (config->scheme == SCHEME_HULA)
		hula_digest(&hula, &digest);
	if (config->scheme == SCHEME_DRE)
		dre_digest(&state->dre, &digest);
	return digest;
}
