//! Load-balancing schemes as a switch would implement them: fixed-size state and step functions.
//!
//! | Scheme | Unit | Next hop selected by |
//! |---|---|---|
//! | [`Ecmp`] | flow | hash of the 5-tuple |
//! | [`EcmpNs2`] | flow | ns-2's hash of addresses and flow identifier |
//! | [`Spray`] | packet | random choice |
//! | [`Drill`] | packet | local queue lengths |
//! | [`LetItFlow`] | flowlet | random choice |
//! | [`Flowcut`] | flowcut: packets with no gap in what is in flight | local queue lengths |
//! | [`Conga`] | flowlet, at the source leaf | utilisation of each path, fed back by the destination leaf |
//! | [`CongaPrime`] | flowlet | as CONGA inside a pod, hash across pods |
//! | [`Hula`] | flowlet | utilisation of the best path, carried by probes |
//! | [`MpHula`] | flowlet | as HULA, but different from the connection's other MPTCP subflows |
//! | [`Shuttle`] | flowlet | random choice by present congestion, remote and own; subflows apart |
//! | [`Cflb`] | flow | the sender, by ports that encode the path; otherwise hash of the 5-tuple |
//!
//! [`entropy`] has the policies of hosts, which choose what plain ECMP hashes: random spraying,
//! FlowBender, PLB, REPS.
//!
//! Schemes have no clock, no I/O and no random generator: time, random bits and the state of the
//! switch's ports are arguments ([`Step`], [`Ports`]), so that a step can be replayed, ported to
//! eBPF or P4, and compared bit by bit. Arithmetic is unsigned and of fixed width. State is
//! allocated once, in [`Scheme::new`].
//!
//! # Example
//!
//! A HULA switch learns the best next hop from probes and forwards a flowlet to it:
//!
//! ```
//! use heddle_policy::{
//!     Header, Hula, HulaConfig, Ingress, Port, Ports, Probe, ProbeArrival, Scheme, Step,
//!     SwitchInfo, Tor, Util,
//! };
//!
//! /// Ports without load.
//! struct Idle;
//!
//! impl Ports for Idle {
//!     fn tx_util(&mut self, _: Port) -> Util {
//!         0
//!     }
//!     fn queue_bytes(&mut self, _: Port) -> u32 {
//!         0
//!     }
//!     fn is_up(&mut self, _: Port) -> bool {
//!         true
//!     }
//! }
//!
//! let config = HulaConfig { flowlet_slots: 1024, ..HulaConfig::default() };
//! let info = SwitchInfo { salt: 1, tor: None, ports: 4, tors: 2, same_pod: vec![] };
//! let mut switch = Hula::new(&config, &info);
//! for (port, util) in [(2, 90), (3, 20)] {
//!     let probe = Probe { tor: Tor(1), util };
//!     let arrival = ProbeArrival { port: Port(port), probe, is_next_hop: true };
//!     switch.probe(Step { now: 0, rnd: 0 }, &arrival, &mut Idle);
//! }
//! let mut packet = Header {
//!     flow_hash: 7,
//!     src_tor: Tor(0),
//!     dst_tor: Tor(1),
//!     ingress: Ingress::Fabric,
//!     tag: 0,
//!     shim: None,
//!     fields: None,
//! };
//! let next_hops = [Port(2), Port(3)];
//! let port = switch.forward(Step { now: 1, rnd: 0 }, &mut packet, &next_hops, &mut Idle);
//! assert_eq!(port, Port(3));
//! ```
#![no_std]

extern crate alloc;
#[cfg(any(feature = "schemars", feature = "serde"))]
extern crate std;

pub mod association;
mod best_hops;
pub mod cflb;
mod conga;
mod conga_prime;
mod counters;
mod digest;
mod dre;
mod drill;
mod ecmp;
mod ecmp_ns2;
pub mod entropy;
mod flowcut;
mod flowlet;
mod handshake;
mod hash;
mod hop_table;
mod hula;
mod letitflow;
pub mod mp_hula;
mod mptcp_config;
mod mptcp_tables;
mod segment;
mod shuttle;
mod spray;
mod subflows;

#[cfg(test)]
mod properties;
#[cfg(test)]
mod testing;

pub use cflb::Cflb;
pub use conga::{Conga, CongaConfig};
pub use conga_prime::{CongaPrime, CongaPrimeConfig, Detection};
pub use counters::{AssociationCounters, Counters};
pub use digest::{Digest, DigestState};
pub use dre::{Dre, DreShift, quantise};
pub use drill::{Drill, DrillConfig};
pub use ecmp::Ecmp;
pub use ecmp_ns2::{EcmpNs2, ns2_flow_hash};
pub use flowcut::{Flowcut, FlowcutConfig};
pub use flowlet::{Flowlet, FlowletTable};
pub use handshake::{Handshake, TcpFlags};
pub use hash::{mix, pick};
pub use heddle_wire::{MptcpId, Shim, Subflow};
pub use hula::{Hula, HulaConfig, Update};
pub use letitflow::{LetItFlow, LetItFlowConfig};
pub use mp_hula::{LongFlows, MpHula, MpHulaConfig, MpHulaRules};
pub use mptcp_config::MptcpTablesConfig;
pub use segment::{ReceiveWindow, Segment, SequenceNumbers};
pub use shuttle::{Shuttle, ShuttleChoice, ShuttleConfig, ShuttleRules, ShuttleSubflows};
pub use spray::Spray;

/// Slots of a flowlet table: 64 K (CONGA section 3.4).
const FLOWLET_SLOTS: u32 = 65_536;

/// Slots of a table for which `slots` are wanted: the next power of two, at most 2^31.
pub const fn table_size(slots: u32) -> u32 {
    match slots.checked_next_power_of_two() {
        Some(size) => size,
        None => 1 << 31,
    }
}

/// A switch's clock, in nanoseconds. It never wraps within a run.
pub type Nanos = u64;

/// Utilisation of a link as a fraction of 65536; a full link reads 65535.
pub type Util = u16;

/// A port of one switch, numbered from 0. A list of ports is a list of `u16`, as C has it.
#[repr(transparent)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Port(pub u16);

/// A top-of-rack switch (a leaf), numbered over the fabric from 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Tor(pub u16);

/// External inputs of a step: the time and 32 random bits.
///
/// `rnd` is meaningful only for schemes with [`Scheme::NEEDS_RANDOM`]; for the others it is 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// Time by the switch's own clock.
    pub now: Nanos,
    /// Random bits, uniform.
    pub rnd: u32,
}

/// Ingress side of a data packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ingress {
    /// From a host of this ToR.
    Host,
    /// From another switch.
    Fabric,
}

/// Fields of a data packet that a scheme reads and writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// Hash of the 5-tuple, the same at every switch; switches salt it with [`mix`]. Under
    /// [`EcmpNs2`] it is [`ns2_flow_hash`].
    pub flow_hash: u32,
    /// ToR of the sending host.
    pub src_tor: Tor,
    /// ToR of the receiving host.
    pub dst_tor: Tor,
    /// Ingress side.
    pub ingress: Ingress,
    /// 16 bits of overlay header that the scheme may write (CONGA's LBTag, CE and feedback). 0 from
    /// a host.
    pub tag: u16,
    /// MP-HULA's header between ToRs. `None` on links of hosts: a scheme adds it in
    /// [`Scheme::forward`] at the source ToR and removes it in [`Scheme::egress`] at the
    /// destination ToR.
    pub shim: Option<Shim>,
    /// Header fields that CFLB reads; set for schemes with [`Scheme::READS_FIELDS`] only.
    pub fields: Option<cflb::Fields>,
}

/// A utilisation probe (HULA section 4.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Probe {
    /// The ToR that originated it: the advertised destination.
    pub tor: Tor,
    /// Utilisation of the best path towards `tor`, in the scheme's own quantisation.
    pub util: u16,
}

/// A received probe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProbeArrival {
    /// Ingress port.
    pub port: Port,
    /// The probe as received.
    pub probe: Probe,
    /// True if `port` is one of the switch's up/down next hops towards the probe's ToR.
    ///
    /// Another port must never become a best hop, because data packets could loop.
    pub is_next_hop: bool,
}

/// State of a switch's own ports.
pub trait Ports {
    /// Transmit utilisation of `port` now, by the switch's estimator ([`Dre`]).
    fn tx_util(&mut self, port: Port) -> Util;
    /// Bytes waiting at `port`, the packet in transmission included.
    fn queue_bytes(&mut self, port: Port) -> u32;
    /// Link state of `port`, as local hardware detects it.
    fn is_up(&mut self, port: Port) -> bool;
}

/// Switch information from the control plane, constant during a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SwitchInfo {
    /// Salt for this switch's hashes. It must differ between switches, otherwise hashing polarises.
    pub salt: u32,
    /// Its number if it is a ToR.
    pub tor: Option<Tor>,
    /// Number of ports, those to hosts included.
    pub ports: u16,
    /// Number of ToRs in the fabric.
    pub tors: u16,
    /// For each ToR, true if it is in this switch's pod (reached without the top tier). Empty in a
    /// fabric without pods.
    pub same_pod: alloc::vec::Vec<bool>,
}

/// One switch running one scheme.
pub trait Scheme: Sized {
    /// The scheme's parameters, the same at every switch.
    type Config: Clone;

    /// True if steps need random bits.
    const NEEDS_RANDOM: bool = false;
    /// True if the scheme uses [`Ports::tx_util`]: the caller then runs a [`Dre`] for each port.
    const NEEDS_UTILISATION: bool = false;
    /// True if the scheme implements [`Scheme::handshake`]: the caller then parses TCP at the ToRs.
    const READS_HANDSHAKES: bool = false;
    /// True if the scheme implements [`Scheme::segment`]: the caller then reads TCP's sequence
    /// numbers at the ToRs.
    const READS_SEGMENTS: bool = false;
    /// True if the scheme writes [`Header::shim`], which adds bytes to packets.
    const USES_SHIM: bool = false;

    /// True if the scheme reads [`Header::fields`].
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

    /// Selects one of `next_hops` (never empty) for a data packet to another ToR.
    fn forward(
        &mut self,
        step: Step,
        packet: &mut Header,
        next_hops: &[Port],
        ports: &mut impl Ports,
    ) -> Port;

    /// Prediction of [`Scheme::forward`], if it is possible without a change of state. Callers may
    /// use it to prefetch memory; results must not depend on it.
    #[inline]
    fn predict(&self, flow_hash: u32, next_hops: &[Port]) -> Option<Port> {
        let _ = (flow_hash, next_hops);
        None
    }

    /// Handles a packet of a handshake or teardown at a ToR, before [`Scheme::forward`] or
    /// [`Scheme::egress`] of that packet: packets with SYN, FIN, RST or an MPTCP handshake option,
    /// from or to a host of this ToR.
    fn handshake(&mut self, step: Step, packet: &Handshake<'_>) {
        let _ = (step, packet);
    }

    /// Handles a TCP segment at its host's ToR, before [`Scheme::forward`] or [`Scheme::egress`] of
    /// that packet: data from a host of this ToR to another ToR, and acknowledgements of it.
    /// Returns the receive window with which an acknowledgement goes on.
    fn segment(&mut self, step: Step, segment: &Segment) -> ReceiveWindow {
        let _ = (step, segment);
        ReceiveWindow::Kept
    }

    /// Handles a data packet from the fabric at its destination ToR.
    fn egress(&mut self, step: Step, packet: &mut Header) {
        let _ = (step, packet);
    }

    /// The probe that a ToR sends on each uplink every [`Scheme::probe_period`].
    fn originate(&mut self, step: Step) -> Option<Probe> {
        let _ = step;
        None
    }

    /// Handles a received probe. `Some` is the probe to replicate to the caller's multicast group,
    /// `None` drops it.
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

    /// Counters so far.
    fn counters(&self) -> Counters {
        Counters::default()
    }
}
