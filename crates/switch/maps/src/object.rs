//! The objects that the build made.

use aya::{Ebpf, EbpfLoader, include_bytes_aligned};
use heddle_bpf_loader::Pins;

use crate::{Error, Hook, Scheme};

macro_rules! object {
    ($name:literal) => {
        include_bytes_aligned!(concat!(env!("OUT_DIR"), "/", $name, ".o"))
    };
}

const ECMP_TC: &[u8] = object!("ecmp_tc");
const ECMP_XDP: &[u8] = object!("ecmp_xdp");
const HULA_TC: &[u8] = object!("hula_tc");
const HULA_XDP: &[u8] = object!("hula_xdp");
const MP_HULA_TC: &[u8] = object!("mp_hula_tc");
const MP_HULA_XDP: &[u8] = object!("mp_hula_xdp");
const CFLB_TC: &[u8] = object!("cflb_tc");
const CFLB_XDP: &[u8] = object!("cflb_xdp");
const SHUTTLE_TC: &[u8] = object!("shuttle_tc");
const SHUTTLE_XDP: &[u8] = object!("shuttle_xdp");
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

fn bytes(scheme: Scheme, hook: Hook) -> &'static [u8] {
    match (scheme, hook) {
        (Scheme::Ecmp, Hook::Tc) => ECMP_TC,
        (Scheme::Ecmp, _) => ECMP_XDP,
        (Scheme::Hula, Hook::Tc) => HULA_TC,
        (Scheme::Hula, _) => HULA_XDP,
        (Scheme::MpHula, Hook::Tc) => MP_HULA_TC,
        (Scheme::MpHula, _) => MP_HULA_XDP,
        (Scheme::Cflb, Hook::Tc) => CFLB_TC,
        (Scheme::Cflb, _) => CFLB_XDP,
        (Scheme::Shuttle, Hook::Tc) => SHUTTLE_TC,
        (Scheme::Shuttle, _) => SHUTTLE_XDP,
    }
}

/// The maps of a scheme alone.
pub(crate) fn own_maps(scheme: Scheme) -> &'static [&'static str] {
    match scheme {
        Scheme::Ecmp => &[],
        Scheme::Hula => &["hula_tables", "tor_locks"],
        Scheme::MpHula | Scheme::Shuttle => &["mp_hula_tables", "tor_locks", "association_lock"],
        Scheme::Cflb => &["cflb_prepared", "cflb_memo"],
    }
}

/// The object of a scheme at a hook; maps that `pins` has are taken as they are.
pub(crate) fn switch(scheme: Scheme, hook: Hook, pins: &Pins) -> Result<Ebpf, Error> {
    let mut loader = EbpfLoader::new();
    for name in COMMON.iter().chain(own_maps(scheme)) {
        loader.map_pin_path(name, pins.path(name));
    }
    Ok(loader.load(bytes(scheme, hook))?)
}

/// The object of the program that prepares CFLB's constants.
pub(crate) fn prepare() -> Result<Ebpf, Error> {
    Ok(EbpfLoader::new().load(PREPARE)?)
}
