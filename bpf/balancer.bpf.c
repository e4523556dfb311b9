/* SPDX-License-Identifier: Apache-2.0 */
/* The balancer: one packet in, and where it goes. */
#include "lib/maps.h"

SEC("xdp")
int heddle_balancer(struct xdp_md *ctx)
{
	return XDP_PASS;
}

char LICENSE[] SEC("license") = "GPL";
