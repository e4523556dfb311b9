//! The demonstration's output.

use std::collections::BTreeMap;
use std::process::Command;

use heddle_testing::{Need, require_built, skip_without};
use serde_json::Value;

const LAB: &str = env!("CARGO_BIN_EXE_heddle-lab");

/// Each of three joins reaches the backend of its connection with probability 1/4: all of them in a
/// run of 64, in three runs one after the other once in 262,144 times.
const RUNS: usize = 3;

#[test]
fn the_demo_cuts_the_balancer_with_most_subflows_and_plain_hashing_alone_loses_joins() {
    if skip_without(Need::Root) {
        return;
    }
    require_built(LAB, "heddled");
    let mut lost = 0;
    for _ in 0..RUNS {
        let [off, learn] = demo();
        assert_eq!((&off["mode"], &learn["mode"]), (&"off".into(), &"learn".into()));
        for run in [&off, &learn] {
            shows_its_subflows(run);
            let joins = count(run, "joins_established") + count(run, "joins_refused");
            assert_eq!((count(run, "joins"), joins), (3, 3), "established or refused: {run:#}");
        }
        assert_eq!(count(&learn, "joins_established"), 3, "{learn:#}");
        lost += count(&off, "joins_refused");
        if lost > 0 {
            return;
        }
    }
    panic!("plain hashing has lost none of {} joins", 3 * RUNS);
}

/// Each subflow of a run has a balancer before and after, and the backend that all have; most have
/// the balancer that fails, and none of those that live has it afterwards.
fn shows_its_subflows(run: &Value) {
    let subflows = run["subflows"].as_array().unwrap();
    assert_eq!(subflows.len() as u64, 1 + count(run, "joins_established"), "{run:#}");
    let cut = format!("balancer-{}", run["cut"]);
    let mut through = BTreeMap::<&str, usize>::new();
    for subflow in subflows {
        let [before, after] = [0, 1].map(|time| subflow["through"][time].as_str().unwrap());
        assert!(before.starts_with("balancer-"), "{run:#}");
        assert_ne!(after, cut, "it is gone: {run:#}");
        assert!(after.starts_with("balancer-") || subflow["end"] != "live", "{run:#}");
        assert_eq!(subflow["backend"], subflows[0]["backend"], "{run:#}");
        assert!(subflow["backend"].as_str().unwrap().starts_with("backend-"), "{run:#}");
        *through.entry(before).or_default() += 1;
    }
    assert_eq!(through.values().max(), through.get(&*cut), "it has most subflows: {run:#}");
    let bytes: u64 = subflows.iter().map(|subflow| count(subflow, "bytes")).sum();
    // The first bytes of a subflow come before it is looked at for the first time.
    assert!(bytes > 9 * count(run, "megabytes") * 100_000, "by the subflows together: {run:#}");
}

fn count(value: &Value, name: &str) -> u64 {
    value[name].as_u64().unwrap_or_else(|| panic!("no {name}: {value:#}"))
}

/// The runs that the demonstration prints.
fn demo() -> [Value; 2] {
    let output = Command::new(LAB).args(["demo", "--json", "--quiet"]).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{}: {said}", output.status);
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {said}"))
}
