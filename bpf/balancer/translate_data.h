/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/* Options of open subflows. The server's initial data sequence number follows from its key, so all numbers of its data
 * differ between client and kernel by the same amount; those of the client's data do not. */
#pragma once

#include "balancer/translate_keys.h"
#include "common/checksum.h"

#define DSS_ACK 0x01       /* A: an acknowledgement, */
#define DSS_ACK_64 0x02    /* a: of 8 bytes */
#define DSS_MAP 0x04       /* M: a mapping, */
#define DSS_MAP_64 0x08    /* m: whose data sequence number has 8 bytes */
#define ADD_ADDR_ECHO 0x01 /* version 1 */

/* The packet's subflow. Where the third packet was lost, that is a handshake still (version 0). */
static __always_inline struct subflow *subflow_of(struct work *work)
{
	struct subflow *subflow = bpf_map_lookup_elem(&subflows, &work->key);
	struct opening *opening;

	if (subflow)
		return subflow;
	opening = bpf_map_lookup_elem(&openings, &work->key);
	return opening && opening->answered.kind ? &opening->answered : NULL;
}

/* ---- DSS ---- */

static __always_inline __u32 ack_bytes(__u8 flags)
{
	return flags & DSS_ACK ? (flags & DSS_ACK_64 ? 8 : 4) : 0;
}

static __always_inline __u32 map_bytes(__u8 flags)
{
	return flags & DSS_MAP ? (flags & DSS_MAP_64 ? 14 : 10) : 0;
}

/* True if the flags give the option's length, except for a checksum. */
static __always_inline bool dss_fits(const __u8 *option)
{
	__u32 bytes = 4 + ack_bytes(option[3]) + map_bytes(option[3]);

	return option[1] == bytes || (option[3] & DSS_MAP && option[1] == bytes + 2);
}

/* The client acknowledges data of the server. */
static __always_inline void take_ack(struct work *work, __u8 *option, const struct translation *connection)
{
	__u64 shift = connection->kernel_start - connection->assigned_start;

	if (!(option[3] & DSS_ACK))
		return;
	if (option[3] & DSS_ACK_64)
		put64(option + 4, get64(option + 4) + shift);
	else
		put32(option + 4, get32(option + 4) + (__u32)shift);
	work->changed = true;
	note(work, TRANSLATE_RECEIVED);
}

/* The kernel's number in 64 bits, of which the packet may have 32: those above follow from the first number for the
 * first 4 GiB; behind them they are right modulo what a checksum sees, but where the number wraps. */
static __always_inline __u64 full_number(const __u8 *number, bool whole, const struct translation *connection)
{
	if (whole)
		return get64(number);
	return connection->kernel_start + (get32(number) - (__u32)connection->kernel_start);
}

/* The checksum covers the number in 64 bits (section 3.3.1). */
static __always_inline void update_checksum(__u8 *at, __u64 old, __u64 new)
{
	__u64 from = bpf_cpu_to_be64(old), to = bpf_cpu_to_be64(new);
	__u16 check;

	__builtin_memcpy(&check, at, sizeof(check));
	check = checksum((__u64)(__u16)~check + (__u32)~from + (__u32) ~(from >> 32) + (__u32)to + (__u32)(to >> 32));
	__builtin_memcpy(at, &check, sizeof(check));
}

/* The server's mapping. Behind its number are the subflow's number, a length, and a checksum if one was agreed on; a
 * length of 0 maps all that follows, and then the checksum is 0 (section 3.7). */
static __always_inline void give_mapping(struct work *work, __u8 *option, const struct translation *connection)
{
	bool whole = option[3] & DSS_MAP_64;
	__u32 place = 4 + ack_bytes(option[3]);
	__u8 *number = option + (place & 15);
	__u8 *length = number + (whole ? 12 : 8);
	__u64 old = full_number(number, whole, connection);
	__u64 new = old + (connection->assigned_start - connection->kernel_start);

	if (whole)
		put64(number, new);
	else
		put32(number, new);
	if (option[1] == place + map_bytes(option[3]) + 2 && (length[0] | length[1]))
		update_checksum(length + 2, old, new);
	work->changed = true;
	note(work, TRANSLATE_SENT);
}

__noinline int translate_dss(struct work *work, __u32 at)
{
	struct subflow *subflow;
	__u8 *option;

	if (!work)
		return 0;
	option = option_at(work, at);
	if (option[1] < 4 || !dss_fits(option)) {
		note(work, TRANSLATE_MALFORMED);
		return 0;
	}
	if (!(option[3] & (work->to_kernel ? DSS_ACK : DSS_MAP)))
		return 0;
	subflow = subflow_of(work);
	if (!subflow)
		return 0;
	if (work->to_kernel)
		take_ack(work, option, &subflow->connection);
	else
		give_mapping(work, option, &subflow->connection);
	return 0;
}

/* ---- ADD_ADDR ---- */

/* Bytes of address and port in an ADD_ADDR with an HMAC; 0: there is no such option. */
static __always_inline __u32 address_bytes(__u32 length)
{
	return length == 16 || length == 18 || length == 28 || length == 30 ? length - 12 : 0;
}

/* The HMAC of an ADD_ADDR (RFC 8684, section 3.4.1): of the identifier, the address, and the port, or zeros for it. */
static __always_inline void address_hmac(struct work *work, __u32 at, const __u8 sender[KEY_SIZE], const __u8 receiver[KEY_SIZE])
{
	const __u8 *option = option_at(work, at);
	__u32 bytes = address_bytes(option[1]);
	bool v6 = bytes >= 16, port = bytes == 6 || bytes == 18;

	set_keys(&work->hmac, sender, receiver);
	clear_message(&work->hmac, 1, v6 ? 19 : 7);
	__builtin_memcpy(work->hmac.message, option + 3, 5);
	if (v6)
		__builtin_memcpy(work->hmac.message + 5, option + 8, 12);
	if (port && v6)
		__builtin_memcpy(work->hmac.message + 17, option + 20, 2);
	else if (port)
		__builtin_memcpy(work->hmac.message + 5, option + 8, 2);
	hmac_compute(&work->hmac);
}

__noinline int translate_address(struct work *work, __u32 at)
{
	struct translation *connection;
	struct subflow *subflow;
	__u8 *option, *hmac;
	__u32 bytes;

	if (!work)
		return 0;
	option = option_at(work, at);
	bytes = address_bytes(option[1]);
	subflow = subflow_of(work);
	if (!bytes || option[2] & ADD_ADDR_ECHO || !subflow || subflow->connection.version != 1)
		return 0;
	connection = &subflow->connection;
	hmac = option + 4 + (bytes & 31);
	if (work->to_kernel) {
		address_hmac(work, at, connection->client, connection->assigned);
		if (differs(&work->hmac, 6, hmac) | differs(&work->hmac, 7, hmac + 4)) {
			note(work, TRANSLATE_HMAC_WRONG);
			return 0;
		}
		address_hmac(work, at, connection->client, connection->kernel);
	} else {
		address_hmac(work, at, connection->assigned, connection->client);
	}
	put32(hmac, work->hmac.digest.words[6]);
	put32(hmac + 4, work->hmac.digest.words[7]);
	work->changed = true;
	note(work, TRANSLATE_ADDRESSES);
	return 0;
}

/* ---- the end, and its failures ---- */

/* The client closes the connection at once, and names it by the server's key. */
__noinline int take_fast_close(struct work *work, __u32 at)
{
	struct subflow *subflow;
	__u8 *option;

	if (!work)
		return 0;
	option = option_at(work, at);
	subflow = subflow_of(work);
	if (option[1] != 12 || !subflow || !same_key(option + 4, subflow->connection.assigned))
		return 0;
	put_key(work, option + 4, subflow->connection.kernel);
	note(work, TRANSLATE_FAST_CLOSES);
	return 0;
}

/* A checksum of the server's data was wrong: from this number on. The server's own MP_FAIL has a number of the client's
 * data. */
__noinline int take_failure(struct work *work, __u32 at)
{
	struct subflow *subflow;
	__u8 *option;

	if (!work)
		return 0;
	option = option_at(work, at);
	subflow = subflow_of(work);
	if (option[1] != 12 || !subflow)
		return 0;
	put64(option + 4, get64(option + 4) + (subflow->connection.kernel_start - subflow->connection.assigned_start));
	work->changed = true;
	note(work, TRANSLATE_FAILURES);
	return 0;
}
