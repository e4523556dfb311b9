/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/* libbpf's bpf_helpers.h; outside BPF, where parsers and tables are tested, what stands in for it. A context's frame may be anywhere in
 * memory then, and maps are what the test's own bpf_map_lookup_elem makes of them. */
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
};

#undef __always_inline
#define __always_inline inline __attribute__((always_inline))
#define __noinline __attribute__((noinline))

#define SEC(name)
#define __uint(name, value) int(*name)[value]
#define __type(name, value) __typeof__(value) *name

void *bpf_map_lookup_elem(void *map, const void *key);
#endif

/* An array that is written to memory before and read again behind this. An unrolled loop over it would else want more
 * registers, and so more stack, than BPF has. */
#define keep_in_memory(array) asm volatile("" : : "r"(array) : "memory")
