//! Fabrics, failures and schemes.

use crate::bad_inputs::{refused, spoiled};

#[test]
fn fabrics_that_cannot_be_routed() {
    let shape = "kind = \"two-pod\"\nhosts_per_tor = 8\nhost_rate = \"10Gbps\"";
    refused(&[
        (
            "hosts_per_tor = 8",
            "failed = [\"core-1\", \"core-2\"]",
            "3: fabric: no path leads from tor-1 up and then down to tor-3\nhelp: leave links up that join all ToRs",
        ),
        (
            "hosts_per_tor = 8",
            "failed = [\"host-3 tor-1\"]",
            "3: fabric: host-3 has no link that is up",
        ),
        (
            "hosts_per_tor = 8",
            "failed = [\"core-3\"]",
            "5: fabric.failed.0: no node is called \"core-3\"\nhelp: did you mean `core-2`?",
        ),
        (
            "hosts_per_tor = 8",
            "failed = [\n\"core-2 agg-4\",\n\"tor-1 agg-4\"]",
            "7: fabric.failed.1: no link joins tor-1 and agg-4",
        ),
        (
            "hosts_per_tor = 8",
            "failed = [\"a b c d\"]",
            "5: fabric.failed.0: \"a b c d\" is neither a link nor a switch\nhelp: write a link as in \"core-2 agg-4\", a switch as in \"core-2\"",
        ),
        (
            "hosts_per_tor = 8",
            "failed = [\"core-2 agg-4 #1\"]",
            "5: fabric.failed.0: parallel links fail together from the start\nhelp: fail one of them by an [[event]] at \"0s\", with `convergence = \"0s\"`",
        ),
        (
            "hosts_per_tor = 8",
            "link = [{ between = \"core-2 agg-4\" }]",
            "5: fabric.link.0: nothing is changed\nhelp: give a `rate`, a `reverse_rate` or a `delay`",
        ),
        (
            "hosts_per_tor = 8",
            "link = [{ between = \"core-2 agg-4\", reverse_rate = \"0bps\" }]",
            "5: fabric.link.0.reverse_rate: 0bps is not a link's rate\nhelp: rates from 10Kbps to 100Tbps can be simulated",
        ),
        (
            "hosts_per_tor = 8",
            "link = [{ between = \"core-2 agg-4 #2\", rate = \"1Gbps\" }]",
            "5: fabric.link.0.between: there is no link #2 here\nhelp: the links between core-2 and agg-4 are #1 to #1",
        ),
        (
            shape,
            "kind = \"file\"\npath = \"ring.toml\"",
            "3: fabric: the link between a and b joins two nodes of tier 1\nhelp: packets go up and then down: give the nodes a `tier` so that each link joins a lower and a higher one, or write `routing = \"shortest\"` at the top of its file",
        ),
        (
            shape,
            "kind = \"file\"\npath = \"island.toml\"",
            "3: fabric: no path leads from a up and then down to b\nhelp: leave links up that join all ToRs",
        ),
        (
            shape,
            "kind = \"file\"\npath = \"nowhere.toml\"",
            "5: fabric.path: cannot read nowhere.toml: not found",
        ),
    ]);
    let twins = spoiled(shape, "kind = \"file\"\npath = \"twins.toml\"");
    assert_eq!(twins.to_string(), "twins.toml:4: node.1.name: two nodes are called \"a\"");
}

#[test]
fn events() {
    refused(&[
        (
            "at = \"40ms\"",
            "at = \"20ms\"",
            "25: event.1.at: 20ms is earlier than the event before, at 30ms\nhelp: list events in order of time",
        ),
        (
            "at = \"40ms\"",
            "at = \"100s\"",
            "25: event.1.at: 100s is not before `measure.time_limit`, 100s",
        ),
        (
            "fail = [\"core-2 agg-3\"]",
            "fail = [\"core-2 agg-9\"]",
            "23: event.0.fail.0: no node is called \"agg-9\"\nhelp: did you mean `agg-4`?",
        ),
        (
            "fail = [\"core-2 agg-3\"]",
            "fail = [\"core-2 tor-1\"]",
            "23: event.0.fail.0: no link joins core-2 and tor-1",
        ),
        (
            "recover = [\"core-2 agg-3\"]",
            "recover = [\"core-1 agg-3\"]",
            "26: event.1.recover.0: core-1 agg-3 is not down\nhelp: links that an event before it, or `fabric.failed`, takes down",
        ),
        (
            "recover = [\"core-2 agg-3\"]",
            "fail = [\"agg-3 core-2\"]",
            "26: event.1.fail.0: agg-3 core-2 is down already\nhelp: links that are up then, or an event before it with `recover`",
        ),
        (
            "recover = [\"core-2 agg-3\"]",
            "",
            "24: event.1: an event either fails, recovers, degrades or repairs something\nhelp: give one of `fail`, `recover`, `degrade` and `repair`, as in `fail = [\"core-2 agg-4\"]`",
        ),
    ]);
}

#[test]
fn interfaces() {
    let rate = "host_rate = \"10Gbps\"";
    let shape =
        "kind = \"two-pod\"\nhosts_per_tor = 8\nhost_rate = \"10Gbps\"\nlink_delay = \"1us\"";
    let two = "hosts_per_tor = 8\nhost_rate = \"10Gbps\"\nlink_delay = \"1us\"\n[transport]\nkind = \"tcp\"\n\
        control = \"newreno\"\n[scheme]\nkind = \"hula\"\nprobe_period = \"200us\"";
    let cflb = two.replace("kind = \"hula\"\nprobe_period = \"200us\"", "kind = \"cflb\"");
    let cflb = cflb.replace(rate, &format!("{rate}\ninterfaces = 2"));
    refused(&[
        (
            rate,
            "interfaces = 0",
            "6: fabric.interfaces: a host cannot have 0 interfaces\nhelp: from 1 to 16",
        ),
        (
            rate,
            "interfaces = 17",
            "6: fabric.interfaces: a host cannot have 17 interfaces\nhelp: from 1 to 16",
        ),
        (
            "hosts_per_tor = 8",
            "hosts_per_tor = 8000\ninterfaces = 3",
            "6: fabric.interfaces: 32000 hosts with 3 interfaces each are too many\nhelp: at most 65535 interfaces in all",
        ),
        (
            shape,
            "kind = \"bcube\"\nports = 4\nlevels = 1\ninterfaces = 2",
            "7: fabric.interfaces: the ports of BCube's servers are those of their relays\nhelp: `levels` gives their number",
        ),
        (
            two,
            &cflb,
            "13: scheme.kind: cflb places subflows on the paths of hosts with one interface\nhelp: `fabric.interfaces = 1` and `fabric.tors_per_host = 1`",
        ),
    ]);
}

#[test]
fn tors_of_a_host() {
    let rate = "host_rate = \"10Gbps\"";
    let shape =
        "kind = \"two-pod\"\nhosts_per_tor = 8\nhost_rate = \"10Gbps\"\nlink_delay = \"1us\"";
    let help = "help: a number that divides";
    refused(&[
        (
            rate,
            "tors_per_host = 0",
            "6: fabric.tors_per_host: a host cannot have 0 ToRs\nhelp: from 1 to 16",
        ),
        (
            rate,
            "tors_per_host = 4",
            &format!(
                "6: fabric.tors_per_host: 4 ToRs do not form groups of 4, each in one pod\n{help} that of the ToRs"
            ),
        ),
        (
            shape,
            "kind = \"leaf-spine\"\nleaves = 3\ntors_per_host = 2",
            &format!(
                "6: fabric.tors_per_host: 3 ToRs do not form groups of 2\n{help} that of the ToRs"
            ),
        ),
        (
            shape,
            "kind = \"leaf-spine\"\nleaves = 4\nspines = 3\nplanes = 2",
            &format!(
                "7: fabric.planes: 3 spines do not form 2 equal planes\n{help} those of leaves and spines"
            ),
        ),
        (
            shape,
            "kind = \"leaf-spine\"\nleaves = 2\nplanes = 2",
            "3: fabric: no path leads from leaf-1 up and then down to leaf-2\nhelp: leave links up that join all ToRs",
        ),
        (
            shape,
            "kind = \"bcube\"\nports = 4\nlevels = 1\ntors_per_host = 2",
            "7: fabric.tors_per_host: a server of a BCube has its relay alone\nhelp: leave it out; `levels` gives the number of a server's ports",
        ),
    ]);
}

#[test]
fn impairments() {
    let recover = "recover = [\"core-2 agg-3\"]";
    refused(&[
        (
            recover,
            "degrade = [\"core-2 agg-3\"]",
            "26: event.1.degrade: nothing says how\nhelp: with `rate`, `delay`, `loss` or `blackhole`, as in `loss = 0.001`",
        ),
        (
            recover,
            "degrade = [\"core-2 agg-3\"]\nloss = 1.5",
            "27: event.1.loss: 1.5 is not a share\nhelp: from 0 to 1, as in 0.001",
        ),
        (
            recover,
            "degrade = [\"core-2 agg-3\"]\nblackhole = -0.1",
            "27: event.1.blackhole: -0.1 is not a share\nhelp: from 0 to 1, as in 0.001",
        ),
        (
            recover,
            "degrade = [\"core-2 agg-3\"]\nrate = \"0bps\"",
            "27: event.1.rate: must be above 0bps\nhelp: `fail` takes a link down",
        ),
        (
            recover,
            "degrade = [\"core-2 agg-3\"]\nrate = \"400Gbps\"",
            "26: event.1.degrade: agg-3 core-2 has 40Gbps and 1us in the fabric\nhelp: a lower rate, a longer delay; `repair` gives back the fabric's",
        ),
        (
            recover,
            "degrade = [\"host-1 tor-1\"]\nrate = \"1Gbps\"",
            "26: event.1.degrade: host-1 tor-1 is a host's link: its rate and delay cannot change\nhelp: links between switches; `loss` and `blackhole` suit every link",
        ),
        (
            recover,
            "recover = [\"core-2 agg-3\"]\nloss = 0.1",
            "27: event.1.loss: only `degrade` takes this\nhelp: degrade = [\"core-2 agg-4\"]",
        ),
        (
            recover,
            "recover = [\"core-2 agg-3\"]\ndirection = \"forward\"",
            "27: event.1.direction: a link goes down and comes up in both directions\nhelp: only `degrade` and `repair` take it",
        ),
        (
            recover,
            "repair = [\"core-2 agg-9\"]",
            "26: event.1.repair.0: no node is called \"agg-9\"\nhelp: did you mean `agg-4`?",
        ),
    ]);
}

#[test]
fn buffers_and_marks() {
    let line = "hosts_per_tor = 8";
    refused(&[
        (
            line,
            "shared_buffer = { bytes = \"1KB\" }",
            "5: fabric.shared_buffer.bytes: 1KB does not hold one full packet of 1518B\nhelp: a larger buffer, or a smaller `transport.mss`",
        ),
        (
            line,
            "shared_buffer = { bytes = \"1MB\", alpha = 0.0 }",
            "5: fabric.shared_buffer.alpha: 0 is not a factor\nhelp: above 0 and up to 1024, as in 1.0",
        ),
        (
            line,
            "shared_buffer = { bytes = \"1MB\", alpha = nan }",
            "5: fabric.shared_buffer.alpha: NaN is not a factor\nhelp: above 0 and up to 1024, as in 1.0",
        ),
        (
            line,
            "shared_buffer = { bytes = \"1MB\" }\nport_buffer = \"100KB\"",
            "6: fabric.port_buffer: ports that share a buffer have none of their own\nhelp: leave it out, or `shared_buffer`; `port_packets` limits a port beside it",
        ),
        (
            line,
            "shared_buffer = { bytes = \"100KB\" }\nmark_above = \"50KB\"",
            "6: fabric.mark_above: 50KB is never reached: the buffer holds 50KB\nhelp: a larger buffer, or a smaller `mark_above`",
        ),
        (
            line,
            "priority_bytes = \"0KB\"",
            "5: fabric.priority_bytes: no flow has so few\nhelp: leave it out for ports with one queue",
        ),
        (
            line,
            "shared_buffer = { bytes = \"1MB\" }\npriority_bytes = \"100KB\"",
            "6: fabric.priority_bytes: `shared_buffer` is for ports with one queue\nhelp: one of them",
        ),
        (
            line,
            "shared_buffer = { bytes = \"1MB\" }\ncontrol_first = true",
            "5: fabric.shared_buffer: with `control_first` each queue of a port has its own buffer\nhelp: leave it out, or `control_first`",
        ),
        (
            line,
            "control_first = true\npriority_bytes = \"100KB\"",
            "6: fabric.priority_bytes: it sends control packets first already\nhelp: leave it out, or `control_first`",
        ),
        (
            line,
            "trim_above = \"100KB\"",
            "5: fabric.trim_above: headers need a queue that goes first\nhelp: `control_first = true`",
        ),
        (
            line,
            "control_first = true\ntrim_above = \"400KB\"",
            "6: fabric.trim_above: 400KB is never reached: the buffer holds 375KB\nhelp: at most `port_buffer`",
        ),
        (
            line,
            "control_first = true\ntrim_above = \"100KB\"",
            "6: fabric.trim_above: TCP does not understand headers without their payload\nhelp: `transport.kind = \"uet\"`",
        ),
        (
            line,
            "shared_buffer = { bytes = \"1MB\" }\nscale_buffers = \"10Gbps\"",
            "6: fabric.scale_buffers: ports that share a buffer have none of their own\nhelp: leave it out, or `shared_buffer`",
        ),
        (
            line,
            "scale_buffers = \"0bps\"",
            "5: fabric.scale_buffers: 0bps is not a link's rate\nhelp: rates from 10Kbps to 100Tbps can be simulated",
        ),
        (
            line,
            "port_buffer = \"10KB\"\nscale_buffers = \"100Gbps\"",
            "6: fabric.scale_buffers: 1KB does not hold one full packet of 1518B\nhelp: a larger buffer, or a smaller `transport.mss`",
        ),
        (
            line,
            "red = { min = \"30KB\", max = \"90KB\", on_departure = true }",
            "5: fabric.red.on_departure: ports with one queue mark on arrival\nhelp: `control_first = true`, or `priority_bytes`",
        ),
        (
            line,
            "shared_buffer = { bytes = \"1MB\" }\nred = { min = \"30KB\", max = \"90KB\", to_hosts = false }",
            "6: fabric.red.to_hosts: ports that share a buffer mark alike\nhelp: `to_hosts = true`, or `port_buffer`",
        ),
        (line, "red = { min = \"30KB\" }", "5: fabric.red.max: this key is missing"),
        (
            line,
            "red = { min = \"30KB\", max = \"90KB\" }\nmark_above = \"30KB\"",
            "5: fabric.red: RED marks by the average queue, `mark_above` by the queue\nhelp: one of them",
        ),
        (
            line,
            "red = { min = \"30KB\", max = \"20KB\" }",
            "5: fabric.red.min: 30KB is more than `max`, 20KB\nhelp: a smaller `min`, or a larger `max`",
        ),
        (
            line,
            "red = { min = \"30KB\", max = \"400KB\" }",
            "5: fabric.red.max: 400KB is never reached: the buffer holds 375KB\nhelp: a larger buffer, or a smaller `red.max`",
        ),
        (
            line,
            "red = { min = \"30KB\", max = \"90KB\", weight = 0.0 }",
            "5: fabric.red.weight: 0 is out of range\nhelp: above 0 and up to 1",
        ),
        (
            line,
            "red = { min = \"30KB\", max = \"90KB\", probability = 1.5 }",
            "5: fabric.red.probability: 1.5 is out of range\nhelp: above 0 and up to 1",
        ),
    ]);
}

#[test]
fn schemes_that_do_not_fit() {
    let scheme = "kind = \"hula\"\nprobe_period = \"200us\"";
    let leaf_spine =
        "kind = \"leaf-spine\"\n[transport]\nkind = \"tcp\"\n[scheme]\nkind = \"conga-prime\"";
    let middle = "kind = \"two-pod\"\nhosts_per_tor = 8\nhost_rate = \"10Gbps\"\nlink_delay = \"1us\"\n[transport]\n\
        kind = \"tcp\"\ncontrol = \"newreno\"\n[scheme]\nkind = \"hula\"\nprobe_period = \"200us\"";
    refused(&[
        (
            scheme,
            "kind = \"conga\"",
            "12: scheme.kind: conga is made for two tiers of switches; this fabric has 3\nhelp: \"conga-prime\" is CONGA inside pods and ECMP for each flowlet across them",
        ),
        (
            middle,
            leaf_spine,
            "8: scheme.kind: conga-prime needs to know the pod of each ToR; this fabric has no pods\nhelp: on two tiers of switches use \"conga\"",
        ),
        (
            scheme,
            "kind = \"conga-prime\"\nmetric_bits = 4",
            "13: scheme.metric_bits: 4 bits cannot be sent\nhelp: from 1 to 3",
        ),
        (
            scheme,
            "kind = \"drill\"\nsamples = 0",
            "13: scheme.samples: must be at least 1\nhelp: DRILL(2, 1) is `samples = 2`, `memory = 1`",
        ),
        (
            scheme,
            "kind = \"flowcut\"\ndrain_ratio = 1",
            "13: scheme.drain_ratio: 1 drains flows whose round-trip times are all but the least\nhelp: 0 for no drains, or from 2",
        ),
        (
            scheme,
            "kind = \"flowcut\"\nflow_slots = 0",
            "13: scheme.flow_slots: a table of flows cannot have 0 slots\nhelp: from 1 to 16777216",
        ),
        (
            scheme,
            "kind = \"flowcut\"\nlost_after = \"0s\"",
            "13: scheme.lost_after: must be longer than 0s",
        ),
        (
            scheme,
            "kind = \"shuttle\"\ndraws = 3",
            "13: scheme.draws: must be 1 or 2\nhelp: leave it out for 1",
        ),
        (
            scheme,
            "kind = \"shuttle\"\nfull_queue = \"0B\"",
            "13: scheme.full_queue: 0B is no queue of a port\nhelp: leave it out for 65536B",
        ),
        (
            scheme,
            "kind = \"shuttle\"\nbest_k = 0",
            "13: scheme.best_k: must be at least 1\nhelp: 1 is HULA",
        ),
        (
            scheme,
            "kind = \"letitflow\"\nflowlet_slots = 0",
            "13: scheme.flowlet_slots: a flowlet table cannot have 0 slots\nhelp: from 1 to 16777216",
        ),
        (
            "probe_period = \"200us\"",
            "util_bits = 0",
            "13: scheme.util_bits: 0 bits cannot be sent\nhelp: from 1 to 16",
        ),
        (
            "probe_period = \"200us\"",
            "util_bits = 17",
            "13: scheme.util_bits: 17 bits cannot be sent\nhelp: from 1 to 16",
        ),
        (
            "probe_period = \"200us\"",
            "probe_period = \"0s\"",
            "13: scheme.probe_period: must be longer than 0s",
        ),
        (
            "probe_period = \"200us\"",
            "probe_period = \"10000000s\"",
            "13: scheme.probe_period: 10000000s is too long\nhelp: at most 86400s",
        ),
        (
            "probe_period = \"200us\"",
            "fail_after = \"100us\"",
            "13: scheme.fail_after: 100us is less than a probe period, 200us: every entry would be stale\nhelp: leave it out for 3 probe periods",
        ),
    ]);
}
