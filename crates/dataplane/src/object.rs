//! The objects that the build made, and how they are loaded.

use aya::{Ebpf, EbpfLoader, include_bytes_aligned};

use crate::pins::Pins;
use crate::{Clock, Error, Program, Sizes};

const BALANCER: &[u8] = include_bytes_aligned!(concat!(env!("OUT_DIR"), "/balancer.o"));
const PASS: &[u8] = include_bytes_aligned!(concat!(env!("OUT_DIR"), "/pass.o"));

/// Maps that a balancer's programs have in common. What is not named here (the trace, constants) each has for itself.
pub(crate) const SHARED: [&str; 15] = [
    "vips",
    "targets",
    "target_ids",
    "peers",
    "maglev",
    "ring",
    "flows",
    "tokens",
    "fragments",
    "assigned",
    "ready_keys",
    "settings",
    "counters",
    "target_counts",
    "allowances",
];

/// Whether a program does what it decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Effect {
    Acts,
    Explains,
}

/// The balancer's object with maps of these sizes; those that `pins` has are taken as they are.
pub(crate) fn balancer(
    sizes: &Sizes,
    clock: Clock,
    effect: Effect,
    pins: &Pins,
) -> Result<Ebpf, Error> {
    let (flows, tokens) = (sizes.flow_buckets(), sizes.token_buckets());
    let dry_run = u8::from(effect == Effect::Explains);
    let settings_clock = u8::from(clock == Clock::Settings);
    let mut loader = EbpfLoader::new();
    loader
        .override_global("FLOW_BUCKETS", &flows.main, true)
        .override_global("FLOW_EXTRA", &flows.extra, true)
        .override_global("TOKEN_BUCKETS", &tokens.main, true)
        .override_global("TOKEN_EXTRA", &tokens.extra, true)
        .override_global("DRY_RUN", &dry_run, true)
        .override_global("SETTINGS_CLOCK", &settings_clock, true);
    for (map, entries) in sizes.entries() {
        loader.map_max_entries(map, entries);
    }
    for map in SHARED {
        loader.map_pin_path(map, pins.path(map));
    }
    Ok(loader.load(BALANCER)?)
}

/// The program that passes everything: what the far end of a veth pair needs, or native XDP's frames are lost there.
///
/// # Errors
/// [`Error`] if the kernel does not take it: not root, or no eBPF.
pub fn pass() -> Result<Program, Error> {
    Program::load(EbpfLoader::new().load(PASS)?, "heddle_pass")
}
