//! Arguments and results of a scheme's steps.

use heddle_policy::{Header, Ingress, MptcpId, Shim, Subflow, SwitchInfo, Tor, mix, pick};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::errors::SimulationError;

/// Time and random bits of a step.
#[pyclass(frozen, get_all, module = "heddle._core")]
pub(crate) struct Step {
    /// Time by the switch's own clock, in nanoseconds.
    now: u64,
    /// 32 random bits, uniform: the only randomness that a scheme may use.
    random: u32,
}

impl From<heddle_policy::Step> for Step {
    fn from(step: heddle_policy::Step) -> Step {
        Step { now: step.now, random: step.rnd }
    }
}

/// A switch, from the control plane.
#[pyclass(frozen, get_all, module = "heddle._core")]
pub(crate) struct Switch {
    /// Salt for this switch's hashes.
    salt: u32,
    /// Its number if it is a ToR, otherwise None.
    tor: Option<u16>,
    /// Number of ports, those to hosts included.
    ports: u16,
    /// Number of ToRs in the fabric.
    tors: u16,
    /// For each ToR, whether it is in this switch's pod; empty in a fabric without pods.
    same_pod: Vec<bool>,
}

impl From<&SwitchInfo> for Switch {
    fn from(info: &SwitchInfo) -> Switch {
        Switch {
            salt: info.salt,
            tor: info.tor.map(|tor| tor.0),
            ports: info.ports,
            tors: info.tors,
            same_pod: info.same_pod.clone(),
        }
    }
}

/// Fields of a data packet. A scheme may write `tag` and, if it has `uses_shim`, `subflow` and
/// `connection`.
#[pyclass(module = "heddle._core")]
pub(crate) struct Packet {
    /// Hash of the 5-tuple, the same at every switch.
    #[pyo3(get)]
    flow_hash: u32,
    /// ToR of the sending host.
    #[pyo3(get)]
    src_tor: u16,
    /// ToR of the receiving host.
    #[pyo3(get)]
    dst_tor: u16,
    /// True if it is from a host of this ToR, not from another switch.
    #[pyo3(get)]
    from_host: bool,
    /// 16 bits of overlay header; 0 from a host.
    #[pyo3(get, set)]
    tag: u16,
    /// Subflow in MP-HULA's shim, 1 to 16; 0 without a shim.
    #[pyo3(get, set)]
    subflow: u8,
    /// Connection in the shim.
    #[pyo3(get, set)]
    connection: u64,
}

impl From<&Header> for Packet {
    fn from(header: &Header) -> Packet {
        Packet {
            flow_hash: header.flow_hash,
            src_tor: header.src_tor.0,
            dst_tor: header.dst_tor.0,
            from_host: header.ingress == Ingress::Host,
            tag: header.tag,
            subflow: header.shim.map_or(0, |shim| shim.subflow.number()),
            connection: header.shim.map_or(0, |shim| shim.id.0),
        }
    }
}

impl Packet {
    /// Takes over what a scheme has written.
    pub(super) fn write(&self, header: &mut Header, uses_shim: bool) -> PyResult<()> {
        header.tag = self.tag;
        if self.subflow == 0 {
            header.shim = None;
            return Ok(());
        }
        let subflow = Subflow::new(self.subflow).filter(|_| uses_shim).ok_or_else(|| {
            SimulationError::new_err(format!(
                "a packet's subflow is {}: 1 to 16, by schemes with `uses_shim = True`",
                self.subflow
            ))
        })?;
        header.shim = Some(Shim { id: MptcpId(self.connection), subflow });
        Ok(())
    }
}

/// A TCP packet with SYN, FIN, RST or an MPTCP handshake option, at a ToR of either end.
#[pyclass(frozen, get_all, module = "heddle._core")]
pub(crate) struct Handshake {
    /// Hash of the 5-tuple in the direction from the ToR's host.
    out_hash: u32,
    /// True if it is from the ToR's host, not to it.
    from_host: bool,
    /// Byte 13 of the TCP header.
    flags: u8,
    /// The option area of the TCP header.
    options: Py<PyBytes>,
}

impl Handshake {
    pub(super) fn new(py: Python<'_>, seen: &heddle_policy::Handshake<'_>) -> Handshake {
        Handshake {
            out_hash: seen.out_hash,
            from_host: seen.ingress == Ingress::Host,
            flags: seen.flags.0,
            options: PyBytes::new(py, seen.options).unbind(),
        }
    }
}

/// A utilisation probe: the ToR that originated it, and the scheme's own figure of the path to it.
#[pyclass(frozen, get_all, module = "heddle._core")]
pub(crate) struct Probe {
    /// Number of the ToR.
    tor: u16,
    /// The figure.
    util: u16,
}

#[pymethods]
impl Probe {
    #[new]
    fn new(tor: u16, util: u16) -> Probe {
        Probe { tor, util }
    }

    fn __repr__(&self) -> String {
        format!("heddle.Probe(tor={}, util={})", self.tor, self.util)
    }
}

impl Probe {
    /// As the engine has it, in a fabric of `tors` ToRs.
    pub(super) fn checked(&self, tors: u16) -> PyResult<heddle_policy::Probe> {
        if self.tor >= tors {
            let reason = format!("a probe is of ToR {}: the fabric has {tors}, from 0", self.tor);
            return Err(SimulationError::new_err(reason));
        }
        Ok(heddle_policy::Probe { tor: Tor(self.tor), util: self.util })
    }
}

/// A received probe.
#[pyclass(frozen, get_all, module = "heddle._core")]
pub(crate) struct ProbeArrival {
    /// Ingress port.
    port: u16,
    /// The probe as received.
    probe: Py<Probe>,
    /// True if the port is a next hop towards the probe's ToR: by another, no packet for that ToR
    /// may leave.
    is_next_hop: bool,
}

impl ProbeArrival {
    pub(super) fn new(
        py: Python<'_>,
        arrival: &heddle_policy::ProbeArrival,
    ) -> PyResult<ProbeArrival> {
        let probe = Probe { tor: arrival.probe.tor.0, util: arrival.probe.util };
        Ok(ProbeArrival {
            port: arrival.port.0,
            probe: Py::new(py, probe)?,
            is_next_hop: arrival.is_next_hop,
        })
    }
}

/// Mixes a flow's hash with a switch's salt, as the simulator's own schemes do.
#[pyfunction(name = "mix")]
pub(crate) fn mix_hash(flow_hash: u32, salt: u32) -> u32 {
    mix(flow_hash, salt)
}

/// Maps 32 uniform bits to 0 to `n` - 1, as the simulator's own schemes do.
#[pyfunction(name = "pick")]
pub(crate) fn pick_index(uniform: u32, n: usize) -> usize {
    pick(uniform, n)
}
