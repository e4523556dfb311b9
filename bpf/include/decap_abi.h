/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/* Types that the backends' program shares with its loader. Addresses are as in abi.h. */
#pragma once

/* Outcome of a packet: one each, counted by processor in packets and bytes of the frame as it came. All but the last go
 * on to the machine's own stack. */
enum decap_counter {
	DECAP_OTHER,        /* no tunnel: as it came */
	DECAP_DECAPSULATED, /* without its outer headers */
	/* a tunnel's packet, but as it came */
	DECAP_NOT_OWN,     /* for an address that is not in `own` */
	DECAP_NOT_ALLOWED, /* from an address that is not in `allowed` */
	DECAP_FRAGMENT,    /* of an outer packet: an MTU on the path is too small */
	DECAP_MALFORMED,   /* a wrong checksum in front, or inside no IP packet of that length */
	/* dropped */
	DECAP_ECN_DROPPED, /* the network marked it, and the inner packet cannot say so (RFC 6040, 4.2) */
	DECAP_COUNTERS,
};
