/* SPDX-License-Identifier: Apache-2.0 */
/* The parts that send packets (bpf/balancer, bpf/common), each part as a program of its own. */
#include "balancer/steer.h"
#include "common/echo.h"
#include "common/refuse.h"
#include "common/too_big.h"

#define FLOW_HASH 0x12345678
#define TIMES 5 /* of 48 bytes are more than the room in front of a packet */

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct settings);
} settings SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct target);
} target SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct steering);
} message SEC(".maps");

static __always_inline bool prepare(struct xdp_md *ctx, struct packet *packet, struct sending *sending)
{
	__u32 zero = 0;

	sending->settings = bpf_map_lookup_elem(&settings, &zero);
	sending->target = bpf_map_lookup_elem(&target, &zero);
	sending->flow_hash = FLOW_HASH;
	return sending->settings && sending->target && parse(ctx, packet) == PARSED;
}

SEC("xdp")
int sends(struct xdp_md *ctx)
{
	struct packet packet;
	struct sending sending;

	return prepare(ctx, &packet, &sending) ? forward(ctx, &packet, &sending) : XDP_PASS;
}

SEC("xdp")
int sends_often(struct xdp_md *ctx)
{
	struct packet packet;
	struct sending sending;
	int sent = XDP_PASS;

	if (!prepare(ctx, &packet, &sending))
		return XDP_PASS;
#pragma unroll
	for (int i = 0; i < TIMES; i++)
		sent = forward(ctx, &packet, &sending);
	return sent;
}

SEC("xdp")
int steers(struct xdp_md *ctx)
{
	struct packet packet;
	struct sending sending;
	struct steering *said;
	__u32 zero = 0;

	said = bpf_map_lookup_elem(&message, &zero);
	return said && prepare(ctx, &packet, &sending) ? steer(ctx, &packet, &sending, said) : XDP_PASS;
}

/* XDP_DROP if there was nothing to take off. */
SEC("xdp")
int unsteers(struct xdp_md *ctx)
{
	struct packet packet;
	struct steering said = {};
	__u32 zero = 0;

	if (parse(ctx, &packet) != PARSED || !read_message(ctx, &packet, &said) || remove_steering(ctx, &packet))
		return XDP_DROP;
	bpf_map_update_elem(&message, &zero, &said, 0);
	return XDP_PASS;
}

SEC("xdp")
int answers(struct xdp_md *ctx)
{
	struct packet packet;
	struct sending sending;

	return prepare(ctx, &packet, &sending) ? answer_too_big(ctx, &packet, inner_mtu(sending.target)) : XDP_PASS;
}

SEC("xdp")
int refuses(struct xdp_md *ctx)
{
	struct packet packet;

	return parse(ctx, &packet) == PARSED ? refuse(ctx, &packet) : XDP_PASS;
}

SEC("xdp")
int echoes(struct xdp_md *ctx)
{
	struct packet packet;

	return parse(ctx, &packet) == PARSED && is_echo_request(ctx, &packet) && answer_echo(ctx, &packet) ? XDP_TX : XDP_PASS;
}

char LICENSE[] SEC("license") = "GPL";
