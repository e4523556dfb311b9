/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/* The request to a scheme, as data: a decision is a function of its own, which the verifier looks at once, and which
 * calls the scheme's header. */
#pragma once

#include "switch/abi.h"

/* A data packet to another ToR. */
struct forward_request {
	__u64 now;
	__u64 up;
	__u32 flow_hash;
	__u16 dst_tor;
	__u8 from_host;
	__u8 pad;
	struct shim shim; /* on arrival; from the decision on, on departure */
	struct cflb_fields fields;
};

/* A probe. */
struct probe_request {
	__u64 now;
	struct probe_arrival arrival;
	struct probe_result result;
};
