//! The objects that the build made, and how they are loaded.

use aya::{Ebpf, EbpfLoader, include_bytes_aligned};
use heddle_bpf_loader::Pins;
use heddle_bpf_loader::maps::Shape;
use rustix::time::{ClockId, clock_getres};

use crate::maps::{PinnedMaps, in_object, pinned_settings};
use crate::{Clock, Error, Sizes, Sources};

const BALANCER: &[u8] = include_bytes_aligned!(concat!(env!("OUT_DIR"), "/balancer.o"));
const TICK: &[u8] = include_bytes_aligned!(concat!(env!("OUT_DIR"), "/tick.o"));
const DECAP: &[u8] = include_bytes_aligned!(concat!(env!("OUT_DIR"), "/decap.o"));
const TRANSLATE: &[u8] = include_bytes_aligned!(concat!(env!("OUT_DIR"), "/translate.o"));

/// The name of its program.
pub(crate) const BALANCER_PROGRAM: &str = "heddle_balancer";

/// The effect of a program's decisions: carried out, or only explained.
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
    let fragments = sizes.fragment_buckets();
    let dry_run = u8::from(effect == Effect::Explains);
    let settings_clock = u8::from(clock == Clock::Settings);
    // aya writes data over a map that is there already: let it write what it finds.
    let settings = pinned_settings(&pins.path("settings"))?;
    let jiffy = jiffy();
    let mut loader = EbpfLoader::new();
    loader
        .override_global("settings", &settings, true)
        .override_global("FLOW_BUCKETS", &flows.main, true)
        .override_global("FLOW_EXTRA", &flows.extra, true)
        .override_global("TOKEN_BUCKETS", &tokens.main, true)
        .override_global("TOKEN_EXTRA", &tokens.extra, true)
        .override_global("FRAGMENT_BUCKETS", &fragments, true)
        .override_global("DRY_RUN", &dry_run, true)
        .override_global("SETTINGS_CLOCK", &settings_clock, true)
        .override_global("JIFFY", &jiffy, true);
    for shape in PinnedMaps::new(sizes).shapes() {
        loader.map_max_entries(in_object(&shape), shape.entries);
        loader.map_pin_path(in_object(&shape), pins.path(shape.name));
    }
    Ok(loader.load(BALANCER)?)
}

/// The program that returns the tick.
pub(crate) fn tick() -> Result<Ebpf, Error> {
    Ok(EbpfLoader::new().override_global("JIFFY", &jiffy(), true).load(TICK)?)
}

/// The kernel's jiffy in nanoseconds: the resolution of its coarse clocks
/// (kernel/time/posix-timers.c, `posix_get_coarse_res`).
fn jiffy() -> u32 {
    let resolution = clock_getres(ClockId::MonotonicCoarse);
    u32::try_from(resolution.tv_nsec).unwrap_or(u32::MAX)
}

/// The backends' program.
pub(crate) fn decap(gue_port: u16, sources: Sources) -> Result<Ebpf, Error> {
    let (port, any) = (gue_port.to_be(), u8::from(sources == Sources::Any));
    let mut loader = EbpfLoader::new();
    loader.override_global("GUE_PORT", &port, true).override_global("ANY_SOURCE", &any, true);
    Ok(loader.load(DECAP)?)
}

/// The backends' programs that translate keys, with these maps; those that `pins` has are taken as
/// they are.
pub(crate) fn translate(link_bytes: u32, shapes: &[Shape], pins: &Pins) -> Result<Ebpf, Error> {
    let mut loader = EbpfLoader::new();
    loader.override_global("LINK_SIZE", &link_bytes, true);
    for shape in shapes {
        loader.map_max_entries(shape.name, shape.entries);
        loader.map_pin_path(shape.name, pins.path(shape.name));
    }
    Ok(loader.load(TRANSLATE)?)
}
