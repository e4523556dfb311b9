/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/* The balancer: one packet in, and where it goes.
 *
 * A packet for a known flow, which nothing is due for, is sent at once. All others are decided first (service.h, peer.h, icmp.h,
 * fragments.h), and then what was decided is done (decision.h). */
#include "balancer/fragments.h"
#include "balancer/icmp.h"
#include "balancer/peer.h"
#include "balancer/service.h"

static __always_inline __u32 now(void)
{
	if (SETTINGS_CLOCK)
		return settings.now;
	return (bpf_ktime_get_coarse_ns() >> TICK_SHIFT) + 1;
}

/* Which service the packet is for, as job->service says. */
static __always_inline bool find_service(struct job *job)
{
	struct vip *vip = bpf_map_lookup_elem(&vips, &job->service);

	if (!vip)
		return false;
	job->vip = *vip;
	return true;
}

static __always_inline void name_flow(struct job *job)
{
	job->key.vip = job->vip.id;
	job->hash = hash_flow(settings.seed, &job->key.client, job->key.port, job->key.vip);
	find_flow(job);
}

/* From the packet's own addresses. Fragments without ports, and ICMP, are looked up by address alone. */
static __always_inline void address_job(struct job *job)
{
	const struct packet *packet = &job->packet;
	bool ports = !packet->later_fragment && (packet->protocol == IPPROTO_TCP || packet->protocol == IPPROTO_UDP);

	job->service.address = packet->destination;
	job->service.port = ports ? packet->destination_port : 0;
	job->service.protocol = ports ? packet->protocol : 0;
	job->key.client = packet->source;
	job->key.port = packet->source_port;
}

static __always_inline void start_trace(const struct job *job)
{
	const struct flow *flow = known_flow(job);
	struct trace *trace = trace_of_this();

	if (!trace)
		return;
	trace->vip = job->vip.id;
	trace->mode = job->vip.mode;
	trace->flow_state = flow ? flow->state : FLOW_FREE;
	trace->token = flow ? flow->token : 0;
}

static __always_inline bool backend_up(__u32 index)
{
	const struct target *target = target_at(index);

	/* One condition, not two: the verifier counts each byte of stack that another branch costs here. */
	return target && (target->state == TARGET_UP) & (target->forwarding != FORWARD_STEERING);
}

/* A known flow that nothing is due for: its entry is all that there is to ask. */
static __always_inline bool plain(const struct job *job, const struct flow *flow)
{
	const struct packet *packet = &job->packet;
	__u8 wanted = packet->protocol == IPPROTO_TCP ? FLOW_ESTABLISHED : FLOW_UDP;

	return flow->state == wanted && job->now - flow->seen < TOUCH && flow->epoch == settings.epoch &&
	       !packet->fragment && !(packet->tcp_flags & (TCP_SYN | TCP_FIN | TCP_RST)) && backend_up(flow->target);
}

static __always_inline void decide_service(struct xdp_md *ctx, const struct job *job, struct decision *decision)
{
	if (job->packet.fragment)
		decide_first_fragment(job, decision);
	else if ((job->packet.tcp_flags & (TCP_SYN | TCP_ACK)) == TCP_SYN)
		decide_syn(ctx, job, decision);
	else if (job->known)
		decide_known(ctx, job, decision);
	else
		decide_unknown_flow(ctx, job, decision);
}

/* To a service's address, without ports: a later fragment, an ICMP error, or what the stack may answer. */
__noinline int decide_address(struct xdp_md *ctx, struct job *job, struct decision *decision)
{
	if (!job || !decision)
		return 0;
	decision->action = PASS;
	decision->verdict = PASS_ICMP;
	if (job->packet.later_fragment) {
		decide_later_fragment(job, decision);
	} else if (read_quote(ctx, job) && find_service(job) && job->vip.kind == VIP_SERVICE) {
		name_flow(job);
		decide_icmp(job, decision);
	}
	return 0;
}

/* All that is not plain, as this balancer's own. */
static __always_inline void decide(struct xdp_md *ctx, struct job *job, struct decision *decision)
{
	switch (job->vip.kind) {
	case VIP_SERVICE:
		decide_service(ctx, job, decision);
		break;
	case VIP_DIRECT:
		decide_send(decision, job->vip.target, SENT_DIRECT);
		break;
	case VIP_ADDRESS:
		decide_address(ctx, job, decision);
		break;
	default:
		decide_drop(decision, DROP_MALFORMED);
	}
}

static __always_inline void decide_told(const struct job *job, __u32 peer, const struct steering *word,
					struct decision *decision)
{
	if (word->kind == STEER_FRAGMENT)
		take_fragment(job, word, decision);
	else if (job->vip.kind == VIP_SERVICE)
		decide_word(job, peer, word, decision);
	else
		decide_drop(decision, DROP_MALFORMED);
}

/* Makes the packet that another balancer sent the one under way. False: decided, it is dropped. */
static __always_inline bool take_packet(struct xdp_md *ctx, struct job *job, struct decision *decision)
{
	if (parse(ctx, &job->packet) != PARSED) {
		decide_drop(decision, DROP_MALFORMED);
		return false;
	}
	address_job(job);
	if (!find_service(job)) {
		decide_drop(decision, DROP_MALFORMED);
		return false;
	}
	name_flow(job);
	return true;
}

/* To this balancer's own steering port. True: what was inside is to be decided as this balancer's own, from where it was called,
 * so that the stack of this function is free again. */
__noinline int take_steered(struct xdp_md *ctx, struct job *job, struct decision *decision)
{
	struct steering word;
	__u32 *peer;

	if (!job || !decision)
		return 0;
	peer = bpf_map_lookup_elem(&peers, &job->packet.source);
	job->vip = (struct vip){};
	if (!peer || !take_word(ctx, job, &word)) {
		decide_drop(decision, DROP_STRANGER);
		return 0;
	}
	if (!take_packet(ctx, job, decision))
		return 0;
	job->forwarded = word.kind == STEER_FORWARD;
	if (!job->forwarded)
		decide_told(job, *peer, &word, decision);
	return job->forwarded;
}

SEC("xdp")
int heddle_balancer(struct xdp_md *ctx)
{
	struct decision decision = {};
	struct job job = {};
	struct flow *flow;

	if (parse(ctx, &job.packet) != PARSED)
		return XDP_PASS;
	address_job(&job);
	if (!find_service(&job)) {
		count(&job, PASS_NO_VIP);
		return XDP_PASS;
	}
	job.now = now();
	name_flow(&job);
	flow = job.vip.kind == VIP_SERVICE ? known_flow(&job) : NULL;
	if (DRY_RUN)
		start_trace(&job);
	if (flow && plain(&job, flow))
		return act_send(ctx, &job, flow->target, SENT_FLOW);
	if (job.vip.kind != VIP_STEERING || take_steered(ctx, &job, &decision))
		decide(ctx, &job, &decision);
	if (decision.action == ASSIGN)
		assign(ctx, &job, &decision);
	return act(ctx, &job, &decision);
}

char LICENSE[] SEC("license") = "GPL";
