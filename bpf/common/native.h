/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/* libbpf's bpf_helpers.h; outside BPF, where parsers and tables are tested, what stands in for it. A context's frame
 * may be anywhere in memory then, and maps are what the test's own bpf_map_lookup_elem makes of them. */
#pragma once

#ifdef __bpf__
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#else
#define xdp_md kernel_xdp_md /* has room for 32 bits of an address only */
#include <linux/bpf.h>
#undef xdp_md

struct xdp_md {
	unsigned long data;
	unsigned long data_end;
	__u32 ingress_ifindex;
};

#define __BPF_HELPERS__ /* libbpf's helpers are numbers of the kernel's functions */

#undef __always_inline
#define __always_inline inline __attribute__((always_inline))
#define __noinline __attribute__((noinline))

#define SEC(name)
#define __uint(name, value) int(*name)[value]
#define __type(name, value) __typeof__(value) *name

void *bpf_map_lookup_elem(void *map, const void *key);
__u64 bpf_ktime_get_ns(void);
__u32 bpf_get_prandom_u32(void);
__u64 bpf_xdp_get_buff_len(struct xdp_md *ctx);
long bpf_xdp_load_bytes(struct xdp_md *ctx, __u32 offset, void *to, __u32 bytes);
long bpf_xdp_adjust_head(struct xdp_md *ctx, int delta);
long bpf_xdp_adjust_tail(struct xdp_md *ctx, int delta);
long bpf_redirect_map(void *map, __u64 key, __u64 flags);
__s64 bpf_csum_diff(__be32 *from, __u32 from_size, __be32 *to, __u32 to_size, __u32 seed);
#endif

/* An array that is written to memory before and read again behind this. An unrolled loop over it would else want more
 * registers, and so more stack, than BPF has. */
#define keep_in_memory(array) asm volatile("" : : "r"(array) : "memory")
