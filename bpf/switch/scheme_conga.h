/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/* CONGA in the switch. Its tag and the number of the packet's source leaf are in the shim, in the place of token A: 16
 * bits of leaf, 16 of tag (the layout of the paper's section 3.1 with two valid bits,
 * crates/schemes/policy/src/conga/tag.rs). Token B and the subflow's bits are 0. */
#pragma once

#include "switch/conga.h"
#include "switch/meter.h"
#include "switch/request.h"
#include "switch/switch_maps.h"

#define SCHEME_OF_OBJECT SWITCH_CONGA
#define SCHEME_HAS_SHIMS
#define SCHEME_WRITES_SHIMS

/* No locks: a race between two processors costs a metric its turn, never a packet its way. */
#define SCHEME_MAPS(MAP) MAP(conga_tables, 1, struct conga_tables);
SCHEME_MAPS(ARRAY)

#define LEAF_SHIFT 48
#define TAG_SHIFT 32

/* Reads the port's meter. A global function, which the verifier looks at by itself. */
__noinline int conga_meter_util(__u32 port, __u64 now)
{
	const struct switch_config *to = get_config();
	const struct switch_port *link = get_port(port);

	return to && link ? meter_util(port, now, to->dre_shift, link->full) : 0;
}

static __always_inline __u16 conga_link_util(const struct conga *conga, __u64 now, __u32 port)
{
	(void)conga;
	return conga_meter_util(port, now);
}

static __always_inline __u32 conga_random(const struct conga *conga)
{
	(void)conga;
	return bpf_get_prandom_u32();
}

static __always_inline bool get_conga(struct conga *conga)
{
	const struct switch_config *to = get_config();

	if (!to)
		return false;
	conga->place = &to->mp_hula.hula;
	conga->config = &to->conga;
	conga->tables = bpf_map_lookup_elem(&conga_tables, &(__u32){ 0 });
	conga->counts = get_scheme_counts();
	return conga->tables && conga->counts;
}

__noinline int scheme_forward(struct forward_request *request)
{
	const struct next_hops *hops;
	struct conga_packet packet;
	struct conga conga;
	__u64 from;
	int port;

	if (!request || !get_conga(&conga))
		return -1;
	hops = get_next_hops(request->dst_tor);
	if (!hops)
		return -1;
	packet = (struct conga_packet){
		.flow_hash = request->flow_hash,
		.dst_tor = request->dst_tor,
		.tag = request->shim.id >> TAG_SHIFT,
		.from_host = request->from_host,
	};
	from = request->from_host ? conga.place->tor : request->shim.id >> LEAF_SHIFT;
	port = conga_forward(&conga, request->now, &packet, hops);
	request->shim.id = from << LEAF_SHIFT | (__u64)packet.tag << TAG_SHIFT;
	request->shim.subflow = packet.tag ? 1 : 0;
	return port;
}

/* A data packet from the fabric at its destination leaf. */
__noinline int scheme_egress(struct shim *shim, __u64 now)
{
	struct conga conga;

	if (!shim || !get_conga(&conga))
		return -1;
	conga_receive(&conga, now, shim->id >> LEAF_SHIFT, shim->id >> TAG_SHIFT);
	return 0;
}
