//! The steps of a scheme as calls of Python.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;

use heddle_policy::{
    AssociationCounters, Counters, DreShift, Header, Nanos, Port, Scheme, SwitchInfo,
};
use heddle_scenario::External;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyTuple, PyType};

use super::class;
use super::ports::Ports;
use super::types::{Handshake, Packet, Probe, ProbeArrival, Step, Switch};
use crate::errors::SimulationError;
use crate::watch::Watch;

/// A class with its parameters, for the switches of one run.
pub(super) struct Shared<'py> {
    class: Bound<'py, PyType>,
    name: String,
    ports: Bound<'py, Ports>,
    probe_period: Option<Nanos>,
    tau: Nanos,
    uses_shim: bool,
    has: Optional,
    watch: &'py Watch,
    failed: Cell<bool>,
    /// The first exception.
    failure: RefCell<Option<PyErr>>,
}

/// The optional methods that a class has.
struct Optional {
    handshake: bool,
    egress: bool,
    probe: bool,
}

impl<'py> Shared<'py> {
    pub(super) fn new(
        class: &Bound<'py, PyType>,
        external: &External,
        watch: &'py Watch,
    ) -> PyResult<Shared<'py>> {
        let class = class::configured(class, &external.parameters)?;
        let has = |method| class::overrides(&class, method);
        Ok(Shared {
            name: external.name.clone(),
            ports: Bound::new(class.py(), Ports::default())?,
            probe_period: class::probe_period(&class)?,
            tau: class::attribute(&class, "tau")?,
            uses_shim: external.uses_shim,
            has: Optional {
                handshake: has("handshake")?,
                egress: has("egress")?,
                probe: has("probe")?,
            },
            watch,
            failed: Cell::new(false),
            failure: RefCell::new(None),
            class,
        })
    }

    pub(super) fn reads_handshakes(&self) -> bool {
        self.has.handshake
    }

    /// True if a step has failed.
    pub(super) fn has_failed(&self) -> bool {
        self.failed.get()
    }

    /// The exception of the first step that failed.
    pub(super) fn take_failure(&self) -> Option<PyErr> {
        self.failure.borrow_mut().take()
    }

    /// The result of a step. `None` if it has failed: its exception ends the run.
    fn kept<T>(&self, made: PyResult<T>) -> Option<T> {
        match made {
            Ok(made) => Some(made),
            Err(error) => {
                self.failed.set(true);
                // The others follow from the first.
                self.failure.borrow_mut().get_or_insert(error);
                None
            }
        }
    }

    /// Makes a step, unless the run is to end.
    fn step<T>(&self, make: impl FnOnce() -> PyResult<T>) -> Option<T> {
        if self.failed.get() || self.watch.is_stopped() {
            return None;
        }
        self.kept(make())
    }
}

/// A switch whose scheme is an object of Python. `HANDSHAKES` is [`Shared::reads_handshakes`]:
/// steps of handshakes take random bits, which are those of the scheme's other steps as well.
pub(super) struct InPython<'py, const HANDSHAKES: bool> {
    shared: Rc<Shared<'py>>,
    /// None if it could not be made.
    object: Option<Bound<'py, PyAny>>,
    info: SwitchInfo,
}

impl<'py, const HANDSHAKES: bool> Scheme for InPython<'py, HANDSHAKES> {
    type Config = Rc<Shared<'py>>;
    const NEEDS_RANDOM: bool = true;
    const NEEDS_UTILISATION: bool = true;
    const READS_HANDSHAKES: bool = HANDSHAKES;
    const USES_SHIM: bool = true;

    fn new(shared: &Rc<Shared<'py>>, info: &SwitchInfo) -> Self {
        let object = shared.step(|| shared.class.call1((Switch::from(info),)));
        InPython { shared: shared.clone(), object, info: info.clone() }
    }

    fn dre_shift(shared: &Rc<Shared<'py>>) -> DreShift {
        DreShift::at_least(shared.tau)
    }

    fn probe_period(shared: &Rc<Shared<'py>>) -> Option<Nanos> {
        shared.probe_period
    }

    fn forward(
        &mut self,
        step: heddle_policy::Step,
        packet: &mut Header,
        next_hops: &[Port],
        ports: &mut impl heddle_policy::Ports,
    ) -> Port {
        let chosen = self.step(|object| {
            let py = object.py();
            let seen = Bound::new(py, Packet::from(&*packet))?;
            let hops = PyTuple::new(py, next_hops.iter().map(|port| port.0))?;
            let given = (Step::from(step), &seen, hops, &self.shared.ports);
            let call = || object.call_method1(intern!(py, "forward"), given);
            let made = self.shared.ports.get().during(ports, self.info.ports, call)?;
            seen.borrow().write(packet, self.shared.uses_shim)?;
            self.next_hop(&made, next_hops)
        });
        chosen.unwrap_or(next_hops[0])
    }

    fn handshake(&mut self, step: heddle_policy::Step, packet: &heddle_policy::Handshake<'_>) {
        self.step(|object| {
            let py = object.py();
            let given = (Step::from(step), Handshake::new(py, packet));
            object.call_method1(intern!(py, "handshake"), given)
        });
    }

    fn egress(&mut self, step: heddle_policy::Step, packet: &mut Header) {
        if !self.shared.has.egress {
            return;
        }
        self.step(|object| {
            let py = object.py();
            let seen = Bound::new(py, Packet::from(&*packet))?;
            object.call_method1(intern!(py, "egress"), (Step::from(step), &seen))?;
            seen.borrow().write(packet, self.shared.uses_shim)
        });
    }

    fn originate(&mut self, step: heddle_policy::Step) -> Option<heddle_policy::Probe> {
        let made = self.step(|object| {
            let made =
                object.call_method1(intern!(object.py(), "originate"), (Step::from(step),))?;
            self.sent("originate", &made)
        });
        made.flatten()
    }

    fn probe(
        &mut self,
        step: heddle_policy::Step,
        arrival: &heddle_policy::ProbeArrival,
        ports: &mut impl heddle_policy::Ports,
    ) -> Option<heddle_policy::Probe> {
        if !self.shared.has.probe {
            return None;
        }
        let made = self.step(|object| {
            let py = object.py();
            let given = (Step::from(step), ProbeArrival::new(py, arrival)?, &self.shared.ports);
            let call = || object.call_method1(intern!(py, "probe"), given);
            let made = self.shared.ports.get().during(ports, self.info.ports, call)?;
            self.sent("probe", &made)
        });
        made.flatten()
    }

    fn state_bytes(&self) -> usize {
        let bytes = self.step(|object| {
            object.call_method0("state_bytes")?.extract().map_err(|_| {
                PyTypeError::new_err(format!("{}.state_bytes: no number of bytes", self.name()))
            })
        });
        bytes.unwrap_or(0)
    }

    fn counters(&self) -> Counters {
        let counted = self.step(|object| {
            let given = object.call_method0("counters")?.extract().map_err(|_| {
                let what = "no dictionary of counts by name";
                PyTypeError::new_err(format!("{}.counters: {what}", self.name()))
            })?;
            counters(given).map_err(|name| {
                let reason = format!("{}.counters: nothing is called {name:?}", self.name());
                PyValueError::new_err(format!("{reason}; {COUNTERS}"))
            })
        });
        counted.unwrap_or_default()
    }
}

impl<'py, const HANDSHAKES: bool> InPython<'py, HANDSHAKES> {
    /// Makes a step of this switch, unless the run is to end.
    fn step<T>(&self, make: impl FnOnce(&Bound<'py, PyAny>) -> PyResult<T>) -> Option<T> {
        let object = self.object.as_ref()?;
        self.shared.step(|| make(object))
    }

    fn name(&self) -> &str {
        &self.shared.name
    }

    fn next_hop(&self, made: &Bound<'_, PyAny>, next_hops: &[Port]) -> PyResult<Port> {
        let port = made.extract().ok().map(Port).filter(|port| next_hops.contains(port));
        port.ok_or_else(|| {
            let hops: Vec<u16> = next_hops.iter().map(|port| port.0).collect();
            let name = self.name();
            let reason = format!("{name}.forward returned {made}, none of next_hops {hops:?}");
            SimulationError::new_err(reason)
        })
    }

    /// The probe that a method returned, or None.
    fn sent(
        &self,
        method: &str,
        made: &Bound<'_, PyAny>,
    ) -> PyResult<Option<heddle_policy::Probe>> {
        if made.is_none() {
            return Ok(None);
        }
        let probe = made.cast::<Probe>().map_err(|_| {
            let reason = format!("{}.{method} returned {made}, no heddle.Probe", self.name());
            PyTypeError::new_err(format!("{reason} and not None"))
        })?;
        probe.get().checked(self.info.tors).map(Some)
    }
}

/// The names of counters.
const COUNTERS: &str = "there are flowlets, moves, fallbacks, probes, shims, shared, connections, joins, unknown_tokens, token_collisions, table_collisions, wraps";

/// Counters by name; the error is a name that no counter has.
fn counters(given: BTreeMap<String, u64>) -> Result<Counters, String> {
    let (mut counters, mut association) = (Counters::default(), AssociationCounters::default());
    for (name, count) in given {
        *match name.as_str() {
            "flowlets" => &mut counters.flowlets,
            "moves" => &mut counters.moves,
            "fallbacks" => &mut counters.fallbacks,
            "probes" => &mut counters.probes,
            "shims" => &mut counters.shims,
            "shared" => &mut counters.shared,
            "connections" => &mut association.connections,
            "joins" => &mut association.joins,
            "unknown_tokens" => &mut association.unknown_tokens,
            "token_collisions" => &mut association.token_collisions,
            "table_collisions" => &mut association.table_collisions,
            "wraps" => &mut association.wraps,
            _ => return Err(name),
        } = count;
    }
    counters.association = association;
    Ok(counters)
}
