/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/* For backends of services with mptcp = "assign": the balancer has put a key into the SYN (assign.h) that the backend's
 * kernel cannot take for its own. The client gets that key, the kernel chooses another, and these two programs of tc
 * rewrite what depends on them, so that each end sees a sound connection (RFC 8684, RFC 6824).
 *
 * In:  SYN of a connection    the key is taken out                      Out: SYN/ACK  the assigned key for the kernel's
 *      SYN of a join          the assigned key's token -> the kernel's       SYN/ACK  HMAC
 *      third packet           key; of a join the HMAC                        ADD_ADDR HMAC
 *      SYN/ACK of the         HMAC                                       third packet of the
 *        kernel's own join                                                 kernel's own join  HMAC
 *      DSS                    DATA_ACK                                       DSS      data sequence number, checksum
 *      ADD_ADDR, MP_FASTCLOSE, MP_FAIL
 *
 * The TCP header keeps its length. Packets of other connections pass as they are, also those with options that make no
 * sense. IPv4 and IPv6 without extension headers. */
#include "common/native.h"

#include <linux/if_ether.h>
#include <linux/in.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/pkt_cls.h>
#include <linux/tcp.h>

#include "balancer/translate_data.h"
#include "balancer/translate_server_join.h"

/* Bytes in front of the IP header: Ethernet's, or 0 on interfaces without. */
const volatile __u32 LINK_SIZE = ETH_HLEN;

#define HEADERS (ETH_HLEN + 60 + 60)
#define OPTION_END 0
#define OPTION_NOP 1
#define OPTION_MPTCP 30
#define FRAGMENT_BITS bpf_htons(0x3fff)

enum subtype {
	MP_CAPABLE = 0,
	MP_JOIN = 1,
	DSS = 2,
	ADD_ADDR = 3,
	MP_FAIL = 6,
	MP_FASTCLOSE = 7,
};

enum syn_kind {
	NO_SYN,
	SYN,
	SYN_ACK,
};

/* ---- the packet ---- */

/* ::ffff:a.b.c.d */
static __always_inline struct address mapped(__be32 address)
{
	return (struct address){ 0, ((__u64)address << 32) | bpf_htonl(0x0000ffff) };
}

static __always_inline void set_addresses(struct work *work, struct address source, struct address destination)
{
	work->key.client = work->to_kernel ? source : destination;
	work->key.server = work->to_kernel ? destination : source;
}

/* Offset of the TCP header; 0: there is none, or not the whole packet. */
static __always_inline __u32 read_v4(struct work *work, const struct iphdr *ip, const void *end)
{
	if ((const void *)(ip + 1) > end || ip->version != 4 || ip->ihl < 5 || ip->protocol != IPPROTO_TCP ||
	    ip->frag_off & FRAGMENT_BITS)
		return 0;
	set_addresses(work, mapped(ip->saddr), mapped(ip->daddr));
	return LINK_SIZE + ip->ihl * 4;
}

static __always_inline __u32 read_v6(struct work *work, const struct ipv6hdr *ip, const void *end)
{
	struct address source, destination;

	if ((const void *)(ip + 1) > end || ip->version != 6 || ip->nexthdr != IPPROTO_TCP)
		return 0;
	__builtin_memcpy(&source, &ip->saddr, sizeof(source));
	__builtin_memcpy(&destination, &ip->daddr, sizeof(destination));
	set_addresses(work, source, destination);
	return LINK_SIZE + sizeof(*ip);
}

static __always_inline __u32 read_ip(struct __sk_buff *skb, struct work *work)
{
	const void *data = (void *)(long)skb->data, *end = (void *)(long)skb->data_end;

	if (LINK_SIZE > ETH_HLEN)
		return 0;
	if (skb->protocol == bpf_htons(ETH_P_IP))
		return read_v4(work, data + LINK_SIZE, end);
	if (skb->protocol == bpf_htons(ETH_P_IPV6))
		return read_v6(work, data + LINK_SIZE, end);
	return 0;
}

/* Reads ports and the size of the options; false: there are none. */
static __always_inline bool read_tcp(struct __sk_buff *skb, struct work *work, __u32 l4, enum syn_kind *syn)
{
	const struct tcphdr *tcp = (void *)(long)skb->data + l4;

	if ((const void *)(tcp + 1) > (void *)(long)skb->data_end || tcp->doff <= 5)
		return false;
	work->key.client_port = work->to_kernel ? tcp->source : tcp->dest;
	work->key.server_port = work->to_kernel ? tcp->dest : tcp->source;
	work->size = tcp->doff * 4 - sizeof(*tcp);
	*syn = !tcp->syn ? NO_SYN : tcp->ack ? SYN_ACK : SYN;
	return true;
}

static __always_inline bool load_options(struct __sk_buff *skb, struct work *work, __u32 l4)
{
	__u32 size = work->size;

	if (size < 4 || size > MAX_OPTIONS)
		return false;
	if (bpf_skb_load_bytes(skb, l4 + sizeof(struct tcphdr), work->old, size))
		return false;
	__builtin_memcpy(work->options, work->old, sizeof(work->old));
	return true;
}

/* The checksum of a packet whose checksum the hardware is to complete does not cover its options: the helper knows. */
static __always_inline void store_options(struct __sk_buff *skb, struct work *work, __u32 l4)
{
	__u32 size = work->size;
	__s64 change;

	if (size < 4 || size > MAX_OPTIONS)
		return;
	change = bpf_csum_diff((__be32 *)work->old, size, (__be32 *)work->options, size, 0);
	if (change < 0 || bpf_skb_store_bytes(skb, l4 + sizeof(struct tcphdr), work->options, size, 0))
		return;
	bpf_l4_csum_replace(skb, l4 + offsetof(struct tcphdr, check), 0, change, 0);
}

/* ---- options ---- */

/* Where the next MPTCP option starts, from byte `at` on; the size of the options: there is none, or padding ends
 * them. */
__noinline int next_mptcp(struct work *work, __u32 at)
{
	__u32 size, length;
	__u8 *option;

	if (!work)
		return MAX_OPTIONS;
	size = work->size;
#pragma clang loop unroll(disable)
	for (int round = 0; round < MAX_OPTIONS && at < size; round++) {
		option = option_at(work, at);
		if (option[0] == OPTION_END)
			return size;
		if (option[0] == OPTION_NOP) {
			at++;
			continue;
		}
		length = at + 1 < size ? option[1] : 0;
		if (length < 2 || at + length > size) {
			note(work, TRANSLATE_MALFORMED);
			return size;
		}
		if (option[0] == OPTION_MPTCP && length >= 3)
			return at;
		at += length;
	}
	return size;
}

static __always_inline void translate_syn(struct work *work, __u32 at, enum subtype subtype)
{
	if (subtype == MP_CAPABLE)
		take_key(work, at);
	else if (subtype == MP_JOIN)
		take_token(work, at);
}

static __always_inline void translate_syn_ack(struct work *work, __u32 at, enum subtype subtype)
{
	if (subtype == MP_CAPABLE)
		answer_capable(work, at);
	else if (subtype == MP_JOIN)
		answer_join(work, at);
}

static __always_inline void translate_server_join(struct work *work, __u32 at, enum syn_kind syn)
{
	if (syn == SYN)
		open_join(work, at);
	else
		accept_join(work, at);
}

static __always_inline void translate_received(struct work *work, __u32 at, enum subtype subtype)
{
	if (subtype == MP_CAPABLE)
		take_both_keys(work, at);
	else if (subtype == MP_JOIN)
		take_join_hmac(work, at);
	else if (subtype == MP_FASTCLOSE)
		take_fast_close(work, at);
	else if (subtype == MP_FAIL)
		take_failure(work, at);
}

__noinline int translate_option(struct work *work, __u32 at, __u32 syn)
{
	enum subtype subtype;

	if (!work)
		return 0;
	subtype = option_at(work, at)[2] >> 4;
	if (syn == SYN && work->to_kernel)
		translate_syn(work, at, subtype);
	else if (syn == SYN_ACK && !work->to_kernel)
		translate_syn_ack(work, at, subtype);
	else if (syn != NO_SYN && subtype == MP_JOIN)
		translate_server_join(work, at, syn);
	if (syn != NO_SYN)
		return 0;
	if (subtype == DSS)
		translate_dss(work, at);
	else if (subtype == ADD_ADDR)
		translate_address(work, at);
	else if (work->to_kernel)
		translate_received(work, at, subtype);
	else if (subtype == MP_JOIN)
		give_join_hmac(work, at);
	return 0;
}

/* A handshake without MPTCP: what was known of another one with its addresses and ports is over. */
static __always_inline void without_mptcp(struct work *work, enum syn_kind syn)
{
	if (syn == SYN && work->to_kernel)
		note_other_syn(work);
	else if (syn == SYN_ACK && !work->to_kernel)
		answer_other(work);
}

static __always_inline void translate_options(struct work *work, enum syn_kind syn)
{
	__u32 at = next_mptcp(work, 0);

	if (at >= work->size) {
		without_mptcp(work, syn);
		return;
	}
#pragma clang loop unroll(disable)
	for (int round = 0; round < MAX_OPTIONS / 3 && at < work->size; round++) {
		__u32 length = option_at(work, at)[1];

		translate_option(work, at, syn);
		at = next_mptcp(work, at + length);
	}
}

static __always_inline int translate(struct __sk_buff *skb, bool to_kernel)
{
	enum syn_kind syn = NO_SYN;
	struct work *work;
	__u32 zero = 0, l4;

	if (skb->data + HEADERS > skb->data_end && skb->data_end - skb->data < skb->len)
		bpf_skb_pull_data(skb, skb->len < HEADERS ? skb->len : HEADERS);
	work = bpf_map_lookup_elem(&works, &zero);
	if (!work)
		return TC_ACT_UNSPEC;
	work->to_kernel = to_kernel;
	work->changed = false;
	work->segment = skb->len;
	l4 = read_ip(skb, work);
	if (!l4 || !read_tcp(skb, work, l4, &syn) || !load_options(skb, work, l4))
		return TC_ACT_UNSPEC;
	translate_options(work, syn);
	if (work->changed)
		store_options(skb, work, l4);
	return TC_ACT_UNSPEC;
}

/* Packets that the interface has received. */
SEC("classifier")
int translate_in(struct __sk_buff *skb)
{
	return translate(skb, true);
}

/* Packets that it is about to send. */
SEC("classifier")
int translate_out(struct __sk_buff *skb)
{
	return translate(skb, false);
}

char LICENSE[] SEC("license") = "GPL";
