//! Compiles the switch for each scheme and hook, and makes Rust types of what the programs share
//! with user space.

use std::path::PathBuf;
use std::process::ExitCode;
use std::{env, fs};

use heddle_bpf_build::types::Types;
use heddle_bpf_build::{Error, Scheme, exit_code, headers_of_tables, programs, schemes, variant};

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
    let tables = headers_of_tables()?.into_iter().map(|header| &*header.leak());
    let headers: Vec<&str> =
        ["switch/abi.h", "switch/switch_abi.h"].into_iter().chain(tables).collect();
    Types {
        headers: headers.leak(),
        foreign: &["address", "count"],
        whole_names: &["switch_counter"],
        totals: &["SWITCH_VERDICTS", "SWITCH_COUNTERS", "PORT_COUNTERS"],
    }
    .write()
}
