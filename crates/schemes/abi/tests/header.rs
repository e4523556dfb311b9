//! `include/heddle_scheme.h` against the types in Rust: a C compiler holds each size and offset.

use std::fmt::Write as _;
use std::mem::{offset_of, size_of};
use std::path::Path;
use std::process::Command;

use heddle_scheme_abi::{SYMBOL, VERSION, types};
use heddle_testing::require_program;

/// Adds an assertion of the size of a type, and one of the offset of each of its fields.
macro_rules! holds {
    ($checks:ident, $name:literal, $type:ty, $($field:ident),+) => {
        let (name, size) = (concat!("struct heddle_", $name), size_of::<$type>());
        let _ = writeln!($checks, "_Static_assert(sizeof({name}) == {size}, \"{name}\");");
        $(
            let (field, offset) = (stringify!($field), offset_of!($type, $field));
            let _ = writeln!(
                $checks,
                "_Static_assert(offsetof({name}, {field}) == {offset}, \"{name}.{field}\");"
            );
        )+
    };
}

#[test]
fn the_header_has_the_layout_of_the_types() {
    let mut checks = String::from("#include \"heddle_scheme.h\"\n");
    holds!(checks, "step", types::Step, now, random);
    holds!(checks, "switch", types::Switch, salt, tor, ports, tors, same_pod);
    holds!(
        checks,
        "packet",
        types::Packet,
        flow_hash,
        src_tor,
        dst_tor,
        tag,
        from_host,
        subflow,
        connection
    );
    holds!(checks, "probe", types::Probe, tor, util);
    holds!(checks, "probe_arrival", types::ProbeArrival, port, probe, is_next_hop);
    holds!(
        checks,
        "handshake",
        types::Handshake,
        out_hash,
        from_host,
        flags,
        options_size,
        options
    );
    holds!(checks, "ports", types::Ports, context, tx_util, queue_bytes, is_up);
    holds!(checks, "parameter", types::Parameter, name, value);
    holds!(checks, "setup", types::Setup, config, tau, probe_period, error);
    holds!(
        checks,
        "counters",
        types::Counters,
        flowlets,
        moves,
        fallbacks,
        probes,
        shims,
        shared,
        connections,
        joins,
        unknown_tokens,
        token_collisions,
        table_collisions,
        wraps
    );
    holds!(
        checks,
        "scheme",
        types::Table,
        abi,
        needs,
        name,
        configure,
        release,
        create,
        destroy,
        forward,
        handshake,
        egress,
        originate,
        probe,
        state_bytes,
        counters
    );
    let constants = [
        ("HEDDLE_SCHEME_ABI", VERSION),
        ("HEDDLE_NEEDS_RANDOM", types::NEEDS_RANDOM),
        ("HEDDLE_NEEDS_UTILISATION", types::NEEDS_UTILISATION),
        ("HEDDLE_USES_SHIM", types::USES_SHIM),
        ("HEDDLE_ERROR_SIZE", types::ERROR_SIZE as u32),
    ];
    for (name, value) in constants {
        let _ = writeln!(checks, "_Static_assert({name} == {value}, \"{name}\");");
    }
    let _ = writeln!(checks, "const struct heddle_scheme *(*entry)(void) = {SYMBOL};");
    compile(&checks);
}

fn compile(program: &str) {
    require_program("cc", "gcc");
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = folder.path().join("checks.c");
    std::fs::write(&file, program).expect("written");
    let include = Path::new(env!("CARGO_MANIFEST_DIR")).join("include");
    let done = Command::new("cc")
        .args(["-std=c11", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", "-I"])
        .args([&include, &file])
        .output()
        .expect("cc starts");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
}
