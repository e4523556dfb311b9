//! The objects that the build made.

use std::num::NonZeroU32;

use aya::{Ebpf, EbpfLoader, include_bytes_aligned};
use heddle_bpf_loader::Pins;

use crate::{Error, Hook, Scheme};

macro_rules! object {
    ($name:literal) => {
        include_bytes_aligned!(concat!(env!("OUT_DIR"), "/", $name, ".o"))
    };
}

/// The programs of a scheme.
struct Object {
    name: &'static str,
    tc: &'static [u8],
    xdp: &'static [u8],
}

/// By the names of the schemes in C.
const OBJECTS: &[Object] = include!(concat!(env!("OUT_DIR"), "/objects.rs"));
const PREPARE: &[u8] = object!("prepare");

/// The map of postcards, which is not pinned: each daemon reads those of its own programs.
pub(crate) const POSTCARDS: &str = "postcards";

/// The maps that are pinned, beside the scheme's tables.
const MAPS: [&str; 16] = [
    "config",
    "ports",
    "meters",
    "tor_groups",
    "groups",
    "near_interfaces",
    "far_interfaces",
    "destinations",
    "prefixes",
    "verdicts",
    "port_counts",
    "scheme_counts",
    "tor_locks",
    "association_lock",
    "cflb_prepared",
    "cflb_memo",
];

fn bytes(scheme: Scheme, hook: Hook) -> Result<&'static [u8], Error> {
    let object = OBJECTS.iter().find(|object| object.name == scheme.name());
    let object = object.ok_or(Error::Missing("program of the scheme"))?;
    Ok(if hook == Hook::Tc { object.tc } else { object.xdp })
}

/// The ring buffer of postcards, in bytes: 16,000 of them wait for the daemon.
const RING: u32 = 1 << 20;

/// The object of a scheme at a hook; maps that `pins` has are taken as they are. Names of maps that
/// it does not have are ignored. One in `one_in` packets has a postcard, if there is one.
pub(crate) fn switch(
    scheme: Scheme,
    hook: Hook,
    pins: &Pins,
    one_in: Option<NonZeroU32>,
) -> Result<Ebpf, Error> {
    let below = one_in.map_or(0, |packets| (1_u64 << 32).div_ceil(packets.get().into()));
    let mut loader = EbpfLoader::new();
    loader.override_global("POSTCARD_BELOW", &below, true);
    if one_in.is_some() {
        loader.map_max_entries(POSTCARDS, RING);
    }
    let tables = scheme.layout().map(|layout| layout.map);
    for name in MAPS.into_iter().chain(tables) {
        loader.map_pin_path(name, pins.path(name));
    }
    Ok(loader.load(bytes(scheme, hook)?)?)
}

/// The object of the program that prepares CFLB's constants.
pub(crate) fn prepare() -> Result<Ebpf, Error> {
    Ok(EbpfLoader::new().load(PREPARE)?)
}
