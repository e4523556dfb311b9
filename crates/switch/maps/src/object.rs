//! The objects that the build made.

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

/// The object of a scheme at a hook; maps that `pins` has are taken as they are. Names of maps that
/// it does not have are ignored.
pub(crate) fn switch(scheme: Scheme, hook: Hook, pins: &Pins) -> Result<Ebpf, Error> {
    let mut loader = EbpfLoader::new();
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
