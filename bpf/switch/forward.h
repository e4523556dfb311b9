/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/* Forwarding of data packets: TTL, destination, the scheme's decision, MAC addresses. */
#pragma once

#include "switch/flow.h"
#include "switch/scheme.h"
#include "switch/visit.h"

/* IP's TTL or hop limit; 0 where there is none. */
static __always_inline __u8 read_ttl(const frame *frame, const struct packet *packet)
{
	void *network = network_at(frame, packet), *end = frame_end(frame);
	struct ipv6hdr *v6 = network;
	struct iphdr *v4 = network;

	if (packet->v6)
		return (void *)(v6 + 1) <= end ? v6->hop_limit : 0;
	return (void *)(v4 + 1) <= end ? v4->ttl : 0;
}

static __always_inline __u32 read_flow_label(const frame *frame, const struct packet *packet)
{
	__be32 *first = network_at(frame, packet);

	if (!packet->v6 || (void *)(first + 1) > frame_end(frame))
		return 0;
	return bpf_ntohl(*first) & 0xfffff;
}

/* Decrements the TTL. The word that it shares with the protocol falls by 0x0100, so the checksum rises by that, and by
 * a carry if the sum is 0xffff, too, which is no header's checksum (equation 3 of RFC 1624). */
static __always_inline int decrement_ttl(frame *frame, const struct packet *packet)
{
	void *network = network_at(frame, packet), *end = frame_end(frame);
	struct ipv6hdr *v6 = network;
	struct iphdr *v4 = network;
	__u32 sum;

	if (packet->v6) {
		if ((void *)(v6 + 1) > end)
			return -1;
		v6->hop_limit--;
		return 0;
	}
	if ((void *)(v4 + 1) > end)
		return -1;
	v4->ttl--;
	sum = (__u32)v4->check + bpf_htons(0x0100);
	v4->check = sum + (sum >= 0xffff);
	return 0;
}

#define BROADCAST_MAC 0xffffffffffffULL

/* Writes the MAC addresses of a frame that leaves by this port. */
static __always_inline int write_macs(frame *frame, const struct switch_port *port)
{
	__u64 to = port->peer_mac ? port->peer_mac : BROADCAST_MAC, from = port->own_mac;
	void *data = frame_data(frame);

	if (data + ETH_HLEN > frame_end(frame))
		return -1;
	*(__u32 *)data = to;
	*(__u16 *)(data + 4) = to >> 32;
	*(__u32 *)(data + 6) = from;
	*(__u16 *)(data + 10) = from >> 32;
	return 0;
}

/* Sends the frame, whose headers are as they should be, but for MAC addresses and TTL. */
static __always_inline int leave(frame *frame, const struct visit *visit, __u32 number, __u32 counter)
{
	const struct switch_port *port = get_port(number);
	__u32 bytes = frame_bytes(frame);

	if (!port || !port->ifindex)
		return number == SWITCH_NO_PORT ? pass(frame) : drop(frame, DROPPED_NO_PORT);
	if (decrement_ttl(frame, &visit->packet) || write_macs(frame, port))
		return drop(frame, DROPPED_FAILED);
	count_in(&verdicts, counter, bytes);
	return frame_send(frame, number, port);
}

static __always_inline void words_of(__u32 words[4], const struct address *address, bool v6)
{
	__u64 high = bpf_be64_to_cpu(address->high), low = bpf_be64_to_cpu(address->low);

	words[0] = v6 ? high >> 32 : low;
	if (!v6)
		return;
	words[1] = high;
	words[2] = low >> 32;
	words[3] = low;
}

static __always_inline void read_fields(const frame *frame, const struct packet *packet, struct cflb_fields *fields)
{
	words_of(fields->source, &packet->source, packet->v6);
	words_of(fields->destination, &packet->destination, packet->v6);
	fields->flow_label = read_flow_label(frame, packet);
	fields->source_port = bpf_ntohs(packet->source_port);
	fields->destination_port = bpf_ntohs(packet->destination_port);
	fields->protocol = packet->protocol;
	fields->ttl = read_ttl(frame, packet);
	fields->v6 = packet->v6;
	fields->has_ports = !packet->fragment && (packet->protocol == IPPROTO_TCP || packet->protocol == IPPROTO_UDP);
}

/* The scheme's port for a packet to another ToR; negative: none. `visit->shim` becomes that on departure. */
static __always_inline int decide(const frame *frame, struct visit *visit, __u16 tor, __u64 up)
{
	struct forward_request request = {
		.now = visit->now,
		.up = up,
		.flow_hash = scheme_reads_fields() ? 0 : flow_hash(&visit->packet, false),
		.dst_tor = tor,
		.from_host = visit->role == ROLE_HOST,
		.shim = visit->shim,
	};
	int port;

	if (scheme_reads_fields())
		read_fields(frame, &visit->packet, &request.fields);
	port = scheme_forward(&request);
	visit->shim = request.shim;
	return port;
}
