/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/* Shuttle in the switch. */
#pragma once

#include "switch/meter.h"
#include "switch/mptcp_maps.h"
#include "switch/shuttle.h"

#define SCHEME_OF_OBJECT SWITCH_SHUTTLE

static __always_inline struct port_load shuttle_port_load(const struct shuttle *shuttle, __u64 now, __u32 port)
{
	const struct switch_config *to = shuttle->ports;
	const struct switch_port *link = get_port(port);

	return link ? meter_load(port, now, to->dre_shift, link->full) : (struct port_load){};
}

static __always_inline bool get_shuttle(struct shuttle *shuttle)
{
	shuttle->ports = get_config();
	return shuttle->ports && get_mp_hula(&shuttle->mptcp);
}

__noinline int scheme_forward(struct forward_request *request)
{
	struct mp_hula_packet packet;
	const struct next_hops *hops;
	struct shuttle shuttle;
	__u16 port;

	if (!request || !get_shuttle(&shuttle))
		return -1;
	hops = get_next_hops(request->dst_tor);
	if (!hops)
		return -1;
	packet = packet_of(request);
	port = mp_hula_running(&shuttle.mptcp, request->now, &packet, hops, request->up);
	if (port == NO_PORT)
		port = shuttle_start(&shuttle, request->now, bpf_get_prandom_u32(), &packet, hops, request->up);
	request->shim = packet.shim;
	return port;
}

__noinline int scheme_probe(struct probe_request *request)
{
	struct shuttle shuttle;
	__u32 *lock;

	if (!request || !get_shuttle(&shuttle))
		return -1;
	lock = lock_tor(request->arrival.tor);
	if (!lock)
		return -1;
	request->result = shuttle_probe(&shuttle, request->now, &request->arrival);
	unlock(lock);
	return 0;
}
