//! The objects that the build made.

use aya::{Ebpf, EbpfLoader, include_bytes_aligned};
use heddle_bpf_loader::Pins;

use crate::abi::SwitchScheme;
use crate::{Error, Hook, Scheme, tables};

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

/// The maps of every scheme.
const COMMON: [&str; 10] = [
    "config",
    "ports",
    "meters",
    "tor_groups",
    "groups",
    "port_of_interface",
    "destinations",
    "verdicts",
    "port_counts",
    "scheme_counts",
];

fn bytes(scheme: Scheme, hook: Hook) -> Result<&'static [u8], Error> {
    let name = SwitchScheme::from_number(scheme.number()).map(SwitchScheme::name);
    let object = OBJECTS.iter().find(|object| Some(object.name) == name);
    let object = object.ok_or(Error::Missing("program of the scheme"))?;
    Ok(if hook == Hook::Tc { object.tc } else { object.xdp })
}

/// The object of a scheme at a hook; maps that `pins` has are taken as they are. Names of maps that
/// it does not have are ignored.
pub(crate) fn switch(scheme: Scheme, hook: Hook, pins: &Pins) -> Result<Ebpf, Error> {
    let mut loader = EbpfLoader::new();
    for name in COMMON.iter().chain(&tables::MAPS) {
        loader.map_pin_path(name, pins.path(name));
    }
    Ok(loader.load(bytes(scheme, hook)?)?)
}

/// The object of the program that prepares CFLB's constants.
pub(crate) fn prepare() -> Result<Ebpf, Error> {
    Ok(EbpfLoader::new().load(PREPARE)?)
}
