/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/* Passes everything. The far end of a veth pair needs a program, or frames that native XDP sends there are lost. */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

SEC("xdp")
int heddle_pass(struct xdp_md *ctx)
{
	return XDP_PASS;
}

char LICENSE[] SEC("license") = "GPL";
