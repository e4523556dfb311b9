//! A scheme in Rust as a table of functions in C.
#![allow(unsafe_code, reason = "functions that C calls; the header has what their arguments are")]

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;
use core::ffi::{CStr, c_void};
use core::slice;

use heddle_policy::{
    Handshake, Header, Ingress, MptcpId, Port, Ports, Probe, ProbeArrival, Scheme, Shim, Step,
    Subflow, SwitchInfo, TcpFlags, Tor, Util,
};

use crate::{Parameters, Table, VERSION, types};

/// A scheme that a shared library exports.
pub trait Export: Scheme {
    /// Its name in tables and reports.
    const NAME: &'static CStr;

    /// Its parameters from a scenario's.
    ///
    /// # Errors
    /// The reason for which they are refused.
    fn configure(parameters: &mut Parameters) -> Result<Self::Config, String>;
}

/// Exports a scheme, a type that implements [`Export`], as the one of this shared library.
#[macro_export]
macro_rules! export_scheme {
    ($scheme:ty) => {
        /// The library's scheme.
        #[unsafe(no_mangle)]
        pub extern "C" fn heddle_scheme() -> *const $crate::Table {
            static TABLE: $crate::Table = $crate::table::<$scheme>();
            &raw const TABLE
        }
    };
}

/// The table of a scheme in Rust.
pub const fn table<S: Export>() -> Table {
    Table {
        abi: VERSION,
        needs: needs::<S>(),
        name: S::NAME.as_ptr(),
        configure: Some(configure::<S>),
        release: Some(release::<S>),
        create: Some(create::<S>),
        destroy: Some(destroy::<S>),
        forward: Some(forward::<S>),
        handshake: if S::READS_HANDSHAKES { Some(handshake::<S>) } else { None },
        egress: Some(egress::<S>),
        originate: Some(originate::<S>),
        probe: Some(probe::<S>),
        state_bytes: Some(state_bytes::<S>),
        counters: Some(counters::<S>),
    }
}

const fn needs<S: Scheme>() -> u32 {
    (if S::NEEDS_RANDOM { types::NEEDS_RANDOM } else { 0 })
        | (if S::NEEDS_UTILISATION { types::NEEDS_UTILISATION } else { 0 })
        | (if S::USES_SHIM { types::USES_SHIM } else { 0 })
}

unsafe extern "C" fn configure<S: Export>(
    _: *const Table,
    parameters: *const types::Parameter,
    count: usize,
    setup: *mut types::Setup,
) -> i32 {
    // SAFETY: the caller passes as many parameters as it says, and a setup that is valid and its
    // own.
    let (given, setup) = unsafe { (list(parameters, count), &mut *setup) };
    let name = |parameter: &types::Parameter| {
        // SAFETY: names end with a zero byte.
        let name = unsafe { CStr::from_ptr(parameter.name) };
        (String::from_utf8_lossy(name.to_bytes()).into_owned(), parameter.value)
    };
    let mut parameters = Parameters::new(given.iter().map(name).collect::<BTreeMap<_, _>>());
    let made =
        S::configure(&mut parameters).and_then(|config| parameters.finish().map(|()| config));
    match made {
        Ok(config) => {
            setup.tau = if S::NEEDS_UTILISATION { S::dre_shift(&config).tau() } else { 0 };
            setup.probe_period = S::probe_period(&config).unwrap_or(0);
            setup.config = Box::into_raw(Box::new(config)).cast();
            0
        }
        Err(reason) => {
            let bytes = reason.bytes().take(types::ERROR_SIZE - 1).chain([0]);
            setup.error.iter_mut().zip(bytes).for_each(|(to, byte)| *to = byte.cast_signed() as _);
            1
        }
    }
}

unsafe extern "C" fn release<S: Scheme>(config: *mut c_void) {
    // SAFETY: `configure` has made it, and the caller gives it back once.
    drop(unsafe { Box::from_raw(config.cast::<S::Config>()) });
}

unsafe extern "C" fn create<S: Scheme>(
    config: *mut c_void,
    info: *const types::Switch,
) -> *mut c_void {
    // SAFETY: `configure` has made the configuration, the switch is valid for the call, and has a
    // flag for each ToR if any.
    let (config, info, same_pod) = unsafe {
        let flags = if (*info).same_pod.is_null() { 0 } else { usize::from((*info).tors) };
        (&*config.cast::<S::Config>(), *info, list((*info).same_pod, flags))
    };
    let info = SwitchInfo {
        salt: info.salt,
        tor: u16::try_from(info.tor).ok().map(Tor),
        ports: info.ports,
        tors: info.tors,
        same_pod: same_pod.iter().map(|&flag| flag != 0).collect::<Vec<_>>(),
    };
    Box::into_raw(Box::new(S::new(config, &info))).cast()
}

unsafe extern "C" fn destroy<S: Scheme>(state: *mut c_void) {
    // SAFETY: `create` has made it, and the caller gives it back once.
    drop(unsafe { Box::from_raw(state.cast::<S>()) });
}

unsafe extern "C" fn forward<S: Scheme>(
    state: *mut c_void,
    step: *const types::Step,
    packet: *mut types::Packet,
    next_hops: *const u16,
    count: usize,
    ports: *const types::Ports,
) -> u16 {
    // SAFETY: `create` has made the state, the other pointers are valid for the call; `Port` is a
    // `u16` (`repr(transparent)`).
    let (scheme, step, packet, hops, ports) = unsafe {
        (
            &mut *state.cast::<S>(),
            *step,
            &mut *packet,
            list(next_hops.cast::<Port>(), count),
            &*ports,
        )
    };
    let mut header = header_of(packet);
    let port = scheme.forward(step_of(step), &mut header, hops, &mut Given(ports));
    write(&header, packet);
    port.0
}

unsafe extern "C" fn handshake<S: Scheme>(
    state: *mut c_void,
    step: *const types::Step,
    packet: *const types::Handshake,
) {
    // SAFETY: `create` has made the state, the other pointers are valid for the call, and the
    // options have their size.
    let (scheme, step, packet, options) = unsafe {
        let options = list((*packet).options, usize::from((*packet).options_size));
        (&mut *state.cast::<S>(), *step, &*packet, options)
    };
    let seen = Handshake {
        out_hash: packet.out_hash,
        ingress: ingress_of(packet.from_host),
        flags: TcpFlags(packet.flags),
        options,
    };
    scheme.handshake(step_of(step), &seen);
}

unsafe extern "C" fn egress<S: Scheme>(
    state: *mut c_void,
    step: *const types::Step,
    packet: *mut types::Packet,
) {
    // SAFETY: `create` has made the state, the other pointers are valid for the call.
    let (scheme, step, packet) = unsafe { (&mut *state.cast::<S>(), *step, &mut *packet) };
    let mut header = header_of(packet);
    scheme.egress(step_of(step), &mut header);
    write(&header, packet);
}

unsafe extern "C" fn originate<S: Scheme>(
    state: *mut c_void,
    step: *const types::Step,
    probe: *mut types::Probe,
) -> u8 {
    // SAFETY: `create` has made the state, the other pointers are valid for the call.
    let (scheme, step, probe) = unsafe { (&mut *state.cast::<S>(), *step, &mut *probe) };
    answer(scheme.originate(step_of(step)), probe)
}

unsafe extern "C" fn probe<S: Scheme>(
    state: *mut c_void,
    step: *const types::Step,
    arrival: *const types::ProbeArrival,
    ports: *const types::Ports,
    forwarded: *mut types::Probe,
) -> u8 {
    // SAFETY: `create` has made the state, the other pointers are valid for the call.
    let (scheme, step, arrival, ports, forwarded) =
        unsafe { (&mut *state.cast::<S>(), *step, *arrival, &*ports, &mut *forwarded) };
    let arrival = ProbeArrival {
        port: Port(arrival.port),
        probe: Probe { tor: Tor(arrival.probe.tor), util: arrival.probe.util },
        is_next_hop: arrival.is_next_hop != 0,
    };
    answer(scheme.probe(step_of(step), &arrival, &mut Given(ports)), forwarded)
}

unsafe extern "C" fn state_bytes<S: Scheme>(state: *mut c_void) -> u64 {
    // SAFETY: `create` has made the state.
    unsafe { &*state.cast::<S>() }.state_bytes() as u64
}

unsafe extern "C" fn counters<S: Scheme>(state: *mut c_void, to: *mut types::Counters) {
    // SAFETY: `create` has made the state, the other pointer is valid for the call.
    let (counters, to) = unsafe { ((*state.cast::<S>()).counters(), &mut *to) };
    *to = types::Counters {
        flowlets: counters.flowlets,
        moves: counters.moves,
        fallbacks: counters.fallbacks,
        probes: counters.probes,
        shims: counters.shims,
        shared: counters.shared,
        connections: counters.association.connections,
        joins: counters.association.joins,
        unknown_tokens: counters.association.unknown_tokens,
        token_collisions: counters.association.token_collisions,
        table_collisions: counters.association.table_collisions,
        wraps: counters.association.wraps,
    };
}

/// A list that C passes; null is an empty one.
///
/// # Safety
/// Unless null, `first` points to `count` elements that are valid for `'a`.
unsafe fn list<'a, T>(first: *const T, count: usize) -> &'a [T] {
    if first.is_null() {
        return &[];
    }
    // SAFETY: the caller's promise.
    unsafe { slice::from_raw_parts(first, count) }
}

fn step_of(step: types::Step) -> Step {
    Step { now: step.now, rnd: step.random }
}

fn ingress_of(from_host: u8) -> Ingress {
    if from_host != 0 { Ingress::Host } else { Ingress::Fabric }
}

fn header_of(packet: &types::Packet) -> Header {
    let shim = Subflow::new(packet.subflow)
        .map(|subflow| Shim { id: MptcpId(packet.connection), subflow });
    Header {
        flow_hash: packet.flow_hash,
        src_tor: Tor(packet.src_tor),
        dst_tor: Tor(packet.dst_tor),
        ingress: ingress_of(packet.from_host),
        tag: packet.tag,
        shim,
        fields: None,
    }
}

/// Writes what a scheme may change.
fn write(header: &Header, packet: &mut types::Packet) {
    packet.tag = header.tag;
    packet.subflow = header.shim.map_or(0, |shim| shim.subflow.number());
    packet.connection = header.shim.map_or(0, |shim| shim.id.0);
}

fn answer(probe: Option<Probe>, to: &mut types::Probe) -> u8 {
    if let Some(probe) = probe {
        *to = types::Probe { tor: probe.tor.0, util: probe.util };
    }
    probe.is_some().into()
}

/// Ports that C passes.
struct Given<'a>(&'a types::Ports);

impl Ports for Given<'_> {
    #[inline]
    fn tx_util(&mut self, port: Port) -> Util {
        // SAFETY: the functions and their context are valid for the call that passed them.
        unsafe { (self.0.tx_util)(self.0.context, port.0) }
    }

    #[inline]
    fn queue_bytes(&mut self, port: Port) -> u32 {
        // SAFETY: as above.
        unsafe { (self.0.queue_bytes)(self.0.context, port.0) }
    }

    #[inline]
    fn is_up(&mut self, port: Port) -> bool {
        // SAFETY: as above.
        unsafe { (self.0.is_up)(self.0.context, port.0) != 0 }
    }
}
