/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/* The least that programs of an XDP action do. */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

SEC("xdp")
int heddle_return(struct xdp_md *ctx)
{
	return XDP_TX;
}

SEC("xdp")
int heddle_discard(struct xdp_md *ctx)
{
	return XDP_DROP;
}

char LICENSE[] SEC("license") = "GPL";
