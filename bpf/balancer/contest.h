/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/* A SYN that has the addresses and ports of a live flow.
 *
 * Either the client uses the port again, or somebody forged it who knows the client's address. The balancer sees one
 * direction only, and no answer tells the two apart. So the SYN goes where it would open something, and the flow's
 * entry stays as it is; what the SYN wants is stored beside it, as a candidate. A packet with the sequence number
 * behind the SYN's goes to the candidate's backend. The next one, a second after the SYN or later, gives the entry to
 * the candidate. A packet with any other number is the old flow's, and ends the candidate: the client cannot have both.
 * A client that never sent the SYN sends such a packet at once, as its answer to the backend's (RFC 9293, 3.10.7.4; RFC
 * 5961, 4).
 *
 * The SYN is registered with the balancers that keep the flow, and they store the candidate, too. They do not see the
 * packets behind it, unless routers move the flow to them: so they accept one as far behind the SYN as a fast
 * connection gets in that time. */
#pragma once

#include "balancer/learn.h"

/* Where the third packet of a handshake may start, counted from its SYN: there may have been data in that (RFC
 * 7413). */
#define DATA_IN_SYN 0xffff

/* The most by which a packet may start ahead of all that was seen: those before it were lost. */
#define MOST_AHEAD (1 << 20)

/* Bytes that a connection sends in a tick (1 Gbit/s), while no more than its SYN may have been registered here. */
#define SENT_IN_TICK (1 << 21)
#define LONGEST_UNTOLD (2 * TOUCH)

/* True if a connection that opens at `target` differs from the known flow: in what entries here or elsewhere say of
 * that, which nothing else explains. A candidate of an earlier SYN is none of it. */
static __always_inline bool differs(const struct packet_context *context, __u32 target)
{
	const struct flow_snapshot *flow = &context->flow;
	bool stateful = flow->token || (flow->state & FLOW_STATE_MASK) == FLOW_CLOSING_STATEFUL;

	return target != flow->target || stateful || flow->state & FLOW_CONTESTED;
}

/* The candidate for the known flow's entry; NULL: none that is on time. One whose handshake went on, here or maybe
 * elsewhere, waits for its next packet as long as a flow does. */
static __noinline const struct candidate *candidate_of(const struct packet_context *context)
{
	const struct flow_key flow = context->key;
	const struct candidate *candidate = bpf_map_lookup_elem(&candidates, &flow);
	__u32 timeout;

	if (!candidate)
		return NULL;
	timeout = candidate->marks ? settings.flow_timeout : settings.syn_timeout;
	return within(context->now, candidate->seen, timeout) ? candidate : NULL;
}

/* Tick at which this balancer last saw something of the known flow, or of a SYN for its entry. An entry's own is
 * renewed once a second. */
static __always_inline __u32 last_seen(const struct packet_context *context)
{
	const struct candidate *candidate = context->flow.state & FLOW_CONTESTED ? candidate_of(context) : NULL;

	if (!candidate || (__s32)(candidate->seen - context->flow.seen) < 0)
		return context->flow.seen;
	return candidate->seen;
}

/* The entry is the candidate's. It is registered by the next packets: other balancers may have the old flow's. */
static __always_inline void store_accepted(const struct packet_context *context, const struct candidate *candidate, __u8 marks,
					   struct decision *decision)
{
	struct flow_value value = {
		.token = candidate->token,
		.target = candidate->target,
		.state = FLOW_ESTABLISHED | marks,
	};

	if (candidate->token)
		value.state |= FLOW_TOKEN_PENDING;
	if (context->vip.mode == MPTCP_LEARN)
		value.state |= FLOW_OWNER_PENDING;
	store_flow(context, &value, STATEFUL, decision);
	note(decision, CANDIDATE_ACCEPTED);
}

/* True if the candidate is a join whose handshake goes on: the token says so, which few know. A SYN that names no
 * connection is rather forged. */
static __always_inline bool is_joining(const struct packet_context *context, const struct candidate *candidate)
{
	return candidate->kind == CANDIDATE_JOIN && within(context->now, candidate->seen, REPETITION);
}

/* Stores a candidate for the known flow's entry; its next packets start at `sequence` or behind it. An earlier one
 * whose handshake went on is a connection, which no SYN ends: within a second of its own it stays, and later it has the
 * entry. */
static __always_inline void contest(const struct packet_context *context, enum candidate_kind kind, __u32 sequence, __u32 token,
				    __u32 target, struct decision *decision)
{
	const struct candidate *before = context->flow.state & FLOW_CONTESTED ? candidate_of(context) : NULL;
	struct flow_snapshot changed = context->flow;

	if (before && kind != CANDIDATE_JOIN && is_joining(context, before))
		return;
	if (before && before->marks & CANDIDATE_FOLLOWED && keeps_flows(before->target)) {
		if (within(context->now, before->seen, TOUCH))
			return;
		store_accepted(context, before, FLOW_CONTESTED, decision);
	} else {
		changed.state |= FLOW_CONTESTED;
		change_flow(&changed, decision);
	}
	decision->candidate = (struct candidate){
		.token = token,
		.sequence = sequence,
		.seen = context->now,
		.target = target,
		.kind = kind,
	};
	decision->writes |= WRITES_CANDIDATE;
	note(decision, CANDIDATE_ADDED);
}

/* Bytes behind the SYN at which one of the candidate's packets may start. */
static __always_inline __u32 reach_of(const struct packet_context *context, const struct candidate *candidate)
{
	__u32 ahead = DATA_IN_SYN + candidate->reached, untold = context->now - candidate->seen;
	__u32 reach = candidate->reached + (ahead < MOST_AHEAD ? ahead : MOST_AHEAD);

	if (!(candidate->marks & CANDIDATE_TOLD) || within(context->now, candidate->seen, 0))
		return reach;
	if (untold > LONGEST_UNTOLD)
		untold = LONGEST_UNTOLD;
	return reach > untold * SENT_IN_TICK ? reach : untold * SENT_IN_TICK;
}

/* True if the packet may be one of the candidate's. The SYN's own number is one of a keep-alive's (RFC 9293, 3.8.4), as
 * soon as the handshake may have gone on. */
static __always_inline bool follows(const struct packet_context *context, const struct candidate *candidate)
{
	__u32 ahead = context->sequence - candidate->sequence;

	return (ahead || candidate->marks) && ahead <= reach_of(context, candidate) && keeps_flows(candidate->target);
}

static __always_inline void take_over(const struct packet_context *context, const struct candidate *candidate,
				      struct decision *decision)
{
	store_accepted(context, candidate, 0, decision);
	decision->writes |= ENDS_CANDIDATE;
}

/* The packet is one of the candidate's, which waits for the next one. Behind its end its port may be used again at
 * once. */
static __always_inline void follow(const struct packet_context *context, const struct candidate *followed,
				   struct decision *decision)
{
	__u32 ahead = context->sequence - followed->sequence;

	decision->candidate = *followed;
	decision->candidate.reached = ahead > followed->reached ? ahead : followed->reached;
	decision->candidate.marks |= CANDIDATE_FOLLOWED;
	if (context->packet.tcp_flags & (TCP_FIN | TCP_RST))
		decision->candidate.marks &= ~CANDIDATE_FOLLOWED;
	decision->writes |= WRITES_CANDIDATE;
}

/* True if the packet is one of the candidate's for the known flow's entry: it goes to decision->target, the
 * candidate's. */
static __always_inline bool goes_to_candidate(const struct packet_context *context, struct candidate *candidate,
					      struct decision *decision)
{
	const struct candidate *stored = candidate_of(context);

	if (!stored || !follows(context, stored))
		return false;
	*candidate = *stored;
	decide_send(decision, candidate->target, SENT_FLOW);
	return true;
}

/* A packet of the candidate's. The first one behind a SYN proves nothing: who sees no answer can count, too. Keys
 * without a SYN were one already. */
static __always_inline void take_or_follow(const struct packet_context *context, const struct candidate *candidate,
					   struct decision *decision)
{
	bool first = !(candidate->marks & CANDIDATE_FOLLOWED) && candidate->kind != CANDIDATE_KEYS;

	if (first || context->packet.tcp_flags & (TCP_FIN | TCP_RST) || within(context->now, candidate->seen, TOUCH))
		follow(context, candidate, decision);
	else
		take_over(context, candidate, decision);
}

/* Keys of the candidate's connection: registered at once, since joins may come. Those that came without a SYN are
 * joinable when the connection goes on behind them. */
static __always_inline void take_keys(struct xdp_md *ctx, const struct packet_context *context, struct candidate *candidate,
				      struct decision *decision)
{
	struct mptcp_found found;
	int kind;

	if (candidate->kind != CANDIDATE_CAPABLE && candidate->kind != CANDIDATE_KEYS)
		return;
	kind = search_options(ctx, context, &found, decision);
	if (kind == MPTCP_DSS && candidate->kind == CANDIDATE_KEYS && !(candidate->marks & CANDIDATE_FOLLOWED))
		register_keys(context, candidate->token, TOKEN_PROVISIONAL, false, decision);
	if (kind != MPTCP_CAPABLE_KEYS)
		return;
	candidate->token = learn_keys(context, &found, TOKEN_PROVISIONAL, candidate->kind == CANDIDATE_KEYS, decision);
	candidate->kind = CANDIDATE_KEYS;
}

/* No candidate came in time, or the old flow goes on: the flow is as before. Balancers that were told of the candidate
 * are told of the flow. */
static __always_inline void end_contest(const struct packet_context *context, struct decision *decision)
{
	struct flow_snapshot changed = context->flow;

	changed.state &= ~FLOW_CONTESTED;
	changed.seen = context->now;
	if (context->vip.mode == MPTCP_LEARN)
		changed.state |= FLOW_OWNER_PENDING;
	change_flow(&changed, decision);
	decision->writes |= ENDS_CANDIDATE;
}

/* True: the packet goes to the backend of the candidate's SYN, which challenged that, and that is all. */
static __always_inline bool answers_challenge(const struct packet_context *context, struct decision *decision)
{
	const struct candidate *candidate;

	if (!may_answer_challenge(context))
		return false;
	candidate = candidate_of(context);
	if (!candidate || candidate->marks & CANDIDATE_FOLLOWED || !keeps_flows(candidate->target))
		return false;
	decide_send(decision, candidate->target, SENT_FLOW);
	return true;
}

/* A packet of a contested flow. True: all is decided; false: it ends the old flow, or may have that one's keys. */
static __always_inline bool decide_contested(struct xdp_md *ctx, const struct packet_context *context, struct decision *decision)
{
	struct candidate candidate;

	if (goes_to_candidate(context, &candidate, decision)) {
		take_keys(ctx, context, &candidate, decision);
		take_or_follow(context, &candidate, decision);
		return true;
	}
	if (answers_challenge(context, decision))
		return true;
	if (context->packet.tcp_flags & (TCP_FIN | TCP_RST))
		return false;
	if (half_open(&context->flow)) {
		decision->writes |= ENDS_CANDIDATE;
		return false;
	}
	end_contest(context, decision);
	return true;
}

/* A packet that another balancer asks about, of a flow that is contested here. True: it is the candidate's, which came
 * later than what the asker knows: since `age` ticks; 0: it knows nothing. */
static __always_inline bool accept_candidate(const struct packet_context *context, __u32 age, struct candidate *candidate,
					     struct decision *decision)
{
	if (!goes_to_candidate(context, candidate, decision))
		return false;
	if (age && !within(context->now, candidate->seen - SAME_TIME, age))
		return false;
	take_or_follow(context, candidate, decision);
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
