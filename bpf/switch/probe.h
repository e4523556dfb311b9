/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/* Probes of HULA, MP-HULA and Shuttle: 24 bits of ToR and 8 of utilisation behind ETHERTYPE_PROBE (heddle-wire's
 * probe), or behind IPv4 (HULA section 5.2), received and replicated as they came. */
#pragma once

#include "switch/forward.h"
#include "switch/meter.h"
#include "switch/visit.h"

#define PROBE_BYTES 4

/* True for a frame with a probe behind IPv4, without a tag, of a switch that takes such. */
static __always_inline bool is_ipv4_probe(const frame *frame, __be16 type, const struct switch_config *to)
{
	const struct iphdr *ip = frame_data(frame) + ETH_HLEN;

	if (!to->probe_protocol || type != bpf_htons(ETH_P_IP) || (void *)(ip + 1) > frame_end(frame))
		return false;
	return ip->protocol == to->probe_protocol && *(const __u8 *)ip == 0x45 && !(ip->frag_off & bpf_htons(0x3fff)) &&
	       bpf_ntohs(ip->tot_len) >= sizeof(*ip) + PROBE_BYTES;
}

static __always_inline __u8 *probe_at(const frame *frame, const struct visit *visit)
{
	__u8 *probe = network_at(frame, &visit->packet);

	return (void *)(probe + PROBE_BYTES) <= frame_end(frame) ? probe : NULL;
}

/* A utilisation that the probe's field can have; more is cut, and counted. */
static __always_inline __u16 clamp_util(__u16 util, const struct switch_config *to)
{
	__u16 most = quantise(FULL_UTIL, to->mp_hula.hula.util_bits);

	if (util <= most)
		return util;
	count_event(UTIL_CLAMPED);
	return most;
}

#ifdef HEDDLE_XDP
/* Replicas: to all switches but the one that it came from, or to those below. */
struct {
	__uint(type, BPF_MAP_TYPE_DEVMAP);
	__uint(max_entries, SWITCH_PORTS);
	__type(key, __u32);
	__type(value, __u32);
} probe_devices SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_DEVMAP);
	__uint(max_entries, SWITCH_PORTS);
	__type(key, __u32);
	__type(value, __u32);
} probe_devices_below SEC(".maps");

static __always_inline int replicate(frame *frame, const struct visit *visit, const struct switch_config *to, __u64 group)
{
	const __u64 flags = BPF_F_BROADCAST | BPF_F_EXCLUDE_INGRESS;
	const struct switch_port *from = get_port(visit->port);

	if (!from || write_macs(frame, from))
		return drop(frame, DROPPED_FAILED);
	count_in(&verdicts, PROBE_FORWARDED, frame_bytes(frame));
	for (__u32 number = 0; number < SWITCH_PORTS; number++) {
		const struct switch_port *port = group >> number & 1 ? get_port(number) : NULL;

		if (port)
			meter_sent(number, visit->now, frame_bytes(frame), to, port->full);
	}
	if (visit->role == ROLE_UP)
		return bpf_redirect_map(&probe_devices_below, 0, flags);
	return bpf_redirect_map(&probe_devices, 0, flags);
}
#else
static __always_inline void replicate_to(frame *frame, __u32 number)
{
	const struct switch_port *port = get_port(number);

	if (port && port->ifindex && !write_macs(frame, port))
		bpf_clone_redirect(frame, port->ifindex, 0);
}

static __always_inline int replicate(frame *frame, const struct visit *visit, const struct switch_config *to, __u64 group)
{
	(void)to;
	(void)visit;
	count_in(&verdicts, PROBE_FORWARDED, frame_bytes(frame));
	for (__u32 number = 0; number < SWITCH_PORTS; number++)
		if (group >> number & 1)
			replicate_to(frame, number);
	return FRAME_DROP;
}
#endif

/* The content of the probe, and whether its path is one that packets take. False: it has none. */
static __always_inline bool read_probe(const frame *frame, const struct visit *visit, const struct switch_config *to,
				       const struct switch_port *port, struct probe_arrival *arrival)
{
	const __u8 *probe = probe_at(frame, visit);
	const struct next_hops *hops;
	__u32 tor;

	if (!probe)
		return false;
	tor = (__u32)probe[0] << 16 | (__u32)probe[1] << 8 | probe[2];
	if (tor >= to->tors)
		return false;
	hops = get_next_hops(tor);
	arrival->port = visit->port;
	arrival->tor = tor;
	arrival->util = clamp_util(probe[3], to);
	arrival->link_util = meter_util(visit->port, visit->now, to->dre_shift, port->full);
	arrival->next_hop = hops && has_port(hops->set, visit->port);
	return true;
}

static __always_inline int on_probe(frame *frame, const struct visit *visit, const struct switch_config *to,
				    const struct switch_port *port)
{
	struct probe_request request = { .now = visit->now };
	__u8 *probe;

	if (visit->role == ROLE_HOST)
		return drop(frame, DROPPED_HOST_PROBE);
	if (!read_probe(frame, visit, to, port, &request.arrival))
		return drop(frame, DROPPED_BAD_PROBE);
	if (scheme_probe(&request))
		count_event(CONTENDED);
	if (!request.result.forward)
		return drop(frame, PROBE_TAKEN);
	probe = probe_at(frame, visit);
	if (!probe)
		return drop(frame, DROPPED_BAD_PROBE);
	probe[3] = request.result.util;
	return replicate(frame, visit, to, port->probe_group & to->up);
}
