/* SPDX-License-Identifier: Apache-2.0 */
/* What the bench's wrapper (bench.bpf.c) is told. */
#pragma once

#include <linux/types.h>

#define BENCH_FRAMES 1024
#define BENCH_BYTES 1600

struct bench_state {
	__u64 round;   /* counts up */
	__u64 start;   /* where the frame starts in memory; 0: not known yet */
	__u32 frames;  /* of the map: one after the other */
	__u32 clients; /* one after the other; 0: frames as they are */
	__u8 address;  /* offset of the last two bytes of the source address */
	__u8 port;     /* offset of the source port */
	__u16 pad;
	__u32 pad2;
};

struct bench_frame {
	__u32 length;
	__u8 bytes[BENCH_BYTES];
};
