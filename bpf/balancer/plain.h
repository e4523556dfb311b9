/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/* The way of most packets, in a line: TCP in the midst of a connection, or UDP, over IP without options, in a frame
 * without a tag, for a known flow for which nothing is due but that its entry's time is renewed. It reads the frame, a
 * service, an entry of a flow and a target, and writes an outer header and two counters.
 *
 * Whatever is not plain is left as it is, for the rest of the program: a condition here may be stricter than there, not
 * laxer. */
#pragma once

#include "balancer/clock.h"
#include "balancer/closed.h"
#include "balancer/context.h"
#include "balancer/flow_table.h"
#include "balancer/forward.h"
#include "balancer/invalid.h"
#include "balancer/known_vips.h"
#include "balancer/link.h"

#define PLAIN 0
#define NOT_PLAIN (-1)
#define PLAIN_SYN (-2) /* but for its flag: plain_syn.h */

static __always_inline int plainness_of_tcp(const struct packet *packet, const struct tcphdr *tcp)
{
	__u8 flags = ((const __u8 *)tcp)[13] & (TCP_SYN | TCP_FIN | TCP_RST | TCP_ACK);

	if (tcp->doff < 5 || packet->l4 + tcp->doff * 4 > packet->l3 + packet->length)
		return NOT_PLAIN;
	return flags == TCP_ACK ? PLAIN : flags == TCP_SYN ? PLAIN_SYN : NOT_PLAIN;
}

/* Of the header's 20 bytes all count for its checksum. */
static __always_inline bool is_plain_v4(struct packet *packet, const __u32 *ip)
{
	const struct iphdr *header = (const void *)ip;

	packet->destination = mapped(ip[4]);
	packet->length = bpf_ntohs(header->tot_len);
	packet->protocol = header->protocol;
	return *(const __u8 *)ip == 0x45 && !(header->frag_off & bpf_htons(0x3fff)) && header->ttl &&
	       (settings.forwards_invalid || !checksum((__u64)ip[0] + ip[1] + ip[2] + ip[3] + ip[4]));
}

static __always_inline bool is_plain_v6(struct packet *packet, const __u8 *ip)
{
	__u32 payload = bpf_ntohs(*(const __be16 *)(ip + 4));

	packet->destination = *(const struct address *)(ip + 24);
	packet->length = payload + IPV6_SIZE;
	packet->protocol = ip[6];
	return ip[0] >> 4 == 6 && ip[7] && payload <= 0xffff - IPV6_SIZE && !is_ipv4((const struct address *)(ip + 8)) &&
	       !is_ipv4(&packet->destination);
}

/* The client, of a packet that was read: again out of the frame, because the stack of a call chain has 512 bytes. */
static __always_inline bool read_client(struct xdp_md *ctx, struct flow_key *key, bool v6)
{
	const void *ip = (void *)(long)ctx->data + ETH_HLEN;
	const __be16 *port = ip + (v6 ? IPV6_SIZE : IPV4_SIZE);

	if ((void *)(port + 1) > end_of_frame(ctx))
		return false;
	key->client = v6 ? *(const struct address *)(ip + 8) : mapped(*(const __be32 *)(ip + 12));
	key->port = *port;
	return true;
}

/* PLAIN, PLAIN_SYN or NOT_PLAIN. UDP's header is shorter than the one that is asked for here; so are few datagrams. */
static __always_inline int read_plain(struct xdp_md *ctx, struct packet *packet, bool v6)
{
	const __u32 ip_size = v6 ? IPV6_SIZE : IPV4_SIZE;
	void *data = (void *)(long)ctx->data, *end = (void *)(long)ctx->data_end;
	const struct tcphdr *tcp = data + ETH_HLEN + ip_size;

	if ((void *)(tcp + 1) > end)
		return NOT_PLAIN;
	packet->v6 = v6;
	packet->l3 = ETH_HLEN;
	packet->l4 = ETH_HLEN + ip_size;
	if (v6 ? !is_plain_v6(packet, data + ETH_HLEN) : !is_plain_v4(packet, data + ETH_HLEN))
		return NOT_PLAIN;
	packet->destination_port = tcp->dest;
	if (data + ETH_HLEN + packet->length > end)
		return NOT_PLAIN;
	if (packet->protocol == IPPROTO_TCP)
		return plainness_of_tcp(packet, tcp);
	return packet->protocol == IPPROTO_UDP && packet->length >= ip_size + UDP_SIZE ? PLAIN : NOT_PLAIN;
}

/* True if the entry is as plain packets leave it, but for its time. */
static __always_inline bool is_settled(const struct flow_snapshot *flow, __u32 now, bool udp)
{
	return (flow->state & ~FLOW_FRESH) == (udp ? FLOW_UDP : FLOW_ESTABLISHED) && flow->epoch == settings.epoch &&
	       flow_live(flow, now);
}

/* True if nothing is due for a flow whose entry was written a second ago but that its time is renewed: no refresh, and
 * no question about a flow that was silent (`asks`). Its source may have become a service's since. */
static __always_inline bool is_renewed_alone(const struct flow_snapshot *flow, const struct flow_key *key, __u32 hash, __u32 now,
					     bool asks)
{
	if (flow->state & FLOW_FRESH || (!settings.forwards_invalid && settings.service_bits & source_bit(&key->client)))
		return false;
	return flow->state == FLOW_UDP || (!(asks && now - flow->seen >= 2 * TOUCH) && !interval_is_over(hash, flow->seen, now));
}

/* The rest of the program does the same with a packet that is not plain after all. Where the entry has changed
 * meanwhile, it stays as another processor has written it. */
static __always_inline void renew(struct flow *flow, const struct flow_snapshot *was, __u32 now)
{
	struct flow_snapshot renewed = *was;

	renewed.seen = now;
	compare_exchange(flow_status(flow), was->status, renewed.status);
}

/* The target of a flow, out of its first bucket; NO_TARGET: its entry is not there, or is being written, or something
 * is due. */
static __always_inline __u32 plain_target(const struct flow_key *key, __u32 hash, bool udp, bool asks)
{
	struct flow_bucket *bucket = flow_bucket(main_bucket(hash));
	struct flow_snapshot found;
	struct flow *flow;
	__u32 tick;

	if (!bucket)
		return NO_TARGET;
	flow = bucket->flows;
	for (int i = 1; i < BUCKET_ENTRIES && !is_flow_of(flow, read_flow_identity(flow), key); i++)
		flow = &bucket->flows[i];
	tick = now();
	if (try_to_read_flow(flow, key, &found) != READ_WHOLE || !is_settled(&found, tick, udp))
		return NO_TARGET;
	if (tick - found.seen < TOUCH)
		return found.target;
	if (!is_renewed_alone(&found, key, hash, tick, asks))
		return NO_TARGET;
	renew(flow, &found, tick);
	return found.target;
}

static __always_inline int send_plain(struct xdp_md *ctx, const struct packet *packet, __u16 vip, bool asks)
{
	bool udp = packet->protocol == IPPROTO_UDP;
	__u8 looked_at = TARGET_KEEPS_FLOWS | (udp ? TARGET_IS_REMOVED : 0);
	struct sending sending = { .settings = &settings };
	struct flow_key key = { .vip = vip };
	__u32 target, counter;
	int sent;

	if (!read_client(ctx, &key, packet->v6))
		return NOT_PLAIN;
	sending.flow_hash = hash_flow(settings.seed, &key.client, key.port, key.vip);
	target = plain_target(&key, sending.flow_hash, udp, asks);
	sending.target = bpf_map_lookup_elem(&targets, &target);
	if (!sending.target || (sending.target->state & looked_at) != TARGET_KEEPS_FLOWS || sending.target->vlan)
		return NOT_PLAIN;
	sent = forward_untagged(ctx, packet, &sending);
	if (sent < 0)
		return NOT_PLAIN;
	counter = key.vip * COUNTERS + SENT_FLOW;
	add_bytes(bpf_map_lookup_elem(&counters, &counter), 1, packet->length);
	add_bytes(bpf_map_lookup_elem(&target_counts, &target), 1, packet->length);
	return sent;
}

/* To an address and port that nothing here is for. */
static __always_inline int pass_plain(struct vip_key *service, __u32 bytes)
{
	__u32 counter = PASS_NO_VIP;

	if (settings.closes_ports) {
		const struct vip *alone;

		service->port = 0;
		service->protocol = 0;
		alone = find_vip(service);
		if (alone && alone->choices & (DROPS_CLOSED | REFUSES_CLOSED))
			return NOT_PLAIN;
	}
	add_bytes(bpf_map_lookup_elem(&counters, &counter), 1, bytes);
	return XDP_PASS;
}

/* True if packets for this service are plain as far as it says. */
static __always_inline bool is_plain_service(const struct vip *vip)
{
	return vip->kind == VIP_SERVICE && !vip->choices && !(vip->access & ACCESS_FILTERED);
}

/* A plain packet of this version of IP. `service`: room for a key, once for both versions. An XDP verdict, NOT_PLAIN or
 * PLAIN_SYN. */
static __always_inline int balance_plain_ip(struct xdp_md *ctx, bool v6, struct vip_key *service)
{
	struct packet packet = {};
	const struct vip *vip;
	int plainness = read_plain(ctx, &packet, v6);

	if (plainness != PLAIN)
		return plainness;
	service->address = packet.destination;
	service->port = packet.destination_port;
	service->protocol = packet.protocol;
	vip = find_vip(service);
	if (!vip)
		return pass_plain(service, packet.length);
	if (!is_plain_service(vip) || check_link(ctx) != LINK_OURS)
		return NOT_PLAIN;
	return send_plain(ctx, &packet, vip->id, vip->mode == MPTCP_LEARN);
}

static __always_inline int balance_plain(struct xdp_md *ctx)
{
	const struct ethhdr *ethernet = (void *)(long)ctx->data;
	struct vip_key service = {};

	if ((void *)(ethernet + 1) > end_of_frame(ctx))
		return NOT_PLAIN;
	if (ethernet->h_proto == bpf_htons(ETH_P_IP))
		return balance_plain_ip(ctx, false, &service);
	return ethernet->h_proto == bpf_htons(ETH_P_IPV6) ? balance_plain_ip(ctx, true, &service) : NOT_PLAIN;
}
