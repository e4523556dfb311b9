/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/* Prepares CFLB's constants for the switch, in the kernel, so that user space needs no C: returns 0, or 1 for constants
 * that cannot be. */
#include "switch/cflb_prepare.h"
#include "switch/switch_maps.h"

ARRAY(cflb_constants, 1, struct cflb_constants);
ARRAY(cflb_prepared, 1, struct cflb);

SEC("xdp")
int heddle_cflb_prepare(struct xdp_md *frame)
{
	const struct cflb_constants *constants = bpf_map_lookup_elem(&cflb_constants, &(__u32){ 0 });
	struct cflb *prepared = bpf_map_lookup_elem(&cflb_prepared, &(__u32){ 0 });

	(void)frame;
	return !constants || !prepared || !cflb_prepare(constants, prepared);
}

char LICENSE[] SEC("license") = "GPL";
