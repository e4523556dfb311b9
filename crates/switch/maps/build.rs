//! Compiles the switch for each scheme and hook, and makes Rust types of what the programs share
//! with user space.

use std::path::PathBuf;
use std::process::ExitCode;
use std::{env, fs};

use heddle_bpf_build::types::Types;
use heddle_bpf_build::{Error, Scheme, exit_code, programs, schemes, variant};

fn main() -> ExitCode {
    exit_code(build())
}

fn build() -> Result<(), Error> {
    let mut objects = "&[\n".to_owned();
    for Scheme { name, flag } in schemes()? {
        variant("switch/switch.bpf.c", &format!("{name}_tc"), &[&flag])?;
        variant("switch/switch.bpf.c", &format!("{name}_xdp"), &[&flag, "-DHEDDLE_XDP"])?;
        objects += &format!(
            "Object {{ name: \"{name}\", tc: object!(\"{name}_tc\"), xdp: object!(\"{name}_xdp\") }},\n"
        );
    }
    let path = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default()).join("objects.rs");
    fs::write(&path, objects + "]\n").map_err(|error| Error::File { path, error })?;
    programs(&["switch/prepare.bpf.c"])?;
    Types {
        headers: &[
            "switch/abi.h",
            "switch/switch_abi.h",
            "switch/hula.h",
            "switch/mp_hula.h",
            "switch/let_it_flow.h",
            "switch/conga.h",
        ],
        foreign: &["address", "count"],
        whole_names: &["switch_counter"],
        totals: &["SWITCH_VERDICTS", "SWITCH_COUNTERS", "PORT_COUNTERS"],
    }
    .write()
}
