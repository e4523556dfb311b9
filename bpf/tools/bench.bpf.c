/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/* Measures an XDP program by BPF_PROG_RUN with many rounds. There a program meets the frame as its last round left it,
 * so each round starts here: the frame is restored, at its place and length, made another client's if asked, and passed
 * on by a tail call. What this costs is measured too, with heddle_bench_nothing in the program's place. */
#include <linux/bpf.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

#include "common/checksum.h"
#include "include/bench.h"

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct bench_state);
} benches SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, BENCH_FRAMES);
	__type(key, __u32);
	__type(value, struct bench_frame);
} frames SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PROG_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} programs SEC(".maps");

/* Both helpers are always called, so that restoring costs the same whatever the last round did. */
static __always_inline int restore_place(struct xdp_md *ctx, struct bench_state *bench, __u32 length)
{
	__u64 start = ctx->data;

	if (!bench->start)
		bench->start = start;
	if (bpf_xdp_adjust_head(ctx, (int)(bench->start - start)))
		return -1;
	return bpf_xdp_adjust_tail(ctx, (int)(length - bpf_xdp_get_buff_len(ctx)));
}

static __always_inline __u32 next(__u32 index, __u32 end)
{
	index++;
	return index < end ? index : 0;
}

static __always_inline int restore(struct xdp_md *ctx, struct bench_state *bench)
{
	struct bench_frame *frame = bpf_map_lookup_elem(&frames, &bench->frame);
	__u32 length;

	if (!frame)
		return -1;
	bench->frame = next(bench->frame, bench->frames);
	length = frame->length;
	if (restore_place(ctx, bench, length))
		return -1;
	/* Hidden from the optimiser, which would drop what the verifier wants to see. */
	asm volatile("" : "+r"(length));
	if (length < 1 || length > BENCH_BYTES)
		return -1;
	return bpf_xdp_store_bytes(ctx, 0, frame->bytes, length);
}

/* One-to-one on the numbers below `clients`, a power of two: products with odd numbers, and sums with upper bits. */
static __always_inline __u32 shuffle(__u32 number, __u32 clients)
{
	__u32 mask = clients - 1;

	number = number * 0x9e3779b1 & mask;
	number ^= number >> 7;
	number = number * 0x85ebca6b & mask;
	number ^= number >> 9;
	return number * 0xc2b2ae35 & mask;
}

/* The header's checksum for another half of the source address (RFC 1624, equation 3). */
static __always_inline int correct(struct bench_state *bench, __u8 *data, __u8 *end, __u16 old, __u16 new)
{
	__u8 *check = data + bench->checksum;

	if (!bench->checksum)
		return 0;
	if (check + 2 > end)
		return -1;
	*(__u16 *)check = checksum_update(*(__u16 *)check, old, new);
	return 0;
}

/* Another client's: 2^15 ports of each address. TCP's and UDP's checksums are left wrong. */
static __always_inline int become_client(struct xdp_md *ctx, struct bench_state *bench)
{
	__u8 *data = (void *)(long)ctx->data, *end = (void *)(long)ctx->data_end;
	__u8 *address = data + bench->address, *port = data + bench->port;
	__u32 client = bench->shuffled ? shuffle(bench->client, bench->clients) : bench->client;

	if (!bench->clients)
		return 0;
	if (address + 2 > end || port + 2 > end)
		return -1;
	if (correct(bench, data, end, *(__be16 *)address, bpf_htons(client >> 15)))
		return -1;
	*(__be16 *)address = bpf_htons(client >> 15);
	*(__be16 *)port = bpf_htons(0x4000 + (client & 0x7fff));
	bench->client = next(bench->client, bench->clients);
	return 0;
}

SEC("xdp")
int heddle_bench(struct xdp_md *ctx)
{
	struct bench_state *bench = bpf_map_lookup_elem(&benches, &(__u32){ 0 });

	if (!bench || restore(ctx, bench) || become_client(ctx, bench))
		return XDP_ABORTED;
	bpf_tail_call(ctx, &programs, 0);
	return XDP_ABORTED;
}

SEC("xdp")
int heddle_bench_nothing(struct xdp_md *ctx)
{
	return XDP_TX;
}

/* The kernel makes a live frame once, and gives it out again as the program left it last time, which for one that was
 * sent on means with others' headers in front and at another place. So all of its head is written anew. */
static __always_inline int restore_head(struct xdp_md *ctx, struct bench_state *bench)
{
	struct bench_frame *frame = bpf_map_lookup_elem(&frames, &(__u32){ 0 });
	void *data = (void *)(long)ctx->data, *end = (void *)(long)ctx->data_end;

	if (!frame || data + BENCH_HEAD > end)
		return -1;
	__builtin_memcpy(data, frame->bytes, BENCH_HEAD);
	return 0;
}

/* Sends instead of measuring: for live frames, which the kernel makes. */
SEC("xdp")
int heddle_bench_send(struct xdp_md *ctx)
{
	struct bench_state *bench = bpf_map_lookup_elem(&benches, &(__u32){ 0 });

	if (!bench || restore_head(ctx, bench) || become_client(ctx, bench))
		return XDP_ABORTED;
	return bpf_redirect(bench->interface, 0);
}

char LICENSE[] SEC("license") = "GPL";
