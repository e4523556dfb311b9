/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/* The least that programs of an XDP action do. */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

/* The interface to which the forwarding programs send. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} forward_to SEC(".maps");

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

SEC("xdp")
int heddle_forward(struct xdp_md *ctx)
{
	__u32 *to = bpf_map_lookup_elem(&forward_to, &(__u32){ 0 });

	(void)ctx;
	return to ? bpf_redirect(*to, 0) : XDP_ABORTED;
}

SEC("classifier")
int heddle_forward_tc(struct __sk_buff *ctx)
{
	__u32 *to = bpf_map_lookup_elem(&forward_to, &(__u32){ 0 });

	(void)ctx;
	return to ? bpf_redirect(*to, 0) : 2; /* TCX_DROP */
}

char LICENSE[] SEC("license") = "GPL";
