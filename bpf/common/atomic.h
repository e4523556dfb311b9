/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/* Memory that several processors read and write: whole reads and writes, exchanges, and their order.
 *
 * BPF has loads and stores that order others only from a later instruction set on than -mcpu=v3 (BPF_LOAD_ACQ,
 * BPF_STORE_REL). Until then the kernel's rule for its own atomic operations is what there is: those that return a
 * value are fully ordered, a comparison that fails orders nothing (Documentation/atomic_t.txt, "ORDERING"). BPF's
 * exchange and compare-and-exchange are made of them (kernel/bpf/core.c, arch/<machine>/net/bpf_jit_comp.c).
 *
 * Natively, for tests, all of these are C11 atomics, so that a race checker sees every access that is none of them. */
#pragma once

#include <linux/types.h>
#include <stdbool.h>

#include "common/native.h"

#ifdef __bpf__
#define READ_ONCE(x) (*(const volatile __typeof__(x) *)&(x))
#define WRITE_ONCE(x, value) (*(volatile __typeof__(x) *)&(x) = (value))
#else
void between_accesses(void); /* the test's own: may let other threads run */
#define READ_ONCE(x) (between_accesses(), __atomic_load_n(&(x), __ATOMIC_ACQUIRE))
#define WRITE_ONCE(x, value) (between_accesses(), __atomic_store_n(&(x), value, __ATOMIC_RELEASE))
#endif

/* Eight bytes of a struct, read and written at once. */
typedef __u64 __attribute__((may_alias)) shared_word;

/* Reads before it are done before reads behind it. x86 keeps loads in order by itself (Intel SDM, volume 3, "Memory
 * Ordering in P6 and More Recent Processor Families"): there it binds the compiler only. Elsewhere it is an exchange,
 * as said above. */
static __always_inline void order_reads(void)
{
#if defined(__bpf__) && !defined(__TARGET_ARCH_x86)
	__u64 unshared = 0;

	(void)__atomic_exchange_n((volatile __u64 *)&unshared, 1, __ATOMIC_SEQ_CST);
#endif
	asm volatile("" : : : "memory");
}

/* Sets the word to `value` if it is `was`. True if it did; fully ordered then. */
static __always_inline bool compare_exchange(shared_word *word, __u64 was, __u64 value)
{
	return __sync_val_compare_and_swap(word, was, value) == was;
}

/* Writes the word behind all writes before it. */
static __always_inline void write_release(shared_word *word, __u64 value)
{
	(void)__atomic_exchange_n(word, value, __ATOMIC_SEQ_CST);
}
