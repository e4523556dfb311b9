/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/* Signing of what goes to other balancers, and the check of what comes from them. */
#pragma once

#include "balancer/decision.h"
#include "balancer/tag.h"
#include "common/outer.h"

static __always_inline bool is_heartbeat(const struct steering *message)
{
	return message->kind == STEER_HEARTBEAT || message->kind == STEER_HEARTBEAT_REPLY;
}

/* The tag of a message from `sender` about the packet in process, by one of the two keys; heartbeats are about none. */
__noinline __u64 message_tag(const struct packet_context *context, const struct steering *message, const struct address *sender,
			     __u32 which)
{
	struct tagged tagged;

	if (!context || !message || !sender)
		return 0;
	fill_tagged(&tagged, message, sender, is_heartbeat(message) ? NULL : &context->packet);
	return tag_of(settings.steering_keys[which & 1], &tagged);
}

/* This balancer's own address towards `target`. */
static __always_inline const struct address *own_address(const struct target *target)
{
	return is_ipv4(&target->address) ? &settings.own4 : &settings.own6;
}

static __always_inline void sign(const struct packet_context *context, const struct target *target, struct steering *message)
{
	__u64 tag = message_tag(context, message, own_address(target), 0);

	__builtin_memcpy(message->tag, &tag, sizeof(message->tag));
}

/* Without this a balancer that has no key would believe whoever signs with zeros. */
static __always_inline bool has_key(__u32 which)
{
	return settings.steering_keys[which & 1][0] | settings.steering_keys[which & 1][1];
}

/* True if context->sender has signed the message, with either key. */
static __always_inline bool is_signed(const struct packet_context *context, const struct steering *message)
{
	__u64 tag;

	__builtin_memcpy(&tag, message->tag, sizeof(tag));
	for (int which = 0; which < 2; which++) {
		if (has_key(which) && message_tag(context, message, &context->sender, which) == tag)
			return true;
	}
	return false;
}

static __always_inline void tell_of_peer(struct decision *decision, enum peer_news news)
{
	decision->peer_news = news;
	decision->writes |= WRITES_PEER;
}

/* True if the message is from context->peer. That it was heard, or refused, is noted. */
static __always_inline bool authenticate(const struct packet_context *context, const struct steering *message,
					 struct decision *decision)
{
	bool authentic = is_signed(context, message);

	tell_of_peer(decision, authentic ? PEER_HEARD : PEER_REFUSED);
	return authentic;
}
