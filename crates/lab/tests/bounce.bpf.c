/* SPDX-License-Identifier: Apache-2.0 */
/* The least balancer: everything for the VIP (TCP, IPv4 or IPv6) goes back where it came from, to the backend of
 * BACKEND_MAC. */
#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <linux/in.h>
#include <linux/ip.h>
#include <linux/ipv6.h>

static const __u8 backend[ETH_ALEN] = BACKEND_MAC;

/* Only a service's packets: addresses of balancers begin with 10 and fd. */
static __attribute__((always_inline)) int is_service(const struct ethhdr *eth, const void *end)
{
	const struct iphdr *v4 = (const void *)(eth + 1);
	const struct ipv6hdr *v6 = (const void *)(eth + 1);

	if (eth->h_proto == __builtin_bswap16(ETH_P_IP) && (const void *)(v4 + 1) <= end)
		return v4->protocol == IPPROTO_TCP && *(const __u8 *)&v4->daddr != 10;
	if (eth->h_proto == __builtin_bswap16(ETH_P_IPV6) && (const void *)(v6 + 1) <= end)
		return v6->nexthdr == IPPROTO_TCP && v6->daddr.s6_addr[0] != 0xfd;
	return 0;
}

__attribute__((section("xdp"), used)) int bounce(struct xdp_md *ctx)
{
	struct ethhdr *eth = (void *)(long)ctx->data;
	void *end = (void *)(long)ctx->data_end;

	if ((void *)(eth + 1) > end || !is_service(eth, end))
		return XDP_PASS;
	__builtin_memcpy(eth->h_source, eth->h_dest, ETH_ALEN);
	__builtin_memcpy(eth->h_dest, backend, ETH_ALEN);
	return XDP_TX;
}
