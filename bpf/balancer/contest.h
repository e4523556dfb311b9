/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/* A SYN with MPTCP that has the addresses and ports of a live flow.
 *
 * Either the client uses the port again, after a restart perhaps, or somebody forged it who knows the client's address. The
 * balancer sees one direction only, and no answer tells the two apart. So the SYN goes where it would open something, and the
 * flow's entry stays as it is; what the SYN wants is stored beside it, as a candidate. A packet that only who had the server's
 * answer has a reason to send, with the sequence number behind the SYN's, gives the entry to the candidate. */
#pragma once

#include "balancer/learn.h"

/* Where the third packet of a handshake may start, counted from its SYN: there may have been data in that (RFC 7413). */
#define DATA_IN_SYN 0xffff

/* Stores a candidate for the known flow's entry; its next packet starts behind `sequence`. */
static __always_inline void contest(const struct packet_context *context, enum candidate_kind kind, __u32 sequence, __u32 token,
				    __u32 target, struct decision *decision)
{
	struct flow_snapshot changed = context->flow;

	decision->candidate = (struct candidate){
		.token = token,
		.sequence = sequence,
		.seen = context->now,
		.target = target,
		.kind = kind,
	};
	decision->writes |= WRITES_CANDIDATE;
	note(decision, CANDIDATE_ADDED);
	changed.state |= FLOW_CONTESTED;
	change_flow(&changed, decision);
}

/* The candidate for the known flow's entry; NULL: none that is on time. */
static __always_inline const struct candidate *candidate_of(const struct packet_context *context)
{
	const struct flow_key flow = context->key;
	const struct candidate *candidate = bpf_map_lookup_elem(&candidates, &flow);

	return candidate && within(context->now, candidate->seen, settings.syn_timeout) ? candidate : NULL;
}

/* The entry is the candidate's: a join, whose next packet registers it. */
static __always_inline void take_over_by_join(const struct packet_context *context, const struct candidate *candidate,
					      struct decision *decision)
{
	struct flow_value value = { .token = candidate->token, .target = candidate->target, .state = FLOW_JOINING };

	store_flow(context, &value, STATEFUL, decision);
	decide_send(decision, value.target, SENT_FLOW);
}

/* The entry gets the token of the keys. It is registered by the next packet, and the entry not shortened meanwhile. */
static __always_inline void take_over_by_keys(const struct packet_context *context, const struct mptcp_found *found, bool again,
					      struct decision *decision)
{
	struct flow_snapshot changed = context->flow;

	changed.token = learn_keys(context, found, again, decision);
	changed.state = FLOW_ESTABLISHED | (changed.token ? FLOW_TOKEN_PENDING | FLOW_OWNER_PENDING : 0);
	changed.seen = context->now;
	change_flow_token(&changed, decision);
}

/* The entry gets the token of keys that came without their SYN. It is registered by the next packet. */
static __always_inline void take_over_by_token(const struct packet_context *context, const struct candidate *candidate,
					       struct decision *decision)
{
	struct flow_snapshot changed = context->flow;

	changed.token = candidate->token;
	changed.state = FLOW_ESTABLISHED | FLOW_TOKEN_PENDING | FLOW_OWNER_PENDING;
	changed.seen = context->now;
	change_flow_token(&changed, decision);
}

/* No candidate came in time: the flow is as before. */
static __always_inline void end_contest(const struct packet_context *context, struct decision *decision)
{
	struct flow_snapshot changed = context->flow;

	changed.state &= ~FLOW_CONTESTED;
	change_flow(&changed, decision);
}

/* True if the packet may be the one behind the candidate's own. */
static __always_inline bool follows(const struct packet_context *context, const struct candidate *candidate)
{
	return context->sequence - candidate->sequence - 1 <= DATA_IN_SYN && keeps_flows(candidate->target);
}

static __always_inline void accept_candidate(struct decision *decision)
{
	note(decision, CANDIDATE_ACCEPTED);
	decision->writes |= ENDS_CANDIDATE;
}

/* A packet of a contested flow. True: all is decided; else it is one like any other. */
static __always_inline bool decide_contested(struct xdp_md *ctx, const struct packet_context *context, struct decision *decision)
{
	const struct candidate *stored = candidate_of(context);
	struct candidate candidate;
	struct mptcp_found found;
	int kind;

	if (!stored) {
		end_contest(context, decision);
		return true;
	}
	candidate = *stored;
	if (!follows(context, &candidate))
		return false;
	kind = search_options(ctx, context, &found, decision);
	if (candidate.kind == CANDIDATE_JOIN && kind == MPTCP_JOIN_ACK)
		take_over_by_join(context, &candidate, decision);
	else if (candidate.kind != CANDIDATE_JOIN && kind == MPTCP_CAPABLE_KEYS)
		take_over_by_keys(context, &found, candidate.kind == CANDIDATE_KEYS, decision);
	else if (candidate.kind == CANDIDATE_KEYS && kind == MPTCP_DSS)
		take_over_by_token(context, &candidate, decision);
	else
		return false;
	accept_candidate(decision);
	return true;
}

/* A packet that another balancer asks about, of a flow that is contested here: if it is the third one of a candidate's join, the
 * entry is the join's from now on. False: it is not. */
static __always_inline bool accept_join(struct xdp_md *ctx, const struct packet_context *context, struct candidate *candidate,
					struct decision *decision)
{
	const struct candidate *stored = candidate_of(context);
	struct mptcp_found found;

	if (!stored)
		return false;
	*candidate = *stored;
	if (candidate->kind != CANDIDATE_JOIN || !follows(context, candidate) ||
	    search_options(ctx, context, &found, decision) != MPTCP_JOIN_ACK)
		return false;
	take_over_by_join(context, candidate, decision);
	accept_candidate(decision);
	return true;
}

/* Writes the candidate for the flow's entry. */
__noinline int write_candidate(const struct packet_context *context, const struct candidate *decided)
{
	struct candidate candidate;
	struct flow_key flow;

	if (!context || !decided)
		return 0;
	flow = context->key;
	candidate = *decided;
	bpf_map_update_elem(&candidates, &flow, &candidate, BPF_ANY);
	return 0;
}

static __always_inline void end_candidate(const struct packet_context *context)
{
	const struct flow_key flow = context->key;

	bpf_map_delete_elem(&candidates, &flow);
}
