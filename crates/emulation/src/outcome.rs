//! Results of a run, in the simulator's form, and what only a real kernel has to say.

use std::collections::BTreeMap;
use std::fs;

use heddle_fabric::Routes;
use heddle_lab::LabError;
use heddle_sim::{
    FlowRecord, LongFlow, Outcome, PathUse, Samples, Totals, UnfinishedFlow, ideal_fct,
};
use heddle_units::{Bytes, Time};
use serde::Serialize;

use crate::EmulationError;
use crate::hosts::Hosts;
use crate::network::Network;
use crate::plane::PlaneCounters;
use crate::postcards::Paths;
use crate::sampler::PortTotals;

/// The addition of a run on real kernels to a simulation's results.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Facts {
    /// Flows whose bytes were not as sent.
    pub corrupt: u64,
    /// Flows whose connection broke.
    pub broken: u64,
    /// The first error of a broken connection.
    pub first_error: Option<String>,
    /// Median time by which a host started a flow late, in seconds. It counts in completion times.
    pub late_median: f64,
    /// 99th percentile of the same.
    pub late_p99: f64,
    /// The part of the run in which the machine's processors were busy, with whatever the machine
    /// ran; 0 to 1.
    pub processors_busy: f64,
    /// Measured flows by the number of subflows of their connection that had carried bytes when the
    /// receiver confirmed the flow; empty with TCP. Flows that the run ends before are in none.
    pub subflows: BTreeMap<usize, u64>,
}

/// The part of a run from which on its times are those of a machine that is too slow.
const TOO_BUSY: f64 = 0.95;

impl Facts {
    /// The reasons for which a run's figures must not be taken for the scheme's, a sentence each.
    pub fn warnings(&self) -> Vec<String> {
        let busy = (self.processors_busy >= TOO_BUSY).then(|| {
            format!(
                "the machine's processors were busy for {:.0} % of the run: its times are the machine's; lower the rates (--rate-scale), or let nothing else run",
                self.processors_busy * 100.0
            )
        });
        let corrupt = (self.corrupt > 0)
            .then(|| format!("{} of the flows arrived with wrong bytes", self.corrupt));
        let broken = (self.broken > 0).then(|| {
            let first = self.first_error.as_deref().unwrap_or("unknown");
            format!("{} of the connections broke; the first: {first}", self.broken)
        });
        [busy, corrupt, broken].into_iter().flatten().collect()
    }
}

/// Results of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct LabOutcome {
    /// In the simulator's form. There is no digest of events.
    pub outcome: Outcome,
    /// The rest.
    pub facts: Facts,
    /// The monotonic clock at time 0, in nanoseconds.
    pub start: u64,
    /// Paths of flows, if packets had postcards.
    pub paths: Option<Paths>,
    /// Links that failed during the run, and the monotonic clock when they did.
    pub cuts: Vec<(u32, u64)>,
}

/// A flow that has arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Finished {
    pub(crate) id: u32,
    pub(crate) start: Time,
    pub(crate) from: u32,
    pub(crate) to: u32,
    pub(crate) size: Bytes,
    pub(crate) fct: Time,
}

/// The run's own counters.
#[derive(Clone, Debug, Default)]
pub(crate) struct Counted {
    pub(crate) started: u64,
    pub(crate) end: Time,
    pub(crate) window: Time,
    pub(crate) delivered: u64,
    pub(crate) delivered_in_window: u64,
    pub(crate) unfinished: Vec<UnfinishedFlow>,
    pub(crate) long_flows: Vec<LongFlow>,
    pub(crate) path_use: Option<PathUse>,
}

pub(crate) fn outcome(
    network: &Network,
    routes: &Routes,
    flows: &[Finished],
    counted: Counted,
    tcp: TcpCounters,
    (samples, ports): (Samples, PortTotals),
    plane: PlaneCounters,
) -> Outcome {
    let record = |flow: &Finished| {
        let ends = (flow.from, flow.to);
        let (fabric, transport) = (&network.fabric, &network.scenario.transport);
        let connections = network.scenario.workload.connections(0);
        FlowRecord {
            id: flow.id,
            index: 0,
            workload: 0,
            start: flow.start,
            from: flow.from,
            to: flow.to,
            size: flow.size,
            fct: flow.fct,
            ideal_fct: ideal_fct(fabric, routes, transport, connections, ends, flow.size),
        }
    };
    let totals = Totals {
        simulated: counted.end,
        packet_hops: ports.hops,
        flows_started: counted.started,
        measured: (flows.len() + counted.unfinished.len()) as u64,
        unfinished: counted.unfinished.len() as u64,
        delivered: Bytes(counted.delivered),
        delivered_in_window: Bytes(counted.delivered_in_window),
        window: counted.window,
        segments: tcp.segments,
        retransmitted: tcp.retransmitted,
        timeouts: tcp.timeouts,
        fast_recoveries: tcp.fast_recoveries,
        reordered: tcp.out_of_order,
        dropped: ports.drops.iter().map(|port| port.dropped).sum(),
        lost_to_failures: ports.lost_to_failures,
        probes_sent: plane.probes,
        probe_bytes: Bytes(plane.probe_bytes),
        ..Totals::default()
    };
    Outcome {
        flows: flows.iter().map(record).collect(),
        unfinished: counted.unfinished,
        long_flows: counted.long_flows,
        requests: Vec::new(),
        samples,
        totals,
        scheme: plane.scheme,
        path_use: counted.path_use,
        port_counters: ports.drops,
        digest: 0,
    }
}

/// Counters of the hosts' TCP, summed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct TcpCounters {
    /// Segments sent, acknowledgements among them.
    pub(crate) segments: u64,
    pub(crate) retransmitted: u64,
    pub(crate) timeouts: u64,
    pub(crate) fast_recoveries: u64,
    /// Segments that waited for an earlier one.
    pub(crate) out_of_order: u64,
}

impl TcpCounters {
    /// Reads the counters of all hosts.
    pub(crate) fn read(network: &Network, hosts: &Hosts) -> Result<TcpCounters, EmulationError> {
        let mut sum = TcpCounters::default();
        for host in network.hosts() {
            let read = |file: &str| {
                let path = format!("/proc/{}/net/{file}", hosts.id(host));
                fs::read_to_string(&path).map_err(EmulationError::system(path))
            };
            let named = parse(&(read("snmp")? + &read("netstat")?));
            let counter = |name: &str| {
                let missing = || {
                    let file = format!("snmp and netstat of /proc/{}/net", hosts.id(host));
                    LabError::unreadable(file, name, format!("{named:?}"))
                };
                named.get(name).copied().ok_or_else(missing)
            };
            sum.segments += counter("Tcp.OutSegs")?;
            sum.retransmitted += counter("Tcp.RetransSegs")?;
            sum.timeouts += counter("TcpExt.TCPTimeouts")?;
            sum.fast_recoveries +=
                counter("TcpExt.TCPSackRecovery")? + counter("TcpExt.TCPRenoRecovery")?;
            sum.out_of_order += counter("TcpExt.TCPOFOQueue")?;
        }
        Ok(sum)
    }
}

impl TcpCounters {
    /// The counts since an earlier reading.
    pub(crate) fn since(self, before: TcpCounters) -> TcpCounters {
        TcpCounters {
            segments: self.segments - before.segments,
            retransmitted: self.retransmitted - before.retransmitted,
            timeouts: self.timeouts - before.timeouts,
            fast_recoveries: self.fast_recoveries - before.fast_recoveries,
            out_of_order: self.out_of_order - before.out_of_order,
        }
    }
}

/// The pairs of lines of `/proc/net/snmp` and `netstat`: names, then values, both behind a group's
/// name.
fn parse(text: &str) -> BTreeMap<String, u64> {
    let lines: Vec<&str> = text.lines().collect();
    let pairs = lines.chunks_exact(2).filter_map(|pair| {
        let (group, names) = pair[0].split_once(':')?;
        let (_, values) = pair[1].split_once(':')?;
        Some((group, names, values))
    });
    let named = pairs.flat_map(|(group, names, values)| {
        let both = names.split_whitespace().zip(values.split_whitespace());
        both.map(move |(name, value)| (format!("{group}.{name}"), value))
    });
    named.filter_map(|(name, value)| Some((name, value.parse().ok()?))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_spoils_a_run_is_said() {
        assert_eq!(Facts { processors_busy: 0.94, ..Facts::default() }.warnings(), [""; 0]);
        let facts = Facts {
            processors_busy: 0.987,
            corrupt: 1,
            broken: 2,
            first_error: Some("reset".into()),
            ..Facts::default()
        };
        let warnings = facts.warnings();
        assert!(warnings[0].contains("busy for 99 % of the run"), "{warnings:?}");
        assert_eq!(warnings[1], "1 of the flows arrived with wrong bytes");
        assert_eq!(warnings[2], "2 of the connections broke; the first: reset");
    }

    #[test]
    fn counters_have_the_names_of_the_line_above() {
        let text =
            "Tcp: MaxConn OutSegs RetransSegs\nTcp: -1 70 3\nTcpExt: TCPTimeouts\nTcpExt: 2\n";
        let named = parse(text);
        assert_eq!(named["Tcp.OutSegs"], 70);
        assert_eq!(named["Tcp.RetransSegs"], 3);
        assert_eq!(named["TcpExt.TCPTimeouts"], 2);
        assert!(!named.contains_key("Tcp.MaxConn"), "-1 is no count");
    }
}
