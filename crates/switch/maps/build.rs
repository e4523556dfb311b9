//! Compiles the switch for each scheme and hook, and makes Rust types of what the programs share with user space.

use std::process::ExitCode;

use heddle_bpf_build::types::Types;
use heddle_bpf_build::{Error, exit_code, programs, variant};

/// The schemes, by the names of their objects, and the macros that choose them (bpf/switch/scheme.h).
const SCHEMES: [(&str, &str); 5] = [
    ("ecmp", "-DWITH_ECMP"),
    ("hula", "-DWITH_HULA"),
    ("mp_hula", "-DWITH_MP_HULA"),
    ("cflb", "-DWITH_CFLB"),
    ("shuttle", "-DWITH_SHUTTLE"),
];

fn main() -> ExitCode {
    exit_code(build())
}

fn build() -> Result<(), Error> {
    for (name, flag) in SCHEMES {
        variant("switch/switch.bpf.c", &format!("{name}_tc"), &[flag])?;
        variant("switch/switch.bpf.c", &format!("{name}_xdp"), &[flag, "-DHEDDLE_XDP"])?;
    }
    programs(&["switch/prepare.bpf.c"])?;
    Types {
        headers: &["switch/abi.h", "switch/switch_abi.h", "switch/hula.h", "switch/mp_hula.h"],
        foreign: &["address", "count"],
        whole_names: &["switch_counter"],
        totals: &["SWITCH_VERDICTS", "SWITCH_COUNTERS", "PORT_COUNTERS"],
    }
    .write()
}
