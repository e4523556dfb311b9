/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of the balancer's program that need no kernel, for the tests to call. */
#include "balancer/tag.h"
#include "common/native.h"
#include "common/options.h"
#include "common/packet.h"
#include "common/quic.h"
#include "common/sha1.h"
#include "common/sha256.h"
#include "common/siphash.h"

_Static_assert(sizeof(struct mptcp_found) == 20, "as src/balancer/native.rs has it");
_Static_assert(sizeof(struct packet) == 56, "as src/balancer/native.rs has it");

long bpf_xdp_load_bytes(struct xdp_md *ctx, __u32 offset, void *to, __u32 bytes)
{
	if ((__u64)offset + bytes > ctx->data_end - ctx->data)
		return -1;
	__builtin_memcpy(to, (const void *)(ctx->data + offset), bytes);
	return 0;
}

int balancer_parse(struct xdp_md *ctx, struct packet *out)
{
	return parse(ctx, out);
}

__u32 balancer_token_v0(const __u8 key[8])
{
	return token_v0(key);
}

__u32 balancer_token_v1(const __u8 key[8])
{
	return token_v1(key);
}

/* `packet`: what balancer_parse made of the frame behind the header; NULL: none is. */
__u64 balancer_tag(const __u64 key[2], const struct steering *message, const struct address *sender, const struct packet *packet)
{
	struct tagged tagged;

	fill_tagged(&tagged, message, sender, packet);
	return tag_of(key, &tagged);
}

__u64 balancer_siphash(const __u64 key[2], __u64 word)
{
	return siphash(key, word);
}

/* 1: the server id is in `out`; 0: there is none; -1: the frame is no UDP packet with its header. */
int balancer_server_id(struct xdp_md *ctx, __u32 rotation, __u32 length, __u64 out[2])
{
	struct packet packet;

	if (parse(ctx, &packet) != PARSED || packet.protocol != IPPROTO_UDP || packet.later_fragment)
		return -1;
	return read_server_id(ctx, &packet, rotation, length, out);
}
