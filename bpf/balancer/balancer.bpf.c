/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/* The balancer: decides for each packet which target it goes to, and forwards it.
 *
 * A plain packet for a known flow, which nothing is due for, is sent at once (plain.h), and so is one that is less
 * plain. For all others a decision is made first (service.h, peer.h, icmp.h, fragments.h), and then carried out
 * (act.h), or explained (explain.h). */
#include "balancer/clock.h"
#include "balancer/closed.h"
#include "balancer/explain.h"
#include "balancer/fragments.h"
#include "balancer/heartbeat.h"
#include "balancer/icmp.h"
#include "balancer/invalid.h"
#include "balancer/known_vips.h"
#include "balancer/link.h"
#include "balancer/peer.h"
#include "balancer/plain_syn.h"
#include "balancer/service.h"

/* The packet in process, and the decision on it. */
struct work {
	struct packet_context context;
	struct decision decision;
};

/* Each processor's own. Not on the stack: that has 512 bytes for the functions of a whole call chain. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct work);
} works SEC(".maps");

static __always_inline struct work *this_work(void)
{
	return bpf_map_lookup_elem(&works, (const void *)&ONLY_ENTRY);
}

/* Looks up context->service. False: it is not in the map. */
static __always_inline bool find_service(struct packet_context *context)
{
	const struct vip *vip = find_vip(&context->service);

	context->vip = vip ? *vip : (struct vip){};
	return vip;
}

static __always_inline void identify_flow(struct packet_context *context)
{
	context->key.vip = context->vip.id;
	context->hash = hash_flow(settings.seed, &context->key.client, context->key.port, context->key.vip);
	find_flow(context);
}

/* From the packet's own addresses. Fragments without ports, and ICMP, are looked up by address alone. */
static __always_inline void derive_keys(struct packet_context *context)
{
	const struct packet *packet = &context->packet;
	bool ports = !packet->later_fragment && (packet->protocol == IPPROTO_TCP || packet->protocol == IPPROTO_UDP);

	context->service.address = packet->destination;
	context->service.port = ports ? packet->destination_port : 0;
	context->service.protocol = ports ? packet->protocol : 0;
	context->service.pad = 0;
	context->service.pad2 = 0;
	context->key.client = packet->source;
	context->key.port = packet->source_port;
}

/* The sequence number of a TCP packet; of others it says nothing. */
static __always_inline void read_sequence(struct xdp_md *ctx, struct packet_context *context)
{
	void *tcp = (void *)(long)ctx->data + (context->packet.l4 & MAX_TCP_OFFSET);

	context->sequence = 0;
	if (tcp + 8 <= (void *)(long)ctx->data_end)
		context->sequence = bpf_ntohl(*(__be32 *)(tcp + 4));
}

static __always_inline bool backend_keeps_flow(__u32 index, bool udp)
{
	const struct target *target = target_at(index);
	__u8 looked_at = TARGET_KEEPS_FLOWS | (udp ? TARGET_IS_REMOVED : 0);

	/* One condition, not two: the verifier counts each byte of stack that another branch costs here. */
	return target && ((target->state & looked_at) == TARGET_KEEPS_FLOWS) & (target->forwarding != FORWARD_STEERING);
}

/* A packet of a known flow with nothing pending: the flow's entry says all. In a service of QUIC the connection id may
 * say otherwise. */
static __always_inline bool on_fast_path(const struct packet_context *context)
{
	const struct flow_snapshot *flow = &context->flow;
	const struct packet *packet = &context->packet;
	bool udp = packet->protocol == IPPROTO_UDP;
	__u8 wanted = udp ? FLOW_UDP : FLOW_ESTABLISHED;

	return (flow->state & ~FLOW_FRESH) == wanted && context->now - flow->seen < TOUCH && flow->epoch == settings.epoch &&
	       !context->vip.choices && !packet->fragment && !(packet->tcp_flags & (TCP_SYN | TCP_FIN | TCP_RST)) &&
	       backend_keeps_flow(flow->target, udp);
}

/* True if the packet opens a connection by what it says alone. */
static __always_inline bool is_whole_syn(const struct packet_context *context)
{
	return !context->packet.fragment && context->named == NO_TARGET &&
	       (context->packet.tcp_flags & (TCP_SYN | TCP_ACK)) == TCP_SYN;
}

static __always_inline void decide_service(struct xdp_md *ctx, struct packet_context *context, struct decision *decision)
{
	int limit = context->vip.access & ACCESS_LIMITED && !context->forwarded ? over_limit(context, decision) : 0;

	if (limit) {
		decide_drop(decision, limit);
		return;
	}
	if (is_whole_syn(context)) {
		decide_syn(ctx, context, decision);
		return;
	}
	look_up_slot(context);
	if (context->packet.fragment)
		decide_first_fragment(context, decision);
	else if (context->named != NO_TARGET)
		decide_named(context, SENT_QUIC, decision);
	else if (context->known)
		decide_established_flow(ctx, context, decision);
	else
		decide_miss(ctx, context, decision);
}

/* To a service's address, without ports: a later fragment, an ICMP error, or what the stack may answer, in fragments,
 * too. */
__noinline int decide_address(struct xdp_md *ctx, struct packet_context *context, struct decision *decision)
{
	if (!context || !decision)
		return 0;
	decide_pass(decision, PASS_ICMP);
	if (context->packet.later_fragment && !is_icmp(context->packet.protocol)) {
		decide_later_fragment(context, decision);
	} else if (is_echo_request(ctx, &context->packet)) {
		decide_echo(ctx, context, decision);
	} else if (!context->packet.later_fragment && read_quote(ctx, context) && find_service(context) &&
		   context->vip.kind == VIP_SERVICE) {
		identify_flow(context);
		look_up_slot(context);
		decide_icmp(context, decision);
	}
	return 0;
}

/* All that is not plain, as this balancer's own. */
static __always_inline void decide(struct xdp_md *ctx, struct packet_context *context, struct decision *decision)
{
	switch (context->vip.kind) {
	case VIP_SERVICE:
		read_sequence(ctx, context);
		leave_out_unseen(context);
		if (opens_again(context) && is_unanswered(context))
			context->passed_over = context->flow.target;
		if (context->vip.choices)
			context->named = named_target(ctx, context);
		decide_service(ctx, context, decision);
		break;
	case VIP_DIRECT:
		decide_send(decision, context->vip.target, SENT_DIRECT);
		break;
	case VIP_ADDRESS:
		decide_address(ctx, context, decision);
		break;
	default:
		decide_drop(decision, DROP_MALFORMED);
	}
}

static __always_inline void handle_message(struct xdp_md *ctx, const struct packet_context *context, struct decision *decision)
{
	const struct steering *message = &context->message;

	if (is_about_fragments(message))
		handle_fragment_message(context, message, decision);
	else if (context->vip.kind == VIP_SERVICE)
		handle_flow_message(ctx, context, context->peer, message, decision);
	else
		decide_drop(decision, DROP_MALFORMED);
}

/* Takes the steering header off, and parses the client's packet behind it in place of the outer one. False: there is
 * none. */
__noinline int parse_inner(struct xdp_md *ctx, struct packet_context *context)
{
	return context && !remove_steering(ctx, &context->packet) && parse(ctx, &context->packet) == PARSED;
}

/* The packet that another balancer has sent: true if it is for a service here. */
static __always_inline bool identify_inner(struct xdp_md *ctx, struct packet_context *context)
{
	derive_keys(context);
	if (!find_service(context))
		return false;
	identify_flow(context);
	read_sequence(ctx, context);
	leave_out_unseen(context);
	look_up_slot(context);
	return true;
}

/* What is left to do about a packet to this balancer's own steering port. */
enum steered {
	NOTHING_LEFT,
	IS_OWN,     /* it is to be treated as one that came here */
	IS_MESSAGE, /* its message is to be handled */
};

/* A client's packet behind a steering header. */
static __always_inline enum steered take_steered(struct xdp_md *ctx, struct packet_context *context, struct decision *decision)
{
	if (!parse_inner(ctx, context)) {
		decide_drop(decision, DROP_MALFORMED);
		return NOTHING_LEFT;
	}
	if (!authenticate(context, &context->message, decision)) {
		decide_drop(decision, DROP_UNAUTHENTICATED);
		return NOTHING_LEFT;
	}
	if (!identify_inner(ctx, context)) {
		decide_drop(decision, DROP_MALFORMED);
		return NOTHING_LEFT;
	}
	context->forwarded = context->message.kind == STEER_FORWARD;
	return context->forwarded ? IS_OWN : IS_MESSAGE;
}

/* A packet to this balancer's own steering port. Returns enum steered: the caller does what is left, when the stack of
 * this function is free again. Linux 6.1 counts each function's in units of 32 bytes. */
__noinline int handle_steered(struct xdp_md *ctx, struct packet_context *context, struct decision *decision)
{
	struct address sender;
	__u32 *peer;

	if (!context || !decision)
		return 0;
	sender = context->packet.source;
	peer = bpf_map_lookup_elem(&peers, &sender);
	context->vip = (struct vip){};
	if (!peer || !read_message(ctx, &context->packet, &context->message)) {
		decide_drop(decision, DROP_UNAUTHENTICATED);
		return 0;
	}
	context->peer = *peer;
	context->sender = sender;
	if (!is_heartbeat(&context->message))
		return take_steered(ctx, context, decision);
	handle_heartbeat(ctx, context, decision);
	return 0;
}

_Static_assert(PASS_MALFORMED - PASS_NOT_IP == MALFORMED - NOT_IP, "verdicts in the order of reasons");

/* Passes or drops a packet that parse() could not read, for the reason that it gave. What its header says of its length
 * may be wrong. */
__noinline int decide_unparsed(struct xdp_md *ctx, struct packet_context *context, int reason, struct decision *decision)
{
	__u32 bytes = ctx->data_end - ctx->data - ETH_HLEN;

	if (!context || !decision)
		return 0;
	*decision = (struct decision){};
	context->vip = (struct vip){};
	context->packet.length = bytes < 0xffff ? bytes : 0xffff;
	if (reason != NOT_IP && reason != MANY_TAGS && choices_of_address(&context->packet) & DROPS_UNPARSABLE)
		decide_drop(decision, DROP_UNPARSABLE);
	else
		decide_pass(decision, PASS_NOT_IP + (reason - NOT_IP));
	return 0;
}

/* A packet for a service, in a frame that is another machine's, or was this one's. */
static __always_inline void decide_stray(enum link_check link, struct decision *decision)
{
	if (link == LINK_LOOP)
		decide_drop(decision, DROP_LOOP);
	else
		decide_pass(decision, PASS_OTHER_HOST);
}

/* Before its flow is looked up. */
static __always_inline void drop_at_sight(enum counter verdict, struct decision *decision)
{
	*decision = (struct decision){};
	decide_drop(decision, verdict);
}

/* A packet that is for no service, where an address of a service passes none to closed ports. */
__noinline int decide_without_service(struct xdp_md *ctx, struct packet_context *context, __u32 link, struct decision *decision)
{
	__u8 choices;

	if (!context || !decision)
		return 0;
	*decision = (struct decision){};
	choices = context->service.protocol ? choices_of_address(&context->packet) : 0;
	context->now = now();
	if (!(choices & (DROPS_CLOSED | REFUSES_CLOSED)))
		decide_pass(decision, PASS_NO_VIP);
	else if (link != LINK_OURS)
		decide_stray(link, decision);
	else
		decide_closed(ctx, context, choices, decision);
	return 0;
}

/* The kind of a packet at first sight. */
enum sight {
	FOR_NO_SERVICE,
	DECIDED,     /* it is not read further */
	OF_FLOW,     /* for which nothing is due */
	FOR_SERVICE, /* any other packet for an address here */
};

/* Reads a packet, with whether its frame is another machine's if `checks_link`, and looks its flow up. */
static __always_inline enum sight see(struct xdp_md *ctx, struct packet_context *context, struct decision *decision,
				      bool checks_link)
{
	enum link_check link;
	int parsed, flaw;

	parsed = parse(ctx, &context->packet);
	if (parsed != PARSED) {
		decide_unparsed(ctx, context, parsed, decision);
		return DECIDED;
	}
	derive_keys(context);
	if (!find_service(context)) {
		if (!settings.closes_ports)
			return FOR_NO_SERVICE;
		link = checks_link ? check_link(ctx) : LINK_OURS;
		decide_without_service(ctx, context, link, decision);
		return DECIDED;
	}
	link = checks_link ? check_link(ctx) : LINK_OURS;
	if (link != LINK_OURS) {
		*decision = (struct decision){};
		decide_stray(link, decision);
		return DECIDED;
	}
	context->now = now();
	flaw = settings.forwards_invalid ? 0 : flaw_of(ctx, &context->packet);
	if (flaw) {
		drop_at_sight(flaw, decision);
		return DECIDED;
	}
	if (context->vip.access & ACCESS_FILTERED && is_denied(context)) {
		drop_at_sight(DROP_DENIED, decision);
		return DECIDED;
	}
	context->forwarded = false;
	identify_flow(context);
	if (context->vip.kind == VIP_SERVICE && context->known && on_fast_path(context))
		return OF_FLOW;
	if (!settings.forwards_invalid && has_invalid_source(&context->packet)) {
		drop_at_sight(DROP_SOURCE, decision);
		return DECIDED;
	}
	return FOR_SERVICE;
}

/* Decides what see() has not. */
static __always_inline void decide_seen(struct xdp_md *ctx, struct packet_context *context, enum sight sight,
					struct decision *decision)
{
	int left = NOTHING_LEFT;

	*decision = (struct decision){};
	context->named = NO_TARGET;
	context->passed_over = NO_TARGET;
	if (sight == FOR_NO_SERVICE)
		decide_pass(decision, PASS_NO_VIP);
	else if (sight == OF_FLOW)
		decide_send(decision, context->flow.target, SENT_FLOW);
	else
		left = context->vip.kind == VIP_STEERING ? handle_steered(ctx, context, decision) : IS_OWN;
	if (left == IS_OWN)
		decide(ctx, context, decision);
	else if (left == IS_MESSAGE)
		handle_message(ctx, context, decision);
}

static __always_inline int balance(struct xdp_md *ctx, struct packet_context *context, struct decision *decision)
{
	enum sight sight = see(ctx, context, decision, true);
	int sent;

	if (sight == FOR_NO_SERVICE) {
		count(context, PASS_NO_VIP);
		return XDP_PASS;
	}
	if (sight == OF_FLOW) {
		sent = act_at_once(ctx, context);
		if (sent >= 0)
			return sent;
	}
	if (sight != DECIDED)
		decide_seen(ctx, context, sight, decision);
	return act(ctx, context, decision);
}

/* Decides as balance() does, and does not act. The frame may be any machine's: its addresses are the daemon's
 * invention. */
static __always_inline int explain(struct xdp_md *ctx, struct packet_context *context, struct decision *decision)
{
	enum sight sight = see(ctx, context, decision, false);

	if (sight == OF_FLOW || sight == FOR_SERVICE)
		trace_flow(context);
	if (sight != DECIDED)
		decide_seen(ctx, context, sight, decision);
	return trace_decision(ctx, context, decision);
}

SEC("xdp")
int heddle_balancer(struct xdp_md *ctx)
{
	int sent = DRY_RUN ? NOT_PLAIN : balance_plain(ctx);
	struct work *work;

	if (sent >= 0)
		return sent;
	work = this_work();
	if (!work)
		return XDP_ABORTED;
	if (sent == PLAIN_SYN) {
		sent = balance_syn(ctx, &work->context);
		if (sent >= 0)
			return sent;
	}
	return DRY_RUN ? explain(ctx, &work->context, &work->decision) : balance(ctx, &work->context, &work->decision);
}

char LICENSE[] SEC("license") = "GPL";
