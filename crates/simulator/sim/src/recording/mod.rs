//! Recording of details of a run while it runs: the frames that cross some links, the senders of
//! some flows, samples of ports, and flows that finish.
//!
//! Recording changes nothing that is simulated: a recorded run has the digest of one that is not. A
//! run without it pays one predictable branch for each event and each arrival.

mod frame;
mod trace;

use std::collections::BTreeMap;

use heddle_fabric::Fabric;
use heddle_scenario::{PortLimits, Scenario};
use heddle_transport::SenderState;
use heddle_units::Time;

use crate::hosts::Hosts;
use crate::network::Packets;
use crate::outcome::{FlowRecord, Samples};
pub use frame::Frame;
use frame::FrameBuilder;
use trace::Trace;

/// Recordings of a run, as asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recording {
    /// Captures: the links of each, as indices of the graph's, in both directions.
    pub captures: Vec<Vec<u32>>,
    /// Flows to trace, by their numbers in the run, from 1.
    pub traces: Vec<u32>,
}

/// State of a subflow's sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TracePoint<'a> {
    /// Time from the start of the run.
    pub at: Time,
    /// The subflow, from 0.
    pub subflow: usize,
    /// The sender.
    pub state: SenderState,
    /// The switches that the last data segment to arrive had crossed, in order; empty before the
    /// first. `#2` behind a name is the second of parallel links to that switch.
    pub path: &'a [String],
}

/// Receives what is recorded, in order of time.
pub trait Recorder {
    /// A frame has crossed a link of a capture, numbered as in [`Recording::captures`]. The time is
    /// that of its last bit at the far end.
    fn frame(&mut self, capture: usize, at: Time, frame: &Frame);

    /// A window, round-trip time, counter or path of a subflow of a traced flow has changed. The
    /// flow is numbered as in [`Recording::traces`].
    fn sender(&mut self, trace: usize, point: &TracePoint<'_>);

    /// Ports were sampled: the last row of `samples` is new. Most recorders need none of it.
    fn sampled(&mut self, samples: &Samples) {
        let _ = samples;
    }

    /// A measured flow has finished. Most recorders need none of it.
    fn finished(&mut self, flow: &FlowRecord) {
        let _ = flow;
    }
}

/// The recorder of a run, and what it records.
pub(crate) struct Observer<'a> {
    recorder: &'a mut dyn Recorder,
    /// Captures of each port.
    captures: BTreeMap<u32, Vec<usize>>,
    traces: Vec<Trace>,
    frames: FrameBuilder,
}

impl<'a> Observer<'a> {
    pub(crate) fn new(
        scenario: &Scenario,
        fabric: &Fabric,
        recording: &Recording,
        recorder: &'a mut dyn Recorder,
    ) -> Observer<'a> {
        let mut captures: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
        for (port, info) in (0..).zip(&fabric.ports) {
            let of_port = recording.captures.iter().enumerate();
            let of_port = of_port.filter(|(_, links)| links.contains(&info.link));
            let of_port: Vec<usize> = of_port.map(|(index, _)| index).collect();
            if !of_port.is_empty() {
                captures.insert(port, of_port);
            }
        }
        let marks = |limits: &PortLimits| limits.mark_above.is_some();
        let ecn = marks(&scenario.fabric.port) || marks(&scenario.fabric.host_port);
        let traces = recording.traces.iter().map(|&flow| Trace::new(flow)).collect();
        Observer { recorder, captures, traces, frames: FrameBuilder { ecn } }
    }

    /// Records a packet that has crossed the link of `port`.
    pub(crate) fn arrival(
        &mut self,
        now: Time,
        (fabric, port): (&Fabric, u32),
        (packets, packet): (&Packets, u32),
        hosts: &Hosts,
    ) {
        for trace in &mut self.traces {
            trace.arrival((fabric, port), (packets, packet));
        }
        let Some(captures) = self.captures.get(&port) else { return };
        let Some(frame) = self.frames.build((fabric, port), (packets, packet), hosts) else {
            return;
        };
        for &capture in captures {
            self.recorder.frame(capture, now, &frame);
        }
    }

    /// Passes on a new row of samples.
    pub(crate) fn sampled(&mut self, samples: &Samples) {
        self.recorder.sampled(samples);
    }

    /// Passes on a measured flow that has finished.
    pub(crate) fn finished(&mut self, flow: &FlowRecord) {
        self.recorder.finished(flow);
    }

    /// Records what an event has changed at the senders of traced flows.
    pub(crate) fn senders(&mut self, now: Time, started: u64, hosts: &Hosts) {
        for (index, trace) in self.traces.iter_mut().enumerate() {
            trace.look_at(now, started, hosts, &mut |point| self.recorder.sender(index, point));
        }
    }
}
