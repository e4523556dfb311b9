//! A table of functions in C as a scheme.
#![allow(unsafe_code, reason = "calls of functions in C, whose promises `Config::new` takes")]

use alloc::collections::BTreeMap;
use alloc::ffi::CString;
use alloc::format;
use alloc::rc::Rc;
use alloc::string::String;
use alloc::vec::Vec;
use core::cell::Cell;
use core::ffi::{CStr, c_char, c_void};

use heddle_policy::{
    AssociationCounters, Counters, DreShift, Handshake, Header, Ingress, MptcpId, Nanos, Port,
    Ports, Probe, ProbeArrival, Scheme, Shim, Step, Subflow, SwitchInfo, Tor,
};

use crate::{Table, VERSION, types};

/// A table that cannot be used, or parameters that it refuses.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TableError {
    /// Built for another version of the interface.
    #[error(
        "its scheme `{name}` is built for version {has} of the interface of schemes, and this program has version {VERSION}"
    )]
    Version {
        /// The scheme's name.
        name: String,
        /// The table's version.
        has: u32,
    },
    /// A function that must be there is not.
    #[error("its scheme `{name}` has no function `{function}`")]
    Missing {
        /// The scheme's name.
        name: String,
        /// The field of the table.
        function: &'static str,
    },
    /// Parameters that the scheme refuses.
    #[error("{0}")]
    Parameters(String),
}

/// A step's result that cannot be, which the run has not used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// `forward` returned a port that is none of the next hops.
    #[error("`forward` returned port {0}, which is none of the next hops")]
    Port(u16),
    /// A probe of a ToR that the fabric does not have.
    #[error("a probe is of ToR {0}, which the fabric does not have")]
    Tor(u16),
    /// A subflow beyond 16, or a shim of a scheme without `USES_SHIM`.
    #[error("a shim of subflow {0}: 1 to 16, by schemes with HEDDLE_USES_SHIM")]
    Shim(u16),
}

/// A scheme with its parameters, for the switches of one run.
#[derive(Clone, Debug)]
pub struct Config(Rc<Shared>);

#[derive(Debug)]
struct Shared {
    table: &'static Table,
    setup: types::Setup,
    functions: Functions,
    /// The first one.
    fault: Cell<Option<Fault>>,
}

/// The functions that every table has.
#[derive(Clone, Copy, Debug)]
struct Functions {
    create: unsafe extern "C" fn(*mut c_void, *const types::Switch) -> *mut c_void,
    destroy: unsafe extern "C" fn(*mut c_void),
    forward: unsafe extern "C" fn(
        *mut c_void,
        *const types::Step,
        *mut types::Packet,
        *const u16,
        usize,
        *const types::Ports,
    ) -> u16,
}

impl Functions {
    fn of(table: &Table) -> Result<Functions, TableError> {
        let missing = |function| TableError::Missing { name: name_of(table), function };
        Ok(Functions {
            create: table.create.ok_or_else(|| missing("create"))?,
            destroy: table.destroy.ok_or_else(|| missing("destroy"))?,
            forward: table.forward.ok_or_else(|| missing("forward"))?,
        })
    }
}

fn name_of(table: &Table) -> String {
    if table.name.is_null() {
        return String::from("without a name");
    }
    // SAFETY: a table's name ends with a zero byte, in every version.
    let name = unsafe { CStr::from_ptr(table.name) };
    String::from_utf8_lossy(name.to_bytes()).into_owned()
}

impl Config {
    /// Checks a table and passes it the parameters of a run.
    ///
    /// # Safety
    /// The table and its functions keep what `heddle_scheme.h` says of them; `abi` and `name` do if
    /// the version is another one.
    ///
    /// # Errors
    /// [`TableError`].
    pub unsafe fn new(
        table: &'static Table,
        parameters: &BTreeMap<String, u64>,
    ) -> Result<Config, TableError> {
        if table.abi != VERSION {
            return Err(TableError::Version { name: name_of(table), has: table.abi });
        }
        let functions = Functions::of(table)?;
        let setup = configure(table, parameters)?;
        Ok(Config(Rc::new(Shared { table, setup, functions, fault: Cell::new(None) })))
    }

    /// The scheme's name.
    pub fn name(&self) -> String {
        name_of(self.0.table)
    }

    /// Time between two probes of a ToR, if the scheme has probes.
    pub fn probe_period(&self) -> Option<Nanos> {
        Some(self.0.setup.probe_period).filter(|&period| period > 0)
    }

    /// True if packets have shims between ToRs.
    pub fn uses_shim(&self) -> bool {
        self.needs(types::USES_SHIM)
    }

    /// True if the scheme handles handshakes at ToRs.
    pub fn reads_handshakes(&self) -> bool {
        self.0.table.handshake.is_some()
    }

    /// The first result of a step that could not be used, if there was one.
    pub fn fault(&self) -> Option<Fault> {
        self.0.fault.get()
    }

    #[inline]
    fn needs(&self, flag: u32) -> bool {
        self.0.table.needs & flag != 0
    }

    #[cold]
    fn note(&self, fault: Fault) {
        // The others follow from the first.
        self.0.fault.set(self.0.fault.get().or(Some(fault)));
    }
}

fn configure(
    table: &'static Table,
    parameters: &BTreeMap<String, u64>,
) -> Result<types::Setup, TableError> {
    let mut setup = types::Setup {
        config: core::ptr::null_mut(),
        tau: 0,
        probe_period: 0,
        error: [0; types::ERROR_SIZE],
    };
    let names: Vec<CString> = parameters
        .keys()
        .map(|name| CString::new(name.as_str()).map_err(|_| refused("a name with a zero byte")))
        .collect::<Result<_, _>>()?;
    let given: Vec<types::Parameter> = names
        .iter()
        .zip(parameters.values())
        .map(|(name, &value)| types::Parameter { name: name.as_ptr(), value })
        .collect();
    let Some(configure) = table.configure else {
        return match parameters.keys().next() {
            None => Ok(setup),
            Some(name) => Err(refused(&format!("no parameter is called `{name}`: it has none"))),
        };
    };
    // SAFETY: the table's promise (`Config::new`); the parameters and the setup are valid for the
    // call.
    match unsafe { configure(table, given.as_ptr(), given.len(), &raw mut setup) } {
        0 => Ok(setup),
        _ => Err(refused(&text(&setup.error))),
    }
}

fn refused(reason: &str) -> TableError {
    let reason = if reason.is_empty() { "it refuses them without a reason" } else { reason };
    TableError::Parameters(String::from(reason))
}

/// A text that may lack its zero byte.
fn text(bytes: &[c_char]) -> String {
    let bytes: Vec<u8> =
        bytes.iter().map(|&byte| byte as u8).take_while(|&byte| byte != 0).collect();
    String::from_utf8_lossy(&bytes).into_owned()
}

impl Drop for Shared {
    fn drop(&mut self) {
        if let Some(release) = self.table.release {
            // SAFETY: `configure` has made it, all switches are gone, and it is given back once.
            unsafe { release(self.setup.config) };
        }
    }
}

/// A switch whose scheme is a table of functions in C. `HANDSHAKES` is [`Config::reads_handshakes`]
/// of its table: steps of handshakes take random bits, which are those of the scheme's other steps
/// as well.
#[derive(Debug)]
pub struct External<const HANDSHAKES: bool> {
    config: Config,
    state: *mut c_void,
    ports: u16,
    tors: u16,
}

impl<const HANDSHAKES: bool> Drop for External<HANDSHAKES> {
    fn drop(&mut self) {
        // SAFETY: `create` has made the state, and it is given back once.
        unsafe { (self.config.0.functions.destroy)(self.state) };
    }
}

/// A library's use of random bits, the estimator or shims is not known when this is compiled:
/// all are on. Of handshakes it is known, since calls for each of them cost most.
impl<const HANDSHAKES: bool> Scheme for External<HANDSHAKES> {
    type Config = Config;
    const NEEDS_RANDOM: bool = true;
    const NEEDS_UTILISATION: bool = true;
    const READS_HANDSHAKES: bool = HANDSHAKES;
    const USES_SHIM: bool = true;

    fn new(config: &Config, info: &SwitchInfo) -> Self {
        let same_pod: Vec<u8> = info.same_pod.iter().map(|&same| same.into()).collect();
        let raw = types::Switch {
            salt: info.salt,
            tor: info.tor.map_or(-1, |tor| tor.0.into()),
            ports: info.ports,
            tors: info.tors,
            same_pod: if same_pod.is_empty() { core::ptr::null() } else { same_pod.as_ptr() },
        };
        // SAFETY: the table's promise (`Config::new`); the switch is valid for the call.
        let state = unsafe { (config.0.functions.create)(config.0.setup.config, &raw const raw) };
        External { config: config.clone(), state, ports: info.ports, tors: info.tors }
    }

    fn dre_shift(config: &Config) -> DreShift {
        DreShift::at_least(config.0.setup.tau)
    }

    fn probe_period(config: &Config) -> Option<Nanos> {
        config.probe_period()
    }

    #[inline]
    fn forward(
        &mut self,
        step: Step,
        packet: &mut Header,
        next_hops: &[Port],
        ports: &mut impl Ports,
    ) -> Port {
        let (step, mut raw) = (self.step(step), self.packet(packet));
        let mut view = View { ports, count: self.ports };
        let ports = view.table();
        // SAFETY: the table's promise (`Config::new`); all arguments are valid for the call; `Port`
        // is a `u16` (`repr(transparent)`).
        let port = unsafe {
            (self.config.0.functions.forward)(
                self.state,
                &raw const step,
                &raw mut raw,
                next_hops.as_ptr().cast(),
                next_hops.len(),
                &raw const ports,
            )
        };
        self.write(&raw, packet);
        if next_hops.contains(&Port(port)) {
            return Port(port);
        }
        self.config.note(Fault::Port(port));
        next_hops[0]
    }

    fn handshake(&mut self, step: Step, packet: &Handshake<'_>) {
        let Some(handshake) = self.config.0.table.handshake else { return };
        let step = self.step(step);
        let raw = types::Handshake {
            out_hash: packet.out_hash,
            from_host: (packet.ingress == Ingress::Host).into(),
            flags: packet.flags.0,
            options_size: packet.options.len() as u16,
            options: packet.options.as_ptr(),
        };
        // SAFETY: the table's promise (`Config::new`); all arguments are valid for the call.
        unsafe { handshake(self.state, &raw const step, &raw const raw) };
    }

    fn egress(&mut self, step: Step, packet: &mut Header) {
        let Some(egress) = self.config.0.table.egress else { return };
        let (step, mut raw) = (self.step(step), self.packet(packet));
        // SAFETY: the table's promise (`Config::new`); all arguments are valid for the call.
        unsafe { egress(self.state, &raw const step, &raw mut raw) };
        self.write(&raw, packet);
    }

    fn originate(&mut self, step: Step) -> Option<Probe> {
        let originate = self.config.0.table.originate?;
        let (step, mut probe) = (self.step(step), types::Probe::default());
        // SAFETY: the table's promise (`Config::new`); all arguments are valid for the call.
        let sent = unsafe { originate(self.state, &raw const step, &raw mut probe) };
        self.checked(sent, probe)
    }

    fn probe(
        &mut self,
        step: Step,
        arrival: &ProbeArrival,
        ports: &mut impl Ports,
    ) -> Option<Probe> {
        let function = self.config.0.table.probe?;
        let (step, mut probe) = (self.step(step), types::Probe::default());
        let raw = types::ProbeArrival {
            port: arrival.port.0,
            probe: types::Probe { tor: arrival.probe.tor.0, util: arrival.probe.util },
            is_next_hop: arrival.is_next_hop.into(),
        };
        let mut view = View { ports, count: self.ports };
        let ports = view.table();
        // SAFETY: the table's promise (`Config::new`); all arguments are valid for the call.
        let sent = unsafe {
            let (step, raw, ports) = (&raw const step, &raw const raw, &raw const ports);
            function(self.state, step, raw, ports, &raw mut probe)
        };
        self.checked(sent, probe)
    }

    fn state_bytes(&self) -> usize {
        let Some(state_bytes) = self.config.0.table.state_bytes else { return 0 };
        // SAFETY: the table's promise (`Config::new`).
        let bytes = unsafe { state_bytes(self.state) };
        usize::try_from(bytes).unwrap_or(usize::MAX)
    }

    fn counters(&self) -> Counters {
        let mut raw = types::Counters::default();
        if let Some(counters) = self.config.0.table.counters {
            // SAFETY: the table's promise (`Config::new`); the counters are valid for the call.
            unsafe { counters(self.state, &raw mut raw) };
        }
        Counters {
            flowlets: raw.flowlets,
            moves: raw.moves,
            fallbacks: raw.fallbacks,
            probes: raw.probes,
            shims: raw.shims,
            shared: raw.shared,
            association: AssociationCounters {
                connections: raw.connections,
                joins: raw.joins,
                unknown_tokens: raw.unknown_tokens,
                token_collisions: raw.token_collisions,
                table_collisions: raw.table_collisions,
                wraps: raw.wraps,
            },
            ..Counters::default()
        }
    }
}

impl<const HANDSHAKES: bool> External<HANDSHAKES> {
    #[inline]
    fn step(&self, step: Step) -> types::Step {
        let random = if self.config.needs(types::NEEDS_RANDOM) { step.rnd } else { 0 };
        types::Step { now: step.now, random }
    }

    #[inline]
    fn packet(&self, packet: &Header) -> types::Packet {
        types::Packet {
            flow_hash: packet.flow_hash,
            src_tor: packet.src_tor.0,
            dst_tor: packet.dst_tor.0,
            tag: packet.tag,
            from_host: (packet.ingress == Ingress::Host).into(),
            subflow: packet.shim.map_or(0, |shim| shim.subflow.number()),
            connection: packet.shim.map_or(0, |shim| shim.id.0),
        }
    }

    /// Takes over what a scheme may write.
    #[inline]
    fn write(&self, raw: &types::Packet, packet: &mut Header) {
        packet.tag = raw.tag;
        if raw.subflow == 0 {
            packet.shim = None;
            return;
        }
        let subflow = Subflow::new(raw.subflow).filter(|_| self.config.uses_shim());
        packet.shim = subflow.map(|subflow| Shim { id: MptcpId(raw.connection), subflow });
        if subflow.is_none() {
            self.config.note(Fault::Shim(raw.subflow.into()));
        }
    }

    fn checked(&self, sent: u8, probe: types::Probe) -> Option<Probe> {
        if sent == 0 {
            return None;
        }
        if probe.tor >= self.tors {
            self.config.note(Fault::Tor(probe.tor));
            return None;
        }
        Some(Probe { tor: Tor(probe.tor), util: probe.util })
    }
}

/// A switch's ports behind pointers. Ports that it does not have read 0.
struct View<'a, P> {
    ports: &'a mut P,
    count: u16,
}

impl<P: Ports> View<'_, P> {
    fn table(&mut self) -> types::Ports {
        types::Ports {
            context: (&raw mut *self).cast(),
            tx_util: tx_util::<P>,
            queue_bytes: queue_bytes::<P>,
            is_up: is_up::<P>,
        }
    }

    fn port(&self, port: u16) -> Option<Port> {
        (port < self.count).then_some(Port(port))
    }
}

unsafe extern "C" fn tx_util<P: Ports>(context: *mut c_void, port: u16) -> u16 {
    // SAFETY: the context is the view from which the table was made, in the call for which it was.
    let view = unsafe { &mut *context.cast::<View<'_, P>>() };
    view.port(port).map_or(0, |port| view.ports.tx_util(port))
}

unsafe extern "C" fn queue_bytes<P: Ports>(context: *mut c_void, port: u16) -> u32 {
    // SAFETY: as in `tx_util`.
    let view = unsafe { &mut *context.cast::<View<'_, P>>() };
    view.port(port).map_or(0, |port| view.ports.queue_bytes(port))
}

unsafe extern "C" fn is_up<P: Ports>(context: *mut c_void, port: u16) -> u8 {
    // SAFETY: as in `tx_util`.
    let view = unsafe { &mut *context.cast::<View<'_, P>>() };
    view.port(port).is_some_and(|port| view.ports.is_up(port)).into()
}
