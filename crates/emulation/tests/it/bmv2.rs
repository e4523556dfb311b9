//! The P4 programs on BMv2 switches under a whole run of the lab. Without BMv2 the tests are
//! skipped, with a line for each.

use std::env;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use heddle_testing::{Need, require_built, skip_because, skip_without};
use serde_json::Value;

const PROGRAM: &str = env!("CARGO_BIN_EXE_heddle-emulation");
const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// Two leaves of one host, two spines: four switches. BMv2 carries some thousand packets a second.
const SCENARIO: &str = r#"
    title = "a small fabric of BMv2 switches"
    scheme = { kind = "hula", probe_period = "100ms", flowlet_gap = "120ms" }
    [fabric]
    kind = "leaf-spine"
    leaves = 2
    hosts_per_leaf = 1
    parallel_links = 1
    host_rate = "4Mbps"
    spine_rate = "4Mbps"
    link_delay = "0us"
    port_buffer = "100KB"
    [transport]
    kind = "tcp"
    min_rto = "200ms"
    [workload]
    kind = "flows"
    sizes = "fixed:30KB"
    load = 0.4
    pattern = "cross-pod"
    connections = "per-flow"
    [measure]
    probe_warm_up = "500ms"
    warm_up = "0s"
    flows = 10
"#;

/// True if the test has to end, skipped.
#[track_caller]
fn skip() -> bool {
    skip_without(Need::Root) || skip_because(missing().as_deref())
}

/// The programs that the switches' program misses on this machine, in its own words.
fn missing() -> Option<String> {
    let program = Path::new(ROOT).join("p4/heddle-p4-switch");
    let output = Command::new(program).arg("--check").output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).trim().replace('\n', "; ");
    (!output.status.success()).then_some(said)
}

/// A command on BMv2, with `p4` on the PATH.
fn command(arguments: &[&str]) -> Command {
    let path = env::var_os("PATH").unwrap_or_default();
    let folders = [Path::new(ROOT).join("p4")].into_iter().chain(env::split_paths(&path));
    let mut command = Command::new(PROGRAM);
    command.env("PATH", env::join_paths(folders).unwrap());
    command.args(["--quiet", "--json", "run", "--rate-scale", "1", "--dataplane", "bmv2"]);
    command.args(arguments);
    command
}

fn run(folder: &Path, changes: &[&str]) -> Value {
    let scenario = folder.join("small.toml");
    fs::write(&scenario, SCENARIO).unwrap();
    let mut command =
        command(&[scenario.to_str().unwrap(), "--out", folder.join("out").to_str().unwrap()]);
    changes.iter().for_each(|change| {
        command.args(["--set", change]);
    });
    results(&command.output().unwrap())
}

fn results(output: &Output) -> Value {
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    serde_json::from_slice(&output.stdout).unwrap()
}

fn counter(run: &Value, name: &str) -> u64 {
    run["totals"][name].as_u64().unwrap_or_else(|| panic!("{name}: {}", run["totals"]))
}

/// The only run, in which all flows arrived whole.
fn complete(results: &Value, flows: u64) -> &Value {
    let run = &results["result"]["runs"][0];
    assert_eq!(run["fct"]["all"]["flows"], flows, "{run}");
    assert_eq!(run["totals"]["unfinished"], 0);
    assert_eq!(results["lab"]["facts"][0][1]["corrupt"], 0);
    run
}

#[test]
fn hula_delivers_all_flows_and_its_counters_are_in_the_report() {
    if skip() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let results = run(folder.path(), &[]);
    let run = complete(&results, 10);
    // Each flow starts a flowlet at its leaf, and its acknowledgements one at the other, unless a
    // slot or a flow before it has one that lives.
    assert!(counter(run, "flowlets") >= 2, "{}", run["totals"]);
    // A frame of 60 bytes a link, spine and ToR in each period at most; in the warm-up alone there
    // are some.
    let bytes = counter(run, "probe_bytes");
    assert!(bytes > 0 && bytes.is_multiple_of(60), "{bytes}");
    assert_eq!(counter(run, "shims"), 0, "HULA adds none");
}

#[test]
fn mp_hula_associates_the_subflows_of_kernels_connections() {
    associates("mp-hula");
}

#[test]
fn shuttle_associates_the_subflows_of_kernels_connections() {
    associates("shuttle");
}

/// Kernels join; the ToRs' programs compute the tokens, find the connections and add shims.
fn associates(kind: &str) {
    if skip() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let scheme = format!(
        "scheme={{ kind = \"{kind}\", probe_period = \"100ms\", flowlet_gap = \"120ms\", best_k = 2 }}"
    );
    let mptcp = "transport={ kind = \"mptcp\", subflows = 2, coupling = \"uncoupled\" }";
    let larger = ["workload.sizes=fixed:200KB", "measure.flows=4"];
    let results = run(folder.path(), &[&[scheme.as_str(), mptcp], &larger[..]].concat());
    let run = complete(&results, 4);
    let subflows = &results["lab"]["facts"][0][1]["subflows"];
    assert!(subflows["2"].as_u64() > Some(0), "{subflows}");
    for name in ["associated_connections", "associated_joins", "shims"] {
        assert!(counter(run, name) > 0, "{name}: {}", run["totals"]);
    }
}

/// Nine switches. Agents open seven subflows from the ports that encode the seven paths, and the
/// programs decode them.
#[test]
fn under_cflb_seven_subflows_carry_data_over_seven_links() {
    if skip() {
        return;
    }
    require_built(PROGRAM, "heddle-agent");
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let scenario = Path::new(ROOT).join("scenarios/lab/seven-links.toml");
    let words = [scenario.to_str().unwrap(), "--set", "seeds=[1]", "--out", out.to_str().unwrap()];
    let results = results(&command(&words).output().unwrap());
    let run = &results["result"]["runs"][0];
    assert_eq!(results["lab"]["facts"][0][1]["broken"], 0);
    assert!(counter(run, "controlled") > 0, "{}", run["totals"]);
    let samples = fs::read_to_string(out.join("links.csv")).unwrap();
    for spine in 1..=7 {
        let from = format!(",leaf-1,spine-{spine},");
        let of_link = samples.lines().filter(|line| line.contains(&from));
        let bytes = of_link.filter_map(|line| line.split(',').nth(5)?.parse::<u64>().ok());
        let bytes = bytes.sum::<u64>();
        // More than handshakes and what an agent says.
        assert!(bytes > 10_000, "spine-{spine} carried {bytes} bytes");
    }
}

#[test]
fn what_is_missing_is_named_with_the_fix_before_anything_is_built() {
    let folder = tempfile::tempdir().unwrap();
    let scenario = folder.path().join("small.toml");
    fs::write(&scenario, SCENARIO).unwrap();
    let mut command = command(&[scenario.to_str().unwrap()]);
    let path = env::join_paths([folder.path(), Path::new("/usr/bin"), Path::new("/bin")]).unwrap();
    let refused = command.env("PATH", path).output().unwrap();
    let text = String::from_utf8_lossy(&refused.stdout).into_owned()
        + &String::from_utf8_lossy(&refused.stderr);
    assert_eq!(refused.status.code(), Some(127), "{text}");
    assert!(text.contains("heddle-p4-switch is not on the PATH"), "{text}");
    assert!(text.contains("./x setup p4"), "{text}");
}
