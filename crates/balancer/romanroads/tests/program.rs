//! The program as its users run it.

use heddle_program::testing::Folder;
use heddle_testing::{Need, skip_without};

fn folder() -> Folder {
    Folder::of(env!("CARGO_BIN_EXE_heddle-romanroads"))
}

/// The experiments need root; their names do not.
#[test]
fn an_unknown_claim_is_refused() {
    let folder = folder();
    let text = folder.run("R9").failed(1);
    assert_eq!(text, "error: there is no claim R9; RomanRoads' are R1 to R4\n");
    let json = folder.run("--json -- R9").json();
    assert_eq!(json["error"], "failed");
    assert_eq!(folder.list("results"), [""; 0]);
}

#[test]
fn help_and_completions_need_no_root() {
    let folder = folder();
    let help = folder.run("--help").ok();
    for option in ["--quick", "--full", "--out", "--json", "--quiet"] {
        assert!(help.contains(option), "{option}: {help}");
    }
    assert!(!help.contains("--jobs"), "{help}");
    assert!(folder.run("completions bash").ok().contains("heddle-romanroads"));
}

/// As published and with learning, every join reaches its backend; without MPTCP, by chance.
#[test]
fn joins_are_judged_on_the_real_programs() {
    if skip_without(Need::Root) {
        return;
    }
    let folder = folder();
    let ran = folder.run("r1 --json --out o");
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert_eq!(ran.err, "R1: joins that reach their connection's backend, seed 1\n");
    let printed = ran.json();
    assert_eq!(printed, folder.json("o/claims.json"));
    let findings = printed["claims"].as_array().unwrap();
    assert_eq!(findings.len(), 7);
    assert!(findings.iter().all(|f| f["id"] == "R1" && f["verdict"] == "agrees"), "{findings:?}");
    let measured = folder.json("o/measured.json");
    let keys: Vec<&String> = measured[0].as_object().unwrap().keys().collect();
    assert_eq!(keys, ["churn", "failure", "joins", "room", "seed"]);
    assert_eq!(measured[0]["joins"].as_array().unwrap().len(), 24);
    assert_eq!(folder.list("o/plots"), ["joins-1.svg", "joins-2.svg"]);
}
