/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/* MP-HULA in the switch. */
#pragma once

#include "switch/mptcp_maps.h"

#define SCHEME_OF_OBJECT SWITCH_MP_HULA

__noinline int scheme_forward(struct forward_request *request)
{
	struct mp_hula_packet packet;
	const struct next_hops *hops;
	struct mp_hula hula;
	int port;

	if (!request || !get_mp_hula(&hula))
		return -1;
	hops = get_next_hops(request->dst_tor);
	if (!hops)
		return -1;
	packet = packet_of(request);
	port = mp_hula_forward(&hula, request->now, &packet, hops, request->up);
	request->shim = packet.shim;
	return port;
}

__noinline int scheme_probe(struct probe_request *request)
{
	struct mp_hula hula;
	__u32 *lock;

	if (!request || !get_mp_hula(&hula))
		return -1;
	lock = lock_tor(request->arrival.tor);
	if (!lock)
		return -1;
	request->result = mp_hula_probe(&hula, request->now, &request->arrival);
	unlock(lock);
	return 0;
}
