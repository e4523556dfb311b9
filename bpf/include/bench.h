/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/* Parameters of the bench's wrapper (bench.bpf.c). */
#pragma once

#include <linux/types.h>

#define BENCH_FRAMES 1024
#define BENCH_BYTES 1600
#define BENCH_HEAD 60 /* bytes of a live frame that are written anew: the shortest frame */

struct bench_state {
	__u64 start; /* address of the frame in memory; 0: not known yet */
	__u32 frame; /* the next one: one after the other of `frames` in the map */
	__u32 frames;
	__u32 client;    /* the next one: one after the other of `clients` */
	__u32 clients;   /* 0: frames as they are */
	__u32 interface; /* to send to */
	__u8 address;    /* offset of the last two bytes of the source address */
	__u8 port;       /* offset of the source port */
	__u8 shuffled;   /* not 0: `clients` is a power of two, and they come in an order without pattern, each once a round */
	__u8 checksum;   /* offset of the IPv4 header's checksum; 0: there is none */
};

struct bench_frame {
	__u32 length;
	__u8 bytes[BENCH_BYTES];
};
