/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/* The balancer's time, for user space: what BPF_PROG_RUN returns. */
#include "balancer/ticks.h"

SEC("xdp")
int heddle_tick(struct xdp_md *ctx)
{
	return kernel_tick();
}

char LICENSE[] SEC("license") = "GPL";
