//! Every load-balancing scheme as a switch would hold it: fixed-size state and step functions.
//!
//! | Scheme | A next hop for each | chosen by |
//! |---|---|---|
//! | [`Ecmp`] | flow | hash of the 5-tuple |
//! | [`Spray`] | packet | chance |
//! | [`Drill`] | packet | the switch's own queues |
//! | [`LetItFlow`] | flowlet | chance |
//! | [`Conga`] | flowlet, at the source leaf | utilisation of each path, fed back by the destination leaf |
//! | [`CongaPrime`] | flowlet | as CONGA inside a pod, by hash across pods |
//! | [`Hula`] | flowlet | utilisation of the best path, carried by probes |
//! | [`MpHula`] | flowlet | as HULA, and away from the connection's other MPTCP subflows |
//! | [`Cflb`] | flow | its sender, by the ports that it picks; hash of the 5-tuple where it picked none |
//!
//! Nothing here has a clock, does I/O or draws randomness: time, random bits and what the switch can see of its ports
//! are arguments ([`Step`], [`Ports`]), so that a step can be replayed, ported to eBPF or P4, and compared bit by bit.
//! Arithmetic is unsigned and of fixed width. State is allocated once, when the switch is made.
#![no_std]

extern crate alloc;

pub mod association;
mod best_hops;
pub mod cflb;
mod conga;
mod conga_prime;
mod counters;
mod dre;
mod drill;
mod ecmp;
mod flowlet;
mod handshake;
mod hash;
mod hula;
mod letitflow;
pub mod mp_hula;
mod spray;
mod subflows;

#[cfg(test)]
mod properties;
#[cfg(test)]
mod testing;

pub use association::AssociationConfig;
pub use cflb::Cflb;
pub use conga::{Conga, CongaConfig};
pub use conga_prime::CongaPrime;
pub use counters::{AssociationCounters, Counters};
pub use dre::{Dre, DreShift, quantise};
pub use drill::{Drill, DrillConfig};
pub use ecmp::Ecmp;
pub use flowlet::{Flowlet, FlowletTable};
pub use handshake::{Handshake, TcpFlags};
pub use hash::{mix, pick};
pub use heddle_wire::{MptcpId, Shim, Subflow};
pub use hula::{Hula, HulaConfig, Update};
pub use letitflow::{LetItFlow, LetItFlowConfig};
pub use mp_hula::{LongFlows, MpHula, MpHulaConfig};
pub use spray::Spray;

/// A switch's clock, in nanoseconds. It never wraps within a run.
pub type Nanos = u64;

/// Utilisation of a link as a fraction of 65536; a full link reads 65535.
pub type Util = u16;

/// A port of one switch, numbered from 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Port(pub u16);

/// A top-of-rack switch (a leaf), numbered over the fabric from 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Tor(pub u16);

/// What one step is given from outside: the time and 32 random bits.
///
/// `rnd` is meaningful only for schemes with [`Scheme::NEEDS_RANDOM`]; for the others it is 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// Time by the switch's own clock.
    pub now: Nanos,
    /// Random bits, uniform.
    pub rnd: u32,
}

/// Where a data packet entered the switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ingress {
    /// From a host of this ToR.
    Host,
    /// From another switch.
    Fabric,
}

/// What a scheme reads and writes of a data packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// Hash of the 5-tuple, the same at every switch; switches salt it with [`mix`].
    pub flow_hash: u32,
    /// ToR of the sending host.
    pub src_tor: Tor,
    /// ToR of the receiving host.
    pub dst_tor: Tor,
    /// How it came in.
    pub ingress: Ingress,
    /// 16 bits of overlay header that the scheme may write (CONGA's LBTag, CE and feedback). 0 from a host.
    pub tag: u16,
    /// MP-HULA's header between ToRs. `None` from a host and to one: a scheme adds it in [`Scheme::forward`] at the source ToR
    /// and takes it away in [`Scheme::egress`] at the destination ToR.
    pub shim: Option<Shim>,
    /// What CFLB reads of IP and TCP; given to schemes with [`Scheme::READS_FIELDS`] only.
    pub fields: Option<cflb::Fields>,
}

/// A utilisation probe (HULA section 4.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Probe {
    /// The ToR it started from: the destination that it advertises.
    pub tor: Tor,
    /// Utilisation of the best path towards `tor`, in the scheme's own quantisation.
    pub util: u16,
}

/// How a probe came in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProbeArrival {
    /// The port it came in on.
    pub port: Port,
    /// The probe as it was on the wire.
    pub probe: Probe,
    /// Whether `port` is one of the switch's up/down next hops towards the probe's ToR.
    ///
    /// A port that is not must never become a best hop, or data packets could loop.
    pub is_next_hop: bool,
}

/// What a switch can see of its own ports while it decides.
pub trait Ports {
    /// Transmit utilisation of `port` now, by the switch's estimator ([`Dre`]).
    fn tx_util(&mut self, port: Port) -> Util;
    /// Bytes waiting at `port`, the packet in transmission included.
    fn queue_bytes(&mut self, port: Port) -> u32;
    /// Whether the link of `port` is up, as local hardware sees it.
    fn is_up(&mut self, port: Port) -> bool;
}

/// Where a switch stands in the fabric: what the control plane tells it once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SwitchInfo {
    /// Salt for this switch's hashes. Two switches have different ones, or hashing polarises.
    pub salt: u32,
    /// Its number if it is a ToR.
    pub tor: Option<Tor>,
    /// Number of ports, those to hosts included.
    pub ports: u16,
    /// Number of ToRs in the fabric.
    pub tors: u16,
    /// For each ToR, whether it is in this switch's pod (reached without the top tier). Empty where pods mean nothing.
    pub same_pod: alloc::vec::Vec<bool>,
}

/// One switch running one scheme.
pub trait Scheme: Sized {
    /// The scheme's parameters, the same at every switch.
    type Config: Clone;

    /// Whether steps need random bits.
    const NEEDS_RANDOM: bool = false;
    /// Whether [`Ports::tx_util`] is used: the caller then runs a [`Dre`] for each port.
    const NEEDS_UTILISATION: bool = false;
    /// Whether [`Scheme::handshake`] does anything: the caller then parses TCP at the ToRs.
    const READS_HANDSHAKES: bool = false;
    /// Whether the scheme writes [`Header::shim`], which costs bytes on the wire.
    const USES_SHIM: bool = false;

    /// Whether the scheme reads [`Header::fields`].
    const READS_FIELDS: bool = false;

    /// A switch with empty tables.
    fn new(config: &Self::Config, info: &SwitchInfo) -> Self;

    /// Time constant of the utilisation estimator; meaningful with [`Scheme::NEEDS_UTILISATION`].
    fn dre_shift(config: &Self::Config) -> DreShift {
        let _ = config;
        DreShift(0)
    }

    /// Time between two probes of a ToR, if the scheme has probes.
    fn probe_period(config: &Self::Config) -> Option<Nanos> {
        let _ = config;
        None
    }

    /// Chooses one of `next_hops` (never empty) for a data packet on its way to another ToR.
    fn forward(
        &mut self,
        step: Step,
        packet: &mut Header,
        next_hops: &[Port],
        ports: &mut impl Ports,
    ) -> Port;

    /// The port that [`Scheme::forward`] would choose, if that can be told without changing any state. A caller may ask
    /// ahead of time so that it can fetch the port's memory; nothing else may depend on it.
    #[inline]
    fn predict(&self, flow_hash: u32, next_hops: &[Port]) -> Option<Port> {
        let _ = (flow_hash, next_hops);
        None
    }

    /// Sees what a packet of a handshake or teardown tells a ToR, before [`Scheme::forward`] or [`Scheme::egress`] of that packet:
    /// packets with SYN, FIN, RST or an MPTCP handshake option, from a host of this ToR and to one.
    fn handshake(&mut self, step: Step, seen: &Handshake<'_>) {
        let _ = (step, seen);
    }

    /// Sees a data packet that came over the fabric and is leaving it at this, its destination ToR.
    fn egress(&mut self, step: Step, packet: &mut Header) {
        let _ = (step, packet);
    }

    /// The probe that a ToR sends on each uplink every [`Scheme::probe_period`].
    fn originate(&mut self, step: Step) -> Option<Probe> {
        let _ = step;
        None
    }

    /// Takes in a probe; `Some` is the probe to replicate (the multicast group is the caller's), `None` ends it here.
    fn probe(
        &mut self,
        step: Step,
        arrival: &ProbeArrival,
        ports: &mut impl Ports,
    ) -> Option<Probe> {
        let _ = (step, arrival, ports);
        None
    }

    /// Bytes of state this switch would hold in its tables.
    fn state_bytes(&self) -> usize;

    /// What has been counted so far.
    fn counters(&self) -> Counters {
        Counters::default()
    }
}
