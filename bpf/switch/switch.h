/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/* A frame's way through the switch. */
#pragma once

#include "switch/expired.h"
#include "switch/forward.h"
#include "switch/kernel_routes.h"
#include "switch/meter.h"
#include "switch/postcard.h"
#include "switch/probe.h"
#include "switch/shim.h"
#include "switch/too_long.h"
#include "switch/visit.h"

/* Counts and measures a frame that leaves by a port. */
static __always_inline void sent(__u32 number, const struct switch_config *to, __u64 now, __u32 bytes)
{
	const struct switch_port *port = get_port(number);

	if (!port)
		return;
	count_in(&port_counts, number * PORT_COUNTERS + PORT_SENT, bytes);
	if (port->role != ROLE_HOST)
		meter_sent(number, now, bytes, to, port->full);
}

/* The peer's MAC address is that of its frames, as a port has one peer. At `data` is an Ethernet header. */
static __always_inline void learn_mac(const void *data, struct switch_port *port)
{
	__u64 mac;

	if (!port->learns)
		return;
	mac = *(__u32 *)(data + 6) | (__u64) * (__u16 *)(data + 10) << 32;
	if (mac & 1 || mac == port->peer_mac)
		return;
	port->peer_mac = mac;
}

/* Bytes of IP that fit through a port, less those that a shim will take; 0: the packet fits. */
static __always_inline __u32 limit_of(const frame *frame, const struct visit *visit, __u32 number)
{
	__u32 added = visit->shim.subflow && !visit->shimmed ? SHIM_BYTES : 0;
	const struct switch_port *port = get_port(number);

	if (frame_is_gso(frame) || !port || visit->packet.length + added <= port->mtu)
		return 0;
	return port->mtu - added;
}

static __always_inline int to_other_tor(frame *frame, struct visit *visit, const struct switch_config *to, __u16 tor)
{
	int port = decide(frame, visit, tor, to->up), shimmed;
	__u32 limit;

	if (port < 0)
		return to->kernel_routes && !visit->shimmed ? pass(frame) : drop(frame, DROPPED_NO_ROUTE);
	limit = limit_of(frame, visit, port);
	if (limit)
		return too_long(frame, visit, limit);
	send_postcard(frame, visit, to, port);
	shimmed = add_shim(frame, visit);
	if (shimmed != SHIM_READY)
		return shimmed;
	sent(port, to, visit->now, frame_bytes(frame));
	return leave(frame, visit, port, FORWARDED);
}

static __always_inline int to_host(frame *frame, struct visit *visit, const struct switch_config *to, __u16 port)
{
	__u32 limit = limit_of(frame, visit, port);

	if (limit)
		return too_long(frame, visit, limit);
	send_postcard(frame, visit, to, port);
	sent(port, to, visit->now, frame_bytes(frame));
	return leave(frame, visit, port, DELIVERED);
}

/* The packet's source address is the host's from whose port it came (BCP 38, at the first hop). */
static __always_inline bool has_own_source(const struct visit *visit, const struct switch_config *to)
{
	const struct switch_destination *source = bpf_map_lookup_elem(&destinations, &visit->packet.source);

	return source && source->tor == to->tor && source->port == visit->port;
}

/* A packet that was parsed. */
static __always_inline int route(frame *frame, struct visit *visit, const struct switch_config *to)
{
	const struct switch_destination *destination;
	int without;

	if (stays_on_link(&visit->packet))
		return pass(frame);
	if (visit->own_sources && !has_own_source(visit, to))
		return drop(frame, DROPPED_SOURCE);
	destination = bpf_map_lookup_elem(&destinations, &visit->packet.destination);
	if (!destination && to->kernel_routes)
		destination = by_prefix(&visit->packet);
	if (!destination)
		return drop(frame, DROPPED_NO_ROUTE);
	if (read_ttl(frame, &visit->packet) <= 1)
		return to->kernel_routes && !visit->shimmed ? pass(frame) : expired(frame, visit, to);
	if (destination->tor == to->tor) {
		without = remove_shim(frame, visit);
		if (without != SHIM_READY)
			return without;
	}
	observe(frame, visit, destination, to);
	if (destination->tor == to->tor)
		return to_host(frame, visit, to, destination->port);
	return to_other_tor(frame, visit, to, destination->tor);
}

static __always_inline int on_packet(frame *frame, struct visit *visit, __be16 type, const struct switch_config *to)
{
	int parsed = parse_network(&visit->packet, type, frame_data(frame), frame_end(frame), frame_bytes(frame));

	switch (parsed) {
	case PARSED:
	case OTHER_PROTOCOL:
	case MANY_EXTENSIONS:
		return route(frame, visit, to);
	case MALFORMED:
		return drop(frame, DROPPED_MALFORMED);
	}
	return pass(frame);
}

static __always_inline int handle_at(frame *frame, __u32 number, struct switch_port *port, const struct switch_config *to)
{
	struct visit visit = {
		.packet = { .l3 = ETH_HLEN },
		.port = number,
		.role = port->role,
		.own_sources = port->own_sources,
	};
	__be16 type, behind_tag;
	bool tagged;
	void *data;
	int read;

	if (frame_pull(frame))
		return drop(frame, DROPPED_MALFORMED);
	data = frame_data(frame);
	if (data + ETH_HLEN + VLAN_SIZE > frame_end(frame))
		return drop(frame, DROPPED_MALFORMED);
	learn_mac(data, port);
	type = *(__be16 *)(data + ETH_HLEN - 2);
	behind_tag = *(__be16 *)(data + ETH_HLEN + 2);
	tagged = frame_is_tagged(frame, type);
	if (tagged && to->kernel_routes)
		return pass(frame);
	visit.now = bpf_ktime_get_ns();
	if (!tagged && type == bpf_htons(ETHERTYPE_PROBE))
		return on_probe(frame, &visit, to, port);
	if (!tagged && is_ipv4_probe(frame, type, to)) {
		visit.packet.l3 += sizeof(struct iphdr);
		return on_probe(frame, &visit, to, port);
	}
	if (type == bpf_htons(ETH_P_8021Q)) {
		type = behind_tag;
		visit.packet.l3 += VLAN_SIZE;
	}
	read = read_shim(frame, &visit, &type);
	if (read != SHIM_READY)
		return read;
	return is_ip(type) ? on_packet(frame, &visit, type, to) : pass(frame);
}

static __always_inline int handle(frame *frame)
{
	__u32 number = port_of_interface(frame_interface(frame));
	const struct switch_config *to = get_config();
	struct switch_port *port = get_port(number);

	if (!port || !to)
		return FRAME_PASS;
	count_in(&port_counts, number * PORT_COUNTERS + PORT_RECEIVED, frame_bytes(frame));
	return handle_at(frame, number, port, to);
}
