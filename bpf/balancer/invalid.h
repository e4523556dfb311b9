/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/* Packets that no host sends, or that hosts would drop: told apart by reason, for packets to a service and to this
 * balancer's own port.
 *
 * Of a known flow only what differs between its packets is looked at: its source was looked at when it began. */
#pragma once

#include "balancer/decision.h"
#include "common/icmp_error.h"
#include "common/options.h"

#define IPV4_LONGEST 60
#define LOOSE_SOURCE_ROUTE 131
#define STRICT_SOURCE_ROUTE 137
#define TCP_FLAGS 0x3f /* the six of RFC 793: ECN's, alone, are of no segment either */

_Static_assert(IPV4_LONGEST - IPV4_SIZE == MAX_OPTIONS, "as many bytes of options as TCP has");

/* True if the options have a source route. Each round goes on by a byte at least, as the verifier sees: Linux 6.1
 * learns nothing from `!= 0`. */
static __noinline __attribute__((unused)) int has_source_route(const struct tcp_options *options, __u32 bytes)
{
	__u32 length;

	if (!options)
		return false;
	for (__u32 at = 0; at < MAX_OPTIONS && at < bytes; at += length) {
		const __u8 *option = options->bytes + at;

		if (option[0] == LOOSE_SOURCE_ROUTE || option[0] == STRICT_SOURCE_ROUTE)
			return true;
		if (option[0] == OPTION_END)
			return false;
		length = 1;
		if (option[0] == OPTION_NOP)
			continue;
		length = option[1];
		if (length < 2)
			return false;
	}
	return false;
}

/* PASS_NOT_IP, which is 0: nothing is wrong with the header's options and checksum. */
__noinline int flaw_of_options(struct xdp_md *ctx, const struct packet *packet)
{
	struct tcp_options options = {};
	void *data = (void *)(long)ctx->data;
	__u32 size, bytes, last;
	__u64 sum;

	if (!packet)
		return 0;
	size = link_size(packet);
	last = packet->l4 - packet->l3 - IPV4_SIZE - 1;
	asm volatile("" : "+r"(last)); /* bounded by itself: Linux 6.1 learns nothing from `!= 0` */
	if (last >= MAX_OPTIONS || data + size + IPV4_SIZE > end_of_frame(ctx))
		return 0;
	bytes = last + 1;
	sum = sum_of(data + size, IPV4_SIZE);
	if (bpf_xdp_load_bytes(ctx, size + IPV4_SIZE, options.bytes, bytes))
		return 0;
	/* Behind the options are zeros, which add nothing. */
	sum += sum_of(options.bytes, MAX_OPTIONS);
	if (checksum(sum))
		return DROP_CHECKSUM;
	return has_source_route(&options, bytes) ? DROP_ROUTE : 0;
}

static __always_inline int flaw_of_v4(struct xdp_md *ctx, const struct packet *packet)
{
	const __u32 *ip = (void *)(long)ctx->data + link_size(packet);

	if ((void *)(ip + 5) > end_of_frame(ctx))
		return 0;
	if (!((const __u8 *)ip)[8])
		return DROP_HOPS;
	if (packet->l4 - packet->l3 != IPV4_SIZE)
		return flaw_of_options(ctx, packet);
	return checksum((__u64)ip[0] + ip[1] + ip[2] + ip[3] + ip[4]) ? DROP_CHECKSUM : 0;
}

static __always_inline int flaw_of_v6(struct xdp_md *ctx, const struct packet *packet)
{
	const __u8 *ip = (void *)(long)ctx->data + link_size(packet);

	if ((void *)(ip + IPV6_SIZE) > end_of_frame(ctx))
		return 0;
	return !ip[7] ? DROP_HOPS : packet->source_routed ? DROP_ROUTE : 0;
}

/* The flags alone, before ports are looked up: nothing of a fragment's that has none. */
static __always_inline bool has_impossible_flags(const struct packet *packet)
{
	__u8 flags = packet->tcp_flags & TCP_FLAGS;

	if (packet->protocol != IPPROTO_TCP || packet->later_fragment)
		return false;
	return !flags || (flags & TCP_SYN && flags & (TCP_FIN | TCP_RST));
}

/* The verdict on a packet that is dropped for what it says itself; 0: on none. */
static __always_inline int flaw_of(struct xdp_md *ctx, const struct packet *packet)
{
	if (has_impossible_flags(packet))
		return DROP_FLAGS;
	return packet->v6 ? flaw_of_v6(ctx, packet) : flaw_of_v4(ctx, packet);
}

/* One of 64 bits. Settings::source_bit is the same in Rust. */
static __always_inline __u64 source_bit(const struct address *source)
{
	return 1ULL << ((source->high ^ source->low) * HASH_MULTIPLIER >> 58);
}

static __noinline __attribute__((unused)) int is_service(const struct address *source)
{
	struct vip_key key = {};
	const struct vip *vip;

	if (!source)
		return false;
	key.address = *source;
	vip = bpf_map_lookup_elem(&vips, &key);
	return vip && vip->kind == VIP_ADDRESS;
}

/* True for an unspecified, loopback, multicast or broadcast address, of IPv4 also for others of 0.0.0.0/8 and
 * 127.0.0.0/8. */
static __always_inline bool is_no_hosts(const struct address *source, bool v6)
{
	const __u8 *bytes = (const __u8 *)source;

	if (v6)
		return !source->high || bytes[0] == 0xff;
	return !bytes[12] || bytes[12] == 127 || bytes[12] >> 4 == 14 || source->low >> 32 == 0xffffffff;
}

/* True for the source of no host, or of a service here: an answer would go round. */
static __always_inline bool has_invalid_source(const struct packet *packet)
{
	return is_no_hosts(&packet->source, packet->v6) ||
	       (settings.service_bits & source_bit(&packet->source) && is_service(&packet->source));
}
