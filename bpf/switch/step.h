/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/* Runs a step of any scheme (step_abi.h). */
#pragma once

#include "switch/cflb_prepare.h"
#include "switch/conga.h"
#include "switch/ecmp.h"
#include "switch/let_it_flow.h"
#include "switch/mp_hula.h"
#include "switch/shuttle.h"
#include "switch/step_abi.h"

/* The tables of a switch: those of one scheme. */
union switch_state {
	struct dre dre;
	struct hula_tables hula;
	struct mp_hula_tables mp_hula;
	struct let_it_flow_tables let_it_flow;
	struct conga_tables conga;
	struct {
		struct cflb cflb;
		struct cflb_memo cflb_memo;
	};
};

static __always_inline void step_hula(const struct hula *hula, const struct step_input *input, struct step_output *output)
{
	const struct best_hop *best;

	switch (input->kind) {
	case STEP_PACKET:
		output->port = hula_forward(hula, input->now, input->flow_hash, input->dst_tor, &input->hops, input->up);
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

static __always_inline void step_best(const struct hop_table *best, struct step_output *output)
{
	if (!best)
		return;
	output->best_count = best->known;
	for (__u32 i = 0; i < STEP_BEST && i < best->known; i++) {
		output->best_port[i] = best->hops[i].port;
		output->best_util[i] = best->hops[i].util;
	}
}

static __always_inline void step_mp_hula_packet(const struct mp_hula *hula, const struct step_input *input,
						struct step_output *output)
{
	struct mp_hula_packet packet = {
		.flow_hash = input->flow_hash,
		.dst_tor = input->dst_tor,
		.from_host = input->from_host,
		.shim = input->shim,
	};

	output->port = mp_hula_forward(hula, input->now, &packet, &input->hops, input->up);
	output->shim = packet.shim;
}

static __always_inline void step_mp_hula_handshake(const struct mp_hula *hula, const struct step_input *input)
{
	struct handshake packet = { .out_hash = input->out_hash, .flags = input->tcp_flags, .from_host = input->from_host };

	handshake_read((const struct tcp_options *)input->options, input->options_length, &packet);
	mp_hula_handshake(hula, input->now, &packet);
}

static __always_inline void step_mp_hula(const struct mp_hula *hula, const struct step_input *input, struct step_output *output)
{
	switch (input->kind) {
	case STEP_PACKET:
		step_mp_hula_packet(hula, input, output);
		break;
	case STEP_EGRESS:
		output->shim = input->shim;
		mp_hula_egress(&output->shim);
		break;
	case STEP_HANDSHAKE:
		step_mp_hula_handshake(hula, input);
		break;
	case STEP_ORIGINATE:
		output->probe.forward = hula_originates(&hula->config->hula);
		output->probe.tor = hula->config->hula.tor;
		break;
	case STEP_PROBE:
		output->probe = mp_hula_probe(hula, input->now, &input->probe);
		step_best(mp_hula_best(hula, input->probe.tor), output);
		break;
	}
}

static __always_inline struct port_load shuttle_port_load(const struct shuttle *shuttle, __u64 now, __u32 port)
{
	const struct port_load *load = shuttle->ports;

	(void)now;
	return load[port & (SWITCH_PORTS - 1)];
}

static __always_inline void step_shuttle_packet(const struct shuttle *shuttle, const struct step_input *input,
						struct step_output *output)
{
	struct mp_hula_packet packet = {
		.flow_hash = input->flow_hash,
		.dst_tor = input->dst_tor,
		.from_host = input->from_host,
		.shim = input->shim,
	};

	output->port = mp_hula_running(&shuttle->mptcp, input->now, &packet, &input->hops, input->up);
	if (output->port == NO_PORT)
		output->port = shuttle_start(shuttle, input->now, input->random, &packet, &input->hops, input->up);
	output->shim = packet.shim;
}

/* What is not Shuttle's own is MP-HULA's. */
static __always_inline void step_shuttle(const struct shuttle *shuttle, const struct step_input *input,
					 struct step_output *output)
{
	switch (input->kind) {
	case STEP_PACKET:
		step_shuttle_packet(shuttle, input, output);
		break;
	case STEP_PROBE:
		output->probe = shuttle_probe(shuttle, input->now, &input->probe);
		step_best(mp_hula_best(&shuttle->mptcp, input->probe.tor), output);
		break;
	default:
		step_mp_hula(&shuttle->mptcp, input, output);
		break;
	}
}

static __always_inline void step_let_it_flow(const struct let_it_flow *flow, const struct step_input *input,
					     struct step_output *output)
{
	if (input->kind == STEP_PACKET)
		output->port = let_it_flow_running(flow, input->now, input->flow_hash, &input->hops);
	if (input->kind == STEP_PACKET && output->port == NO_PORT)
		output->port = let_it_flow_start(flow, input->random, input->flow_hash, &input->hops);
}

static __always_inline __u16 conga_link_util(const struct conga *conga, __u64 now, __u32 port)
{
	const struct port_load *load = conga->ports;

	(void)now;
	return load[port & (SWITCH_PORTS - 1)].util;
}

static __always_inline __u32 conga_random(const struct conga *conga)
{
	return conga->random;
}

static __always_inline void step_conga(const struct conga *conga, const struct step_input *input, struct step_output *output)
{
	struct conga_packet packet = {
		.flow_hash = input->flow_hash,
		.dst_tor = input->dst_tor,
		.tag = input->tag,
		.from_host = input->from_host,
	};

	if (input->kind == STEP_PACKET) {
		output->port = conga_forward(conga, input->now, &packet, &input->hops);
		output->tag = packet.tag;
	}
	if (input->kind == STEP_EGRESS)
		conga_receive(conga, input->now, input->src_tor, input->tag);
}

/* A packet without fields is hashed as by ECMP. */
static __always_inline void step_cflb(const struct cflb *cflb, struct cflb_memo *memo, __u32 salt, const struct step_input *input,
				      struct scheme_counters *counts, struct step_output *output)
{
	output->has_decision = input->has_fields;
	if (input->has_fields) {
		output->port = cflb_forward(cflb, memo, salt, &input->fields, &input->hops, counts, &output->decision);
		return;
	}
	counts->hashed += input->hops.count > 1;
	output->port = ecmp_forward(salt, input->flow_hash, &input->hops);
}

static __always_inline void step_dre(const struct dre_config *config, struct dre *dre, const struct step_input *input,
				     struct step_output *output)
{
	if (input->kind == STEP_SENT)
		dre_add(dre, input->now, input->bytes, config->shift);
	if (input->kind == STEP_UTILISATION)
		output->util = dre_util(dre, input->now, config->shift, config->full);
}

/* Makes the state of a switch that has received nothing, of zeros. Returns 0; -1 for constants that cannot be. */
static __always_inline int scheme_start(const struct step_config *config, union switch_state *state)
{
	if (config->scheme == SWITCH_CFLB && !cflb_prepare(&config->cflb, &state->cflb))
		return -1;
	return 0;
}

/* Handles a step of this scheme; `output` is zeros. Returns 0; -1 for a scheme that does not exist. */
static __always_inline int scheme_step_of(__u32 scheme, const struct step_config *config, union switch_state *state,
					  struct scheme_counters *counts, const struct step_input *input,
					  struct step_output *output)
{
	struct hula hula = { .config = &config->mp_hula.hula, .tables = &state->hula, .counts = counts };
	struct mp_hula mp_hula = { .config = &config->mp_hula, .tables = &state->mp_hula, .counts = counts };
	struct shuttle shuttle = { .mptcp = mp_hula, .ports = input->load };
	struct let_it_flow let_it_flow = {
		.config = &config->mp_hula.hula,
		.tables = &state->let_it_flow,
		.counts = counts,
	};

	struct conga conga = {
		.place = &config->mp_hula.hula,
		.config = &config->conga,
		.tables = &state->conga,
		.counts = counts,
		.ports = input->load,
		.random = input->random,
	};

	switch (scheme) {
	case SWITCH_ECMP:
		output->port = ecmp_forward(config->salt, input->flow_hash, &input->hops);
		return 0;
	case SWITCH_HULA:
		step_hula(&hula, input, output);
		return 0;
	case SWITCH_MP_HULA:
		step_mp_hula(&mp_hula, input, output);
		return 0;
	case SWITCH_SHUTTLE:
		step_shuttle(&shuttle, input, output);
		return 0;
	case SWITCH_LET_IT_FLOW:
		step_let_it_flow(&let_it_flow, input, output);
		return 0;
	case SWITCH_CONGA:
		step_conga(&conga, input, output);
		return 0;
	case SWITCH_CFLB:
		step_cflb(&state->cflb, &state->cflb_memo, config->salt, input, counts, output);
		return 0;
	case STEP_DRE:
		step_dre(&config->dre, &state->dre, input, output);
		return 0;
	}
	return -1;
}

/* The same of the configuration's scheme. */
static __always_inline int scheme_step(const struct step_config *config, union switch_state *state,
				       struct scheme_counters *counts, const struct step_input *input, struct step_output *output)
{
	return scheme_step_of(config->scheme, config, state, counts, input, output);
}

static __always_inline __u64 scheme_digest(const struct step_config *config, union switch_state *state)
{
	struct hula hula = { .config = &config->mp_hula.hula, .tables = &state->hula };
	struct mp_hula mp_hula = { .config = &config->mp_hula, .tables = &state->mp_hula };
	__u64 digest = DIGEST_START;

	if (config->scheme == SWITCH_HULA)
		hula_digest(&hula, &digest);
	if (config->scheme == SWITCH_MP_HULA || config->scheme == SWITCH_SHUTTLE)
		mp_hula_digest(&mp_hula, &digest);
	if (config->scheme == SWITCH_LET_IT_FLOW)
		let_it_flow_digest(&config->mp_hula.hula, &state->let_it_flow, &digest);
	if (config->scheme == SWITCH_CONGA)
		conga_digest(&config->mp_hula.hula, &state->conga, &digest);
	if (config->scheme == STEP_DRE)
		dre_digest(&state->dre, &digest);
	return digest;
}
