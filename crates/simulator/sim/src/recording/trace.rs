//! The trace of a flow: its connection's senders, and the paths of its segments.

use std::collections::BTreeMap;

use heddle_fabric::Fabric;
use heddle_transport::{Connection, Kind, SenderCounters, SenderState};
use heddle_units::Time;

use super::TracePoint;
use crate::hosts::Hosts;
use crate::network::{PacketKind, Packets};

/// State of a trace.
pub(super) struct Trace {
    flow: u32,
    phase: Phase,
    /// Of each subflow.
    subflows: Vec<Subflow>,
    /// Ports crossed by the data segments that are on their way, by the packets' places in the
    /// slab.
    under_way: BTreeMap<u32, Vec<u32>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// The flow has not started.
    Waiting,
    /// It is on a connection: its place and its serial number.
    Running(u32, u32),
    /// The server has all of it.
    Finished,
}

#[derive(Default)]
struct Subflow {
    /// Last recorded, without what changes with every segment.
    recorded: Option<(u64, Option<u64>, Option<Time>, SenderCounters)>,
    path: Vec<String>,
    /// True if the path has changed since it was recorded.
    has_moved: bool,
}

impl Trace {
    pub(super) fn new(flow: u32) -> Trace {
        Trace { flow, phase: Phase::Waiting, subflows: Vec::new(), under_way: BTreeMap::new() }
    }

    /// Follows the data segments of the connection.
    pub(super) fn arrival(
        &mut self,
        (fabric, port): (&Fabric, u32),
        (packets, packet): (&Packets, u32),
    ) {
        let Phase::Running(id, generation) = self.phase else { return };
        let (hot, body) = (&packets.hot[packet as usize], &packets.body[packet as usize]);
        let is_data = hot.kind == PacketKind::Forward && body.segment.kind == Kind::Data;
        if hot.connection != id || body.generation != generation || !is_data {
            return;
        }
        let info = &fabric.ports[port as usize];
        let crossed = self.under_way.entry(packet).or_default();
        if port == u32::from(body.from) {
            crossed.clear();
        }
        crossed.push(port);
        // An interface has the number of its port.
        if info.peer == u32::from(hot.dst_host) {
            let ports = self.under_way.remove(&packet).unwrap_or_default();
            self.arrived(usize::from(body.path), &switches(fabric, &ports));
        }
    }

    fn arrived(&mut self, subflow: usize, path: &[String]) {
        let subflow = self.subflow(subflow);
        if subflow.path != path {
            subflow.path = path.to_vec();
            subflow.has_moved = true;
        }
    }

    fn subflow(&mut self, number: usize) -> &mut Subflow {
        while self.subflows.len() <= number {
            self.subflows.push(Subflow::default());
        }
        &mut self.subflows[number]
    }

    /// Passes on the senders that have changed. `started` is the number of flows that have started.
    pub(super) fn look_at(
        &mut self,
        now: Time,
        started: u64,
        hosts: &Hosts,
        changed: &mut dyn FnMut(&TracePoint<'_>),
    ) {
        if self.phase == Phase::Waiting && u64::from(self.flow) <= started {
            self.phase = hosts
                .connection_of(self.flow)
                .map_or(Phase::Finished, |(id, serial)| Phase::Running(id, serial));
        }
        let Phase::Running(id, generation) = self.phase else { return };
        for path in 0..Connection::paths(hosts.groups()) {
            let Some(state) = hosts.sender_state(id, path) else { continue };
            let subflow = self.subflow(path);
            let SenderState { cwnd, ssthresh, srtt, counters, .. } = state;
            let counters = SenderCounters { segments: 0, ..counters };
            let recorded = Some((cwnd, ssthresh, srtt, counters));
            if subflow.recorded != recorded || subflow.has_moved {
                (subflow.recorded, subflow.has_moved) = (recorded, false);
                changed(&TracePoint { at: now, subflow: path, state, path: &subflow.path });
            }
        }
        if !hosts.has_flow((id, generation), self.flow) {
            self.phase = Phase::Finished;
        }
    }
}

/// Names of the switches at the far ends of ports, the last of which leads to a host.
fn switches(fabric: &Fabric, ports: &[u32]) -> Vec<String> {
    let between = ports.iter().filter(|&&port| fabric.ports[port as usize].to >= fabric.hosts);
    between.map(|&port| far_end(fabric, port)).collect()
}

/// Name of the node at the far end of a port, with the number of its link among parallel ones.
fn far_end(fabric: &Fabric, port: u32) -> String {
    let info = &fabric.ports[port as usize];
    let name = &fabric.node(info.to).name;
    let numbered = |number| format!("{name}#{number}");
    fabric.parallel_number(info).map_or_else(|| name.clone(), numbered)
}
