//! The types of `include/heddle_scheme.h`, in its order. `tests/header.rs` holds each size and
//! offset against it.
#![allow(unsafe_code, reason = "a table of pointers is shared by threads")]

use core::ffi::{c_char, c_void};

/// Time and random bits of a step.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Step {
    /// Time by the switch's clock, in nanoseconds.
    pub now: u64,
    /// Uniform random bits under [`NEEDS_RANDOM`], otherwise 0.
    pub random: u32,
}

/// A switch, from the control plane.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Switch {
    /// Salt for this switch's hashes.
    pub salt: u32,
    /// Its number if it is a ToR, otherwise -1.
    pub tor: i32,
    /// Number of ports, those to hosts included.
    pub ports: u16,
    /// Number of ToRs in the fabric, and of elements of `same_pod`.
    pub tors: u16,
    /// For each ToR, 1 if it is in this switch's pod, otherwise 0. Null in a fabric without pods.
    pub same_pod: *const u8,
}

/// Fields of a data packet that a scheme reads, and writes where it says so.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Packet {
    /// Hash of the 5-tuple, the same at every switch.
    pub flow_hash: u32,
    /// ToR of the sending host.
    pub src_tor: u16,
    /// ToR of the receiving host.
    pub dst_tor: u16,
    /// 16 bits of overlay header; the scheme may write them. 0 from a host.
    pub tag: u16,
    /// 1 from a host of this ToR, 0 from another switch.
    pub from_host: u8,
    /// Subflow in MP-HULA's shim, 1 to 16; 0 without a shim. Written under [`USES_SHIM`].
    pub subflow: u8,
    /// Connection in the shim. Written under [`USES_SHIM`].
    pub connection: u64,
}

/// A probe.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Probe {
    /// The ToR that originated it.
    pub tor: u16,
    /// The scheme's own figure: a utilisation.
    pub util: u16,
}

/// A received probe.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProbeArrival {
    /// Ingress port.
    pub port: u16,
    /// The probe as received.
    pub probe: Probe,
    /// 1 if the port is a next hop towards the probe's ToR, otherwise 0: no packet for that ToR may
    /// leave by it.
    pub is_next_hop: u8,
}

/// A TCP packet with SYN, FIN, RST or an MPTCP handshake option, at a ToR of either end.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Handshake {
    /// Hash of the 5-tuple in the direction from the ToR's host.
    pub out_hash: u32,
    /// 1 from the ToR's host, 0 to it.
    pub from_host: u8,
    /// TCP flags, as in byte 13 of the header.
    pub flags: u8,
    /// Bytes of `options`, at most 40.
    pub options_size: u16,
    /// The option area of the TCP header.
    pub options: *const u8,
}

/// A switch's own ports, for the time of one call.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Ports {
    /// First argument of the functions.
    pub context: *mut c_void,
    /// Transmit utilisation as a fraction of 65536, under [`NEEDS_UTILISATION`].
    pub tx_util: unsafe extern "C" fn(*mut c_void, u16) -> u16,
    /// Bytes waiting, the packet in transmission included.
    pub queue_bytes: unsafe extern "C" fn(*mut c_void, u16) -> u32,
    /// 1 if the link is up, otherwise 0.
    pub is_up: unsafe extern "C" fn(*mut c_void, u16) -> u8,
}

/// A parameter of a scenario, `[scheme.parameters]`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Parameter {
    /// Its name, ending with a zero byte.
    pub name: *const c_char,
    /// A number; nanoseconds, bytes or bits per second if the scenario has a quantity; 0 or 1 if it
    /// has false or true.
    pub value: u64,
}

/// Bytes of [`Setup::error`], the zero byte at its end included.
pub const ERROR_SIZE: usize = 256;

/// Results of [`Table::configure`].
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Setup {
    /// Passed to [`Table::create`] and [`Table::release`].
    pub config: *mut c_void,
    /// Time constant of the utilisation estimator in nanoseconds, rounded up to a power of two;
    /// under [`NEEDS_UTILISATION`].
    pub tau: u64,
    /// Time between two probes of a ToR in nanoseconds; 0 without probes.
    pub probe_period: u64,
    /// The reason for which the parameters are refused, ending with a zero byte.
    pub error: [c_char; ERROR_SIZE],
}

/// Events that a scheme counts.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Flowlets started.
    pub flowlets: u64,
    /// Flowlets whose port differs from that of the previous flowlet in the same slot.
    pub moves: u64,
    /// Flowlets assigned by the ECMP hash because no best hop was usable.
    pub fallbacks: u64,
    /// Probes received.
    pub probes: u64,
    /// Packets with a shim added.
    pub shims: u64,
    /// Flowlets of subflows that share their hop with another subflow of the connection.
    pub shared: u64,
    /// Connections associated.
    pub connections: u64,
    /// Further subflows associated.
    pub joins: u64,
    /// `MP_JOIN`s rejected because their token is unknown.
    pub unknown_tokens: u64,
    /// Connections rejected because one of their tokens belongs to another connection.
    pub token_collisions: u64,
    /// Keys, connections and joins rejected because a table had no free slot.
    pub table_collisions: u64,
    /// Restarts of subflow numbers at 2.
    pub wraps: u64,
}

/// [`Table::needs`]: steps need random bits.
pub const NEEDS_RANDOM: u32 = 1;
/// [`Table::needs`]: the scheme reads [`Ports::tx_util`].
pub const NEEDS_UTILISATION: u32 = 1 << 1;
/// [`Table::needs`]: the scheme writes [`Packet::subflow`] and [`Packet::connection`], a shim of 12 bytes between ToRs.
pub const USES_SHIM: u32 = 1 << 2;

/// A scheme as its functions: what `heddle_scheme()` of a shared library returns.
///
/// `abi` and `name` have their place in every version. A function without a note "may be null" must
/// be there.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Table {
    /// [`crate::VERSION`].
    pub abi: u32,
    /// Sum of [`NEEDS_RANDOM`] and its like.
    pub needs: u32,
    /// Its name in tables and reports, ending with a zero byte.
    pub name: *const c_char,
    /// Checks parameters, once for each run. Not 0: `error` says why they are refused. May be null:
    /// the scheme has no parameters.
    pub configure:
        Option<unsafe extern "C" fn(*const Table, *const Parameter, usize, *mut Setup) -> i32>,
    /// Frees what [`Table::configure`] has made. May be null.
    pub release: Option<unsafe extern "C" fn(*mut c_void)>,
    /// The state of a switch with empty tables.
    pub create: Option<unsafe extern "C" fn(*mut c_void, *const Switch) -> *mut c_void>,
    /// Frees a switch's state.
    pub destroy: Option<unsafe extern "C" fn(*mut c_void)>,
    /// Selects one of the next hops, of which there is at least one, for a data packet to another
    /// ToR.
    pub forward: Option<
        unsafe extern "C" fn(
            *mut c_void,
            *const Step,
            *mut Packet,
            *const u16,
            usize,
            *const Ports,
        ) -> u16,
    >,
    /// Handles a handshake at a ToR, before the packet itself. May be null.
    pub handshake: Option<unsafe extern "C" fn(*mut c_void, *const Step, *const Handshake)>,
    /// Handles a data packet from the fabric at its destination ToR. May be null.
    pub egress: Option<unsafe extern "C" fn(*mut c_void, *const Step, *mut Packet)>,
    /// Writes the probe that a ToR sends on each uplink, and returns 1; or returns 0. May be null.
    pub originate: Option<unsafe extern "C" fn(*mut c_void, *const Step, *mut Probe) -> u8>,
    /// Handles a received probe: writes the probe to replicate, and returns 1; or returns 0, which
    /// drops it. May be null.
    pub probe: Option<
        unsafe extern "C" fn(
            *mut c_void,
            *const Step,
            *const ProbeArrival,
            *const Ports,
            *mut Probe,
        ) -> u8,
    >,
    /// Bytes of state that this switch would hold in its tables. May be null.
    pub state_bytes: Option<unsafe extern "C" fn(*mut c_void) -> u64>,
    /// Writes the counters so far. May be null.
    pub counters: Option<unsafe extern "C" fn(*mut c_void, *mut Counters)>,
}

// SAFETY: a table is constant, and its functions may be called from any thread (see the header).
unsafe impl Sync for Table {}
// SAFETY: as above.
unsafe impl Send for Table {}
