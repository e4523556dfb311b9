//! The demonstration's output.

use std::process::Command;

use heddle_testing::{Need, require_built, skip_without};
use serde_json::Value;

const PROGRAM: &str = env!("CARGO_BIN_EXE_heddle-emulation");

#[test]
fn the_demo_shows_three_systems_with_their_subflows_before_the_cut_and_their_goodput() {
    if skip_without(Need::Root) {
        return;
    }
    require_built(PROGRAM, "heddle-switch");
    let folder = tempfile::tempdir().unwrap();
    let mut command = Command::new(PROGRAM);
    let output = command.args(["--quiet", "--json", "demo", "--out"]).arg(folder.path());
    let output = output.output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{}: {said}", output.status);
    let shown: Value = serde_json::from_slice(&output.stdout).unwrap();
    let systems = shown["systems"].as_array().unwrap();
    let named: Vec<_> = systems.iter().map(|one| one["system"].as_str().unwrap()).collect();
    assert_eq!(named, ["MP-HULA", "HULA", "ECMP (kernel routes)"]);
    for one in systems {
        let before = &one["before"];
        assert!(before["samples"].as_u64() > Some(0), "subflows before the cut: {before}");
        assert!(before["apart"].as_u64() <= before["samples"].as_u64(), "{before}");
        let totals = &one["run"]["totals"];
        assert!(totals["goodput_bps"].as_f64() > Some(0.0), "{totals}");
        for moved in one["moves"].as_array().unwrap() {
            assert!(moved["seconds"].is_null() || moved["seconds"].as_f64() > Some(0.0), "{moved}");
        }
    }
    for file in ["demo.json", "report.html"] {
        assert!(folder.path().join(file).is_file(), "{file}");
    }
}
