//! Implementations under test, and the one in Rust.

use heddle_policy::cflb::CodecError;
use heddle_policy::{
    Counters, DigestState, Handshake, Port, Ports, Probe, ProbeArrival, Scheme, Step, TcpFlags,
    Tor, Util,
};

use crate::input::{Input, Packet, PortLoad, ProbeInput, Shim};
use crate::output::{Output, ProbeOutput};

/// An implementation of a scheme, as one switch.
pub trait Target {
    /// Handles a step.
    fn step(&mut self, now: u64, rnd: u32, input: &Input) -> Output;

    /// Digest of the state (`vectors/schemes/README.md`).
    fn digest(&self) -> u64;

    /// Counters so far.
    fn counters(&self) -> Counters;
}

/// Error of a configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error(pub String);

impl std::fmt::Display for Error {
    fn fmt(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        to.write_str(&self.0)
    }
}

impl std::error::Error for Error {}

impl From<CodecError> for Error {
    fn from(error: CodecError) -> Error {
        Error(error.to_string())
    }
}

/// A scheme with the best hops that a trace shows.
pub(crate) trait Shown: Scheme + DigestState {
    fn best(&self, tor: Tor) -> Vec<(Port, u16)> {
        let _ = tor;
        Vec::new()
    }
}

/// A switch in Rust.
pub(crate) struct Switch<S>(pub(crate) S);

impl<S: Shown> Switch<S> {
    fn forward(&mut self, step: Step, packet: &Packet) -> Output {
        let mut header = packet.header();
        let mut ports = StepPorts { link: None, load: &packet.load, down: &packet.down };
        let port = self.0.forward(step, &mut header, &packet.hops(), &mut ports);
        let tag = (header.tag != 0).then_some(header.tag);
        Output { port: Some(port.0), shim: header.shim.map(Shim::of), tag, ..Output::default() }
    }

    fn probe(&mut self, step: Step, probe: &ProbeInput) -> Output {
        let tor = Tor(probe.tor);
        let arrival = ProbeArrival {
            port: Port(probe.port),
            probe: Probe { tor, util: probe.util },
            is_next_hop: probe.next_hop,
        };
        let link = Some((Port(probe.port), probe.link_util));
        let mut ports = StepPorts { link, load: &probe.load, down: &[] };
        let forwarded = self.0.probe(step, &arrival, &mut ports);
        let best = self.0.best(tor).into_iter().map(|(port, util)| (port.0, util)).collect();
        Output { probe: forwarded.map(probe_output), best: Some(best), ..Output::default() }
    }
}

const fn probe_output(probe: Probe) -> ProbeOutput {
    ProbeOutput { tor: probe.tor.0, util: probe.util }
}

impl<S: Shown> Target for Switch<S> {
    fn step(&mut self, now: u64, rnd: u32, input: &Input) -> Output {
        let step = Step { now, rnd };
        match input {
            Input::Packet(packet) => self.forward(step, packet),
            Input::Egress(packet) => {
                let shim = packet.shim.and_then(Shim::policy);
                let src_tor = Tor(packet.src_tor);
                let mut header =
                    heddle_policy::Header { shim, src_tor, tag: packet.tag, ..blank().header() };
                self.0.egress(step, &mut header);
                Output { shim: header.shim.map(Shim::of), ..Output::default() }
            }
            Input::Handshake(packet) => {
                let seen = Handshake {
                    out_hash: packet.out_hash,
                    ingress: packet.from.policy(),
                    flags: TcpFlags(packet.flags),
                    options: &packet.options,
                };
                self.0.handshake(step, &seen);
                Output::default()
            }
            Input::Probe(probe) => self.probe(step, probe),
            Input::Originate(_) => {
                let probe = self.0.originate(step).map(probe_output);
                Output { probe, ..Output::default() }
            }
            Input::Sent(_) | Input::Utilisation(_) => Output::default(),
        }
    }

    fn digest(&self) -> u64 {
        self.0.digest()
    }

    fn counters(&self) -> Counters {
        self.0.counters()
    }
}

/// A packet from the fabric.
const fn blank() -> Packet {
    Packet {
        flow_hash: 0,
        dst_tor: 0,
        from: crate::input::Side::Fabric,
        next_hops: Vec::new(),
        down: Vec::new(),
        load: Vec::new(),
        shim: None,
        tag: 0,
        fields: None,
    }
}

/// The state of the switch's ports in one step.
struct StepPorts<'a> {
    /// Utilisation of the port by which a probe came.
    link: Option<(Port, Util)>,
    load: &'a [PortLoad],
    down: &'a [u16],
}

impl StepPorts<'_> {
    fn load(&self, port: Port) -> Option<PortLoad> {
        self.load.iter().copied().find(|load| load.0 == port.0)
    }
}

impl Ports for StepPorts<'_> {
    fn tx_util(&mut self, port: Port) -> Util {
        match self.link {
            Some((link, util)) if link == port => util,
            _ => self.load(port).map_or(0, |load| load.1),
        }
    }

    fn queue_bytes(&mut self, port: Port) -> u32 {
        self.load(port).map_or(0, |load| load.2)
    }

    fn is_up(&mut self, port: Port) -> bool {
        !self.down.contains(&port.0)
    }
}
