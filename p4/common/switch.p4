/* SPDX-License-Identifier: Apache-2.0 */
/* The pipeline of any scheme. The scheme's own part stands in front of this file:
 *
 * control ConfigureScheme(metadata)      the scheme's settings
 * control Observe(headers, metadata)   a packet between a host of this ToR and another ToR's, before it is forwarded
 * control Forward(headers, metadata)   sets meta.port, or drops; adds a shim
 * control Deliver(headers, metadata)   a packet from the fabric at its destination ToR: removes the shim
 * control Probe(headers, metadata)     a probe whose path packets may take; meta.verdict is PROBE_FORWARDED if it goes on
 * control MeasureQueue(metadata, port, time, bytes)   with HAS_LOADS: a packet on its way to a port, before the port's estimator counts it */

control SwitchIngress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    counter(VERDICTS, CounterType.packets_and_bytes) verdicts;
    Configure() configure;
    ConfigureScheme() configure_scheme;
    Destination() destination;
    NextHops() next_hops;
    ReadFields() read_fields;
    FlowHash() flow_hash;
    Observe() observe;
    Forward() forward;
    Deliver() deliver;
    ReadMeter() read_meter;
    Probe() probe;
    CheckLength() check_length;
    Report() report;
#ifdef EXTERNAL_TOKENS
    TakeTokens() take_tokens;
    AskForTokens() ask_for_tokens;
#endif
    bit<1> known = 0;

    action drop(verdict_t verdict) {
        meta.verdict = verdict;
        meta.port = NO_PORT;
    }

    /* Equation 3 of RFC 1624, ~(~HC + ~m + m'): the word that the TTL shares with the protocol falls by 0x0100. */
    action decrement_ttl() {
        bit<17> sum = (bit<17>)(~hdr.ipv4.checksum) + 0xfeff;
        hdr.ipv4.checksum = ~(sum[15:0] + (bit<16>)sum[16:16]);
        hdr.ipv4.ttl = hdr.ipv4.ttl - 1;
        hdr.ipv6.hop_limit = hdr.ipv6.hop_limit - 1;
    }

    action begin() {
        meta.port = NO_PORT;
        meta.shimmed = hdr.shim.isValid() ? 1w1 : 1w0;
#ifdef TEST_INPUTS
        meta.now = hdr.test_input.now;
        meta.arrival = hdr.test_input.port;
#ifdef TEST_LOADS
        TEST_LOADS
#endif
#else
        meta.now = (bit<64>)standard.ingress_global_timestamp * 1000;
        meta.arrival = (bit<16>)standard.ingress_port;
#endif
    }

    apply {
        begin();
        configure.apply(meta);
        configure_scheme.apply(meta);
#ifdef EXTERNAL_TOKENS
        take_tokens.apply(hdr, meta);
#endif

        /* Is the packet one that goes on? Then `known` is set, and meta.tor is where it goes or whence it tells. */
        if (standard.parser_error != error.NoError) {
            drop(DROPPED_MALFORMED);
        } else if (meta.role == ROLE_NONE) {
            drop(DROPPED_NO_PORT);
#ifdef EXTERNAL_TOKENS
        } else if (hdr.tokens.isValid()) {
            drop(DROPPED_NOT_IP); /* the control plane has not sent it */
#endif
        } else if (hdr.probe.isValid()) {
            if (meta.role == ROLE_HOST) {
                drop(DROPPED_HOST_PROBE);
            } else if (meta.role == ROLE_CPU) {
                drop(PROBE_TAKEN);
                if (meta.is_tor == 1) {
                    hdr.probe.tor = meta.own_tor;
                    meta.probe_util = 0;
                    meta.verdict = PROBE_SENT;
                }
            } else {
                meta.tor = hdr.probe.tor;
                known = 1;
            }
        } else if (hdr.shim.isValid() && meta.role == ROLE_HOST) {
            drop(DROPPED_HOST_SHIM);
#ifdef HAS_SHIMS
        } else if (hdr.shim.isValid() && !hdr.ipv4.isValid() && !hdr.ipv6.isValid()) {
#else
        } else if (hdr.shim.isValid()) {
#endif
            drop(DROPPED_BAD_SHIM);
        } else if (!hdr.ipv4.isValid() && !hdr.ipv6.isValid()) {
            drop(DROPPED_NOT_IP);
        } else {
            meta.verdict = FORWARDED;
            read_fields.apply(hdr, meta);
            destination.apply(hdr, meta);
            if (meta.verdict == DROPPED_NO_ROUTE) {
                meta.port = NO_PORT;
#ifdef TEST_INPUTS
            } else if (meta.ttl <= 1 && hdr.test_input.any_ttl == 0) {
#else
            } else if (meta.ttl <= 1) {
#endif
                drop(DROPPED_TTL);
            } else {
                known = 1;
                flow_hash.apply(hdr, meta, meta.local);
            }
        }
#ifdef TEST_INPUTS
        meta.flow_hash = hdr.test_input.flow_hash;
#endif

        if (known == 1) {
            next_hops.apply(meta);
            if (hdr.probe.isValid()) {
                read_meter.apply(hdr, meta);
#ifdef TEST_INPUTS
                if (hdr.test_input.kind == TEST_UTILISATION || hdr.test_input.kind == TEST_SENT) {
                    meta.probe_util = meta.link_util;
                    drop(OBSERVED);
                } else
#endif
                {
                    drop(PROBE_TAKEN);
                    probe.apply(hdr, meta);
                }
            } else {
                if ((meta.role == ROLE_HOST && meta.local == 0) || (meta.role != ROLE_HOST && meta.local == 1)) {
                    observe.apply(hdr, meta);
                }
#ifdef EXTERNAL_TOKENS
                if (meta.verdict == ASKED) {
                    ask_for_tokens.apply(hdr, meta);
                } else if (meta.verdict == OBSERVED) {
                    drop(OBSERVED);
                } else
#endif
#ifdef TEST_INPUTS
                if (hdr.test_input.kind == TEST_HANDSHAKE) {
                    drop(OBSERVED);
                } else
#endif
                if (meta.local == 1) {
                    meta.verdict = DELIVERED;
                    deliver.apply(hdr, meta);
                } else if (meta.count == 0) {
                    drop(DROPPED_NO_ROUTE);
                } else {
                    forward.apply(hdr, meta);
                }
            }
        }

        if (meta.length > meta.mtu && meta.port != NO_PORT) {
            check_length.apply(meta);
        }
        if (meta.verdict == FORWARDED || meta.verdict == DELIVERED) {
            decrement_ttl();
        } else if (meta.verdict == DROPPED_TTL || meta.verdict == DROPPED_TOO_BIG) {
            report.apply(hdr, meta);
        }
        verdicts.count((bit<32>)meta.verdict);
#ifdef TEST_INPUTS
        hdr.test_output.setValid();
        hdr.test_output.port = meta.port;
        hdr.test_output.group = 0;
        hdr.test_output.verdict = meta.verdict;
        if (meta.verdict == PROBE_FORWARDED || meta.verdict == PROBE_SENT) {
            hdr.test_output.group = meta.probe_group;
        }
        hdr.test_output.util = meta.probe_util;
#ifdef EXTERNAL_TOKENS
        hdr.test_output.copied = (bit<8>)meta.scheme.copied;
#endif
#ifdef TEST_DECISION
        TEST_DECISION
#endif
        standard.egress_spec = standard.ingress_port;
#else
        if (meta.port != NO_PORT) {
            standard.egress_spec = (bit<9>)meta.port;
        } else if (meta.verdict == PROBE_FORWARDED || meta.verdict == PROBE_SENT) {
            hdr.probe.util = (bit<8>)meta.probe_util;
            standard.mcast_grp = meta.probe_group;
        } else {
            mark_to_drop(standard);
        }
#endif
    }
}

control SwitchEgress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    counter(SWITCH_PORTS, CounterType.packets_and_bytes) sent;
    Meter() port_meter;
#ifdef HAS_LOADS
    MeasureQueue() measure_queue;
#endif
#ifdef EXTERNAL_TOKENS
    AskForTokens() ask_for_tokens;
#endif

    action set_macs(bit<48> own, bit<48> peer) {
        hdr.ethernet.source = own;
        hdr.ethernet.destination = peer;
    }

    action keep_macs() {
    }

    table links {
        key = {
            standard.egress_port: exact;
        }
        actions = {
            set_macs;
            keep_macs;
        }
        default_action = keep_macs();
        size = 128;
    }

    apply {
        links.apply();
#ifdef EXTERNAL_TOKENS
        if (standard.instance_type == INGRESS_COPY) {
            ask_for_tokens.apply(hdr, meta);
        }
#endif
#ifdef TEST_INPUTS
        if (hdr.test_input.kind == TEST_SENT) {
#ifdef HAS_LOADS
            measure_queue.apply(meta, (bit<32>)hdr.test_input.port, hdr.test_input.now, hdr.test_input.bytes);
#endif
            port_meter.apply((bit<32>)hdr.test_input.port, hdr.test_input.now, hdr.test_input.bytes, meta.tau);
        }
        hdr.test_input.setInvalid();
#ifdef HAS_LOADS
        hdr.test_loads.setInvalid();
#endif
#else
        if (standard.egress_port < SWITCH_PORTS) {
            sent.count((bit<32>)standard.egress_port);
#ifdef HAS_LOADS
            measure_queue.apply(meta, (bit<32>)standard.egress_port, (bit<64>)standard.egress_global_timestamp * 1000, standard.packet_length);
#endif
            port_meter.apply((bit<32>)standard.egress_port, (bit<64>)standard.egress_global_timestamp * 1000, standard.packet_length, meta.tau);
        }
#endif
    }
}

V1Switch(SwitchParser(), NoChecksum(), SwitchIngress(), SwitchEgress(), NoChecksum(), SwitchDeparser()) main;
