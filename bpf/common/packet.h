/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/* A packet as a program sees it: where its headers are, and the fields that decide where it goes.
 *
 * Offsets, not pointers, so that it outlives a change of the frame; each read of the frame checks bounds again. */
#pragma once

#include <linux/if_ether.h>
#include <linux/in.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/tcp.h>
#include <linux/udp.h>
#include <stdbool.h>

#include <bpf/bpf_endian.h>

#include "common/native.h"
#include "include/address.h"

struct packet {
	struct address source;
	struct address destination;
	__be16 source_port;
	__be16 destination_port;
	__u16 l3;     /* offset of the IP header: 14, or 18 behind a VLAN tag */
	__u16 l4;     /* offset of what follows IP */
	__u16 length; /* bytes from the IP header on, as the header says */
	__u8 protocol;
	__u8 tcp_flags;
	__u8 options; /* bytes of TCP options */
	bool v6;
	bool fragment;       /* a part of a packet: the first, or */
	bool later_fragment; /* one behind it, that has no ports */
	bool source_routed;  /* routing header 0 with segments left (RFC 5095) */
	__u32 fragment_id;
};

#define EXTENSION_HEADERS 4
#define IPV6_FRAGMENT 44

/* All but the first are for the machine's own stack. */
enum parsed {
	PARSED,          /* a packet that may be for a service */
	NOT_IP,          /* neither IPv4 nor IPv6 */
	OTHER_PROTOCOL,  /* none of TCP, UDP and ICMP */
	MANY_TAGS,       /* more VLAN tags than one, or one that is not 802.1Q's */
	MANY_EXTENSIONS, /* more IPv6 extension headers than EXTENSION_HEADERS */
	MALFORMED,       /* headers that fit neither the frame nor each other, or an IPv4-mapped address in IPv6 */
};

#define TCP_HEADER 20 /* bytes without options */

#define TCP_FIN 0x01
#define TCP_SYN 0x02
#define TCP_RST 0x04
#define TCP_ACK 0x10

static __always_inline bool is_ipv4(const struct address *address)
{
	return address->high == 0 && bpf_be64_to_cpu(address->low) >> 32 == 0xffff;
}

/* ::ffff:a.b.c.d */
static __always_inline struct address mapped(__be32 address)
{
	return (struct address){ 0, ((__u64)address << 32) | bpf_htonl(0x0000ffff) };
}

static __always_inline bool is_extension(__u8 header)
{
	return header == IPPROTO_HOPOPTS || header == IPPROTO_DSTOPTS || header == IPPROTO_ROUTING || header == IPV6_FRAGMENT;
}

static __always_inline bool is_icmp(__u8 protocol)
{
	return protocol == IPPROTO_ICMP || protocol == IPPROTO_ICMPV6;
}

/* The ports and flags of what follows IP, `data` being the start of the frame. */
static __always_inline int parse_transport(struct packet *packet, void *data, void *end)
{
	struct tcphdr *tcp = data + packet->l4;
	struct udphdr *udp = data + packet->l4;

	if (packet->protocol == IPPROTO_TCP) {
		if ((void *)(tcp + 1) > end || tcp->doff < 5)
			return MALFORMED;
		if (packet->l4 + tcp->doff * 4 > packet->l3 + packet->length)
			return MALFORMED;
		packet->source_port = tcp->source;
		packet->destination_port = tcp->dest;
		packet->tcp_flags = ((__u8 *)tcp)[13];
		packet->options = tcp->doff * 4 - sizeof(*tcp);
		return PARSED;
	}
	if (packet->protocol == IPPROTO_UDP) {
		if ((void *)(udp + 1) > end || packet->l4 + sizeof(*udp) > packet->l3 + packet->length)
			return MALFORMED;
		packet->source_port = udp->source;
		packet->destination_port = udp->dest;
		return PARSED;
	}
	if (is_icmp(packet->protocol))
		return PARSED;
	return packet->v6 && is_extension(packet->protocol) ? MANY_EXTENSIONS : OTHER_PROTOCOL;
}

/* A later fragment has no ports. Behind the fragment header of IPv6 there may be other extension headers, which only
 * the first fragment has. */
static __always_inline int parse_later_fragment(const struct packet *packet)
{
	if (packet->protocol == IPPROTO_TCP || packet->protocol == IPPROTO_UDP || is_icmp(packet->protocol))
		return PARSED;
	return packet->v6 && is_extension(packet->protocol) ? PARSED : OTHER_PROTOCOL;
}

static __always_inline int parse_v4(struct packet *packet, void *data, void *end)
{
	struct iphdr *ip = data + packet->l3;

	if ((void *)(ip + 1) > end)
		return MALFORMED;
	packet->source = mapped(ip->saddr);
	packet->destination = mapped(ip->daddr);
	if (ip->version != 4 || ip->ihl < 5)
		return MALFORMED;
	packet->v6 = false;
	packet->length = bpf_ntohs(ip->tot_len);
	packet->l4 = packet->l3 + ip->ihl * 4;
	packet->protocol = ip->protocol;
	if (ip->frag_off & bpf_htons(0x3fff)) {
		packet->fragment = true;
		packet->later_fragment = ip->frag_off & bpf_htons(0x1fff);
		packet->fragment_id = ip->id;
	}
	return PARSED;
}

/* Walks hop-by-hop and destination options, routing and fragment headers, EXTENSION_HEADERS at most. */
static __always_inline int parse_v6(struct packet *packet, void *data, void *end)
{
	struct ipv6hdr *ip = data + packet->l3;
	__u32 at = packet->l3 + sizeof(*ip);
	__u8 next;

	if ((void *)(ip + 1) > end)
		return MALFORMED;
	__builtin_memcpy(&packet->source, &ip->saddr, 16);
	__builtin_memcpy(&packet->destination, &ip->daddr, 16);
	if (ip->version != 6)
		return MALFORMED;
	packet->v6 = true;
	packet->length = bpf_ntohs(ip->payload_len) + sizeof(*ip);
	/* In the maps they are those of IPv4 packets. On the wire there are none (RFC 4942, 2.2). */
	if (is_ipv4(&packet->source) || is_ipv4(&packet->destination))
		return MALFORMED;
	if (bpf_ntohs(ip->payload_len) > 0xffff - sizeof(*ip))
		return MALFORMED; /* longer than `length` can say, and than any frame */
	next = ip->nexthdr;
	for (int i = 0; i < EXTENSION_HEADERS && next != IPPROTO_TCP && next != IPPROTO_UDP; i++) {
		__u8 *header = data + at;

		if (!is_extension(next))
			break;
		if ((void *)(header + 8) > end)
			return MALFORMED;
		if (next == IPV6_FRAGMENT) {
			/* Neither an offset nor more to come: a whole packet all the same (RFC 6946). */
			packet->fragment = *(__be16 *)(header + 2) & bpf_htons(0xfff9);
			packet->later_fragment = *(__be16 *)(header + 2) & bpf_htons(0xfff8);
			packet->fragment_id = *(__be32 *)(header + 4);
			at += 8;
		} else {
			if (next == IPPROTO_ROUTING && !header[2] && header[3])
				packet->source_routed = true;
			at += (header[1] + 1) * 8;
		}
		next = header[0];
		if (packet->later_fragment)
			break;
	}
	packet->l4 = at;
	packet->protocol = next;
	return PARSED;
}

static __always_inline bool is_tag(__be16 type)
{
	return type == bpf_htons(ETH_P_8021Q) || type == bpf_htons(ETH_P_8021AD);
}

static __always_inline int parse_ip(struct packet *packet, __be16 type, void *data, void *end)
{
	if (type == bpf_htons(ETH_P_IP))
		return parse_v4(packet, data, end);
	if (type == bpf_htons(ETH_P_IPV6))
		return parse_v6(packet, data, end);
	return is_tag(type) ? MANY_TAGS : NOT_IP;
}

/* IP of either version at `packet->l3`, and the transport's ports, of a frame of `bytes` bytes whose first ones lie
 * from `data` to `end`. Where it returns another value than PARSED, `destination` is the packet's if it was read, else
 * zero. */
static __always_inline int parse_network(struct packet *packet, __be16 type, void *data, void *end, __u64 bytes)
{
	int parsed = parse_ip(packet, type, data, end);

	if (parsed != PARSED)
		return parsed;
	if (packet->l3 + packet->length > bytes || packet->l4 > packet->l3 + packet->length)
		return MALFORMED;
	return packet->later_fragment ? parse_later_fragment(packet) : parse_transport(packet, data, end);
}

/* Ethernet, one VLAN tag or none, and what parse_network reads. */
static __always_inline int parse(struct xdp_md *ctx, struct packet *packet)
{
	void *data = (void *)(long)ctx->data;
	void *end = (void *)(long)ctx->data_end;
	struct ethhdr *ethernet = data;
	__be16 type;

	*packet = (struct packet){ .l3 = sizeof(*ethernet) };
	if (data + sizeof(*ethernet) + 4 > end)
		return MALFORMED;
	type = ethernet->h_proto;
	if (type == bpf_htons(ETH_P_8021Q)) {
		type = *(__be16 *)(data + sizeof(*ethernet) + 2);
		packet->l3 += 4;
	}
	return parse_network(packet, type, data, end, end - data);
}
