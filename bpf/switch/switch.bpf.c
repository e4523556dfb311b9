/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/* A switch of a fabric: forwards IP packets by a scheme, and handles the scheme's probes.
 *
 * Compiled once for each scheme and hook (scheme.h, frame.h). For tc a program at each port's ingress forwards and one
 * at its egress measures; for XDP one program does both. */
#include "switch/switch.h"

char LICENSE[] SEC("license") = "GPL";

#ifdef HEDDLE_XDP
SEC("xdp")
int heddle_switch(struct xdp_md *frame)
{
	return handle(frame);
}
#else
SEC("classifier")
int heddle_switch(struct __sk_buff *frame)
{
	return handle(frame);
}

/* Counts and measures what leaves by a port and was not at ingress: probes, and what the machine itself sends. */
SEC("classifier")
int heddle_switch_egress(struct __sk_buff *frame)
{
	const struct switch_config *to = get_config();

	if (frame->tc_index == MEASURED)
		frame->tc_index = 0;
	else if (to)
		sent(port_of_interface(frame->ifindex), to, bpf_ktime_get_ns(), frame->len);
	return FRAME_PASS;
}

/* Sends the frame, a probe of this ToR, on each uplink. User space runs it (BPF_PROG_RUN) once in a probe period. */
SEC("classifier")
int heddle_switch_originate(struct __sk_buff *frame)
{
	const struct switch_config *to = get_config();

	if (!to)
		return 0;
	for (__u32 number = 0; number < SWITCH_PORTS; number++) {
		const struct switch_port *port = to->up >> number & 1 ? get_port(number) : NULL;

		if (port && port->role == ROLE_UP)
			replicate_to(frame, number);
	}
	return 0;
}
#endif
