//! Small fabrics of namespaces, end to end: the program as a user runs it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, SystemTime};

use heddle_lab::eventually;
use heddle_testing::{Need, require_built, require_program, skip_without};
use serde_json::Value;

const PROGRAM: &str = env!("CARGO_BIN_EXE_heddle-emulation");

/// Limit on waits for an event that must come.
const LIMIT: Duration = Duration::from_secs(60);

/// Two leaves of two hosts, two spines: 5 Mbps, so that a busy machine carries it.
const SCENARIO: &str = r#"
    title = "a small fabric"
    scheme = "ecmp"
    [fabric]
    kind = "leaf-spine"
    leaves = 2
    hosts_per_leaf = 2
    parallel_links = 1
    host_rate = "5Mbps"
    spine_rate = "5Mbps"
    link_delay = "0us"
    port_buffer = "100KB"
    [transport]
    kind = "tcp"
    min_rto = "200ms"
    [workload]
    kind = "flows"
    sizes = "fixed:30KB"
    load = 0.3
    pattern = "cross-pod"
    connections = "per-flow"
    [measure]
    probe_warm_up = "0s"
    warm_up = "0s"
    flows = 20
"#;

fn command(folder: &Path, changes: &[&str]) -> Command {
    let scenario = folder.join("small.toml");
    fs::write(&scenario, SCENARIO).unwrap();
    let mut command = Command::new(PROGRAM);
    command.args(["--quiet", "--json", "run", "--rate-scale", "1"]).arg(scenario);
    command.arg("--out").arg(folder.join("out"));
    changes.iter().for_each(|change| {
        command.args(["--set", change]);
    });
    command
}

fn run(folder: &Path, changes: &[&str]) -> Output {
    command(folder, changes).output().unwrap()
}

fn results(output: &Output) -> Value {
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Namespaces of the fabrics of one process.
fn namespaces(process: u32) -> Vec<String> {
    let prefix = format!("heddle-fabric-run-{process}-");
    let entries = fs::read_dir("/run/netns").into_iter().flatten().flatten();
    let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
    names.filter(|name| name.starts_with(&prefix)).collect()
}

#[test]
fn all_bytes_of_all_flows_arrive_and_the_results_are_those_of_a_simulation() {
    if skip_without(Need::Root) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let sampled = ["measure.sample_every=50ms", "seeds=[1, 2]"];
    let results = results(&run(folder.path(), &sampled));
    for (run, facts) in
        [0, 1].map(|i| (&results["result"]["runs"][i], &results["lab"]["facts"][i][1]))
    {
        assert_eq!(run["fct"]["all"]["flows"], 20);
        assert_eq!(run["totals"]["unfinished"], 0);
        assert!(run["totals"]["delivered_bytes"].as_u64() >= Some(20 * 30_000));
        assert_eq!((&facts["corrupt"], &facts["broken"]), (&0.into(), &0.into()));
        // 30 KB are 21 frames of 2.4 ms at 5 Mbps; a full bucket lets the first pass at once, and a
        // tenth of the second.
        let median = &run["fct"]["all"]["seconds"]["p50"];
        assert!(median.as_f64() > Some(0.0455), "{median}");
    }
    let read = |name: &str| fs::read_to_string(folder.path().join("out").join(name)).unwrap();
    assert_eq!(read("flows.csv").lines().count(), 1 + 2 * 20);
    assert!(read("links.csv").lines().any(|line| line.contains("spine-1,leaf-2")));
    assert!(read("report.html").contains("Real kernels"));
    let lab: Value = serde_json::from_str(&read("lab.json")).unwrap();
    assert_eq!(lab["dataplane"], "kernel");
}

#[test]
fn mptcp_connections_have_their_subflows() {
    if skip_without(Need::Root) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let mptcp = "transport={ kind = \"mptcp\", subflows = 2, coupling = \"uncoupled\" }";
    // 1.5 s at 5 Mbps: a busy machine opens a subflow late.
    let larger = ["workload.sizes=fixed:900KB", "workload.load=0.6", "measure.flows=4"];
    // Flows of the warm-up, and those that start while the last measured ones end, count nowhere.
    let warm_up = ["measure.warm_up=1s"];
    let results = results(&run(folder.path(), &[&[mptcp], &larger[..], &warm_up[..]].concat()));
    assert_eq!(results["result"]["runs"][0]["fct"]["all"]["flows"], 4);
    let subflows = &results["lab"]["facts"][0][1]["subflows"];
    assert!(subflows["2"].as_u64() > Some(0), "{subflows}");
    let counts = subflows.as_object().unwrap().values().map(|flows| flows.as_u64().unwrap());
    assert!(counts.sum::<u64>() <= 4, "{subflows}");
}

/// The links to spine 1 fail for 1.5 s, in which eleven flows start; each takes spine 1 in one
/// direction at least with a probability of 3/4. Packets are lost until routes follow; then
/// everything arrives.
#[test]
fn flows_survive_a_link_that_fails_when_routes_follow() {
    if skip_without(Need::Root) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let event = "event=[{ at = \"200ms\", fail = [\"spine-1\"] }, { at = \"4s\", recover = [\"spine-1\"] }]";
    let changes =
        [event, "fabric.convergence=1500ms", "workload.sizes=fixed:100KB", "workload.load=0.6"];
    let results = results(&run(folder.path(), &changes));
    let run = &results["result"]["runs"][0];
    assert_eq!(
        (&run["fct"]["all"]["flows"], &run["totals"]["unfinished"]),
        (&20.into(), &0.into())
    );
    assert!(run["totals"]["timeouts"].as_u64() > Some(0), "flows across spine 1 waited");
}

#[test]
fn nothing_is_left_after_an_interruption() {
    if skip_without(Need::Root) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let mut child = start_long(folder.path());
    rustix::process::kill_process(
        rustix::process::Pid::from_child(&child),
        rustix::process::Signal::INT,
    )
    .unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert_eq!(namespaces(child.id()), [""; 0]);
}

#[test]
fn what_a_killed_process_left_is_found_and_removed() {
    if skip_without(Need::Root) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let mut child = start_long(folder.path());
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(!namespaces(child.id()).is_empty(), "nobody could remove them");
    // Another test's fabric may remove them first; either way they go, and without an error.
    let down = Command::new(PROGRAM).args(["--quiet", "down"]).output().unwrap();
    let text = String::from_utf8_lossy(&down.stderr).into_owned();
    assert!(down.status.success(), "{text}");
    assert_eq!(namespaces(child.id()), [""; 0]);
}

/// Starts a run that lasts for ever, and waits until its hosts send.
fn start_long(folder: &Path) -> Child {
    let long = ["measure.flows=100000", "measure.sample_every=50ms"];
    let mut command = command(folder, &long);
    let child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    eventually(LIMIT, || {
        let names = namespaces(child.id());
        let hosts = names.iter().filter(|name| name.contains(".host-"));
        let sends = |name: &&String| {
            let pids = Command::new("ip").args(["netns", "pids", name]).output();
            pids.is_ok_and(|output| !output.stdout.is_empty())
        };
        let running = hosts.filter(sends).count();
        if running == 4 { Ok(()) } else { Err(format!("{running} hosts in {names:?}")) }
    })
    .unwrap();
    child
}

#[test]
fn a_wrong_scenario_is_refused_with_file_key_and_fix() {
    let folder = tempfile::tempdir().unwrap();
    let refused = run(folder.path(), &["transport={ kind = \"mptcp\", coupling = \"olia\" }"]);
    let text = String::from_utf8_lossy(&refused.stderr).into_owned()
        + &String::from_utf8_lossy(&refused.stdout);
    assert_eq!(refused.status.code(), Some(3), "{text}");
    for part in ["transport.coupling", "uncoupled"] {
        assert!(text.contains(part), "{part} is missing: {text}");
    }
}

/// HULA in eBPF: the switches are a program of another package.
#[test]
fn ebpf_switches_forward_by_probes_and_lose_a_link_for_a_moment_only() {
    if skip_without(Need::Root) {
        return;
    }
    hula_loses_a_spine_for_a_moment_only(&[]);
}

#[test]
fn a_missing_bird_is_a_missing_program() {
    require_built(PROGRAM, "heddle-switch");
    let folder = tempfile::tempdir().unwrap();
    let mut command = command(folder.path(), &[]);
    command.args(["--dataplane", "ebpf", "--routes", "bird"]).env("PATH", folder.path());
    let refused = command.output().unwrap();
    let told: Value = serde_json::from_slice(&refused.stdout).unwrap();
    assert_eq!((refused.status.code(), &told["error"]), (Some(127), &"missing-program".into()));
    assert_eq!(told["message"], "BIRD is not installed");
}

/// BIRD's routes below HULA: no switch has the scenario.
#[test]
fn hula_runs_over_birds_routes() {
    if skip_without(Need::Root) {
        return;
    }
    require_program("bird", "bird2");
    hula_loses_a_spine_for_a_moment_only(&["--routes", "bird"]);
}

/// A spine's links fail silently; postcards tell the paths of flows before and after.
fn hula_loses_a_spine_for_a_moment_only(options: &[&str]) {
    require_built(PROGRAM, "heddle-switch");
    let folder = tempfile::tempdir().unwrap();
    let hula = "scheme={ kind = \"hula\", probe_period = \"20ms\", flowlet_gap = \"50ms\" }";
    let event = "event=[{ at = \"1500ms\", fail = [\"spine-1\"] }]";
    let longer = ["measure.probe_warm_up=1s", "workload.sizes=fixed:100KB", "measure.flows=10"];
    let changes = [&[hula, event, "fabric.convergence=1h"], &longer[..]].concat();
    let mut command = command(folder.path(), &changes);
    let command = command.args(["--dataplane", "ebpf", "--postcards", "1"]).args(options);
    let results = results(&command.output().unwrap());
    let run = &results["result"]["runs"][0];
    assert_eq!(
        (&run["fct"]["all"]["flows"], &run["totals"]["unfinished"]),
        (&10.into(), &0.into())
    );
    assert_eq!(results["lab"]["facts"][0][1]["corrupt"], 0);
    let paths = fs::read_to_string(folder.path().join("out/paths.csv")).unwrap();
    let lines: Vec<Vec<&str>> = paths.lines().skip(1).map(|l| l.split(',').collect()).collect();
    assert!(lines.len() >= 20, "two directions of ten flows at least: {paths}");
    for line in &lines {
        let ends: f64 = line[9].parse().unwrap();
        let path: Vec<&str> = line[12].split(' ').collect();
        assert!(path.len() == 3 && path[0] != path[2], "from leaf to leaf: {line:?}");
        let is_over = ends < 2.0;
        assert!(path[1] == "spine-2" || path[1] == "spine-1" && is_over, "{line:?}");
    }
}

#[test]
fn a_fabric_stays_up_and_its_nodes_can_be_entered() {
    if skip_without(Need::Root) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let scenario = folder.path().join("small.toml");
    fs::write(&scenario, SCENARIO).unwrap();
    let name = format!("test-{}", std::process::id());
    let heddle = |arguments: &[&str]| Command::new(PROGRAM).args(arguments).output().unwrap();
    let up = heddle(&["--quiet", "up", scenario.to_str().unwrap(), "--name", &name]);
    assert!(up.status.success(), "{}", String::from_utf8_lossy(&up.stderr));
    let routes =
        heddle(&["shell", "leaf-1", "--name", &name, "--", "ip", "route", "show", "10.2.0.0/16"]);
    let routes = String::from_utf8_lossy(&routes.stdout).into_owned();
    let again = heddle(&["up", scenario.to_str().unwrap(), "--name", &name]);
    let status = heddle(&["--json", "status"]);
    let down = heddle(&["down", &name]);
    assert_eq!(routes.matches("nexthop").count(), 2, "{routes}");
    assert!(String::from_utf8_lossy(&again.stderr).contains("is up"));
    assert!(String::from_utf8_lossy(&status.stdout).contains(&name));
    assert!(down.status.success(), "{}", String::from_utf8_lossy(&down.stderr));
    let unknown = heddle(&["shell", "leaf-1", "--name", &name]);
    assert!(String::from_utf8_lossy(&unknown.stderr).contains("there is no lab"));
}

/// Claim C6: in every run each of the seven paths carries data of a subflow, after all are open: six seconds have time
/// for that on a busy machine.
#[test]
fn under_cflb_seven_subflows_carry_data_over_seven_links() {
    if skip_without(Need::Root) {
        return;
    }
    for program in ["heddle-switch", "heddle-agent"] {
        require_built(PROGRAM, program);
    }
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let scenario = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenarios/lab/seven-links.toml");
    let mut command = Command::new(PROGRAM);
    command.args(["--quiet", "--json", "run", scenario, "--dataplane", "ebpf", "--out"]).arg(&out);
    command.args(["--rate-scale", "1", "--set", "seeds=[1]", "--set", "measure.duration=8s"]);
    let results = results(&command.output().unwrap());
    assert_eq!(results["lab"]["facts"][0][1]["broken"], 0);
    let samples = fs::read_to_string(out.join("links.csv")).unwrap();
    let carried = |spine: &str| {
        let from = format!(",leaf-1,{spine},");
        let of_link = samples.lines().skip(1).filter(|line| line.contains(&from));
        of_link.filter_map(|line| line.split(',').nth(5)?.parse::<u64>().ok()).sum::<u64>()
    };
    for spine in 1..=7 {
        let bytes = carried(&format!("spine-{spine}"));
        // More than a handshake; on a busy machine the scheduler gives a subflow little.
        assert!(bytes > 1000, "spine-{spine} carried {bytes} bytes");
    }
}

/// True if a namespace of the process' fabrics whose name ends so has a process in it.
fn has_process(process: u32, end: &str) -> bool {
    let names = namespaces(process);
    let Some(name) = names.iter().find(|name| name.ends_with(end)) else { return false };
    let pids = Command::new("ip").args(["netns", "pids", name]).output();
    pids.is_ok_and(|output| !output.stdout.is_empty())
}

/// If several hosts send, their agents ask a path service, which has a namespace of its own.
#[test]
fn agents_of_several_senders_ask_a_path_service_in_its_namespace() {
    if skip_without(Need::Root) {
        return;
    }
    for program in ["heddle-switch", "heddle-agent", "heddle-path-service"] {
        require_built(PROGRAM, program);
    }
    let folder = tempfile::tempdir().unwrap();
    let changes = [
        "scheme={ kind = \"cflb\", field = \"source-port\", elephants = \"0B\" }",
        "transport={ kind = \"mptcp\", subflows = 2, coupling = \"uncoupled\", join = \"after-data\" }",
        "workload.sizes=fixed:500KB",
        "workload.load=0.6",
        "measure.flows=8",
    ];
    let mut command = command(folder.path(), &changes);
    let command = command.args(["--dataplane", "ebpf"]).stdout(Stdio::piped());
    let child = command.stderr(Stdio::piped()).spawn().unwrap();
    let process = child.id();
    let seen = eventually(LIMIT, || match has_process(process, ".path-service") {
        true => Ok(()),
        false => Err(format!("no path service in {:?}", namespaces(process))),
    });
    let results = results(&child.wait_with_output().unwrap());
    seen.unwrap();
    assert_eq!(namespaces(process), [""; 0]);
    assert_eq!(results["result"]["runs"][0]["fct"]["all"]["flows"], 8);
    let facts = &results["lab"]["facts"][0][1];
    assert_eq!((&facts["corrupt"], &facts["broken"]), (&0.into(), &0.into()));
    assert!(facts["subflows"]["2"].as_u64() > Some(0), "{}", facts["subflows"]);
}

/// Claim C6 takes a hundred runs: each is kept when it ends, and not run again after an
/// interruption.
#[test]
fn an_interrupted_evaluation_keeps_its_runs_and_goes_on_with_the_next() {
    if skip_without(Need::Root) {
        return;
    }
    for program in ["heddle-switch", "heddle-agent"] {
        require_built(PROGRAM, program);
    }
    let folder = tempfile::tempdir().unwrap();
    let kept = || -> Vec<(PathBuf, SystemTime)> {
        let folders = fs::read_dir(folder.path().join("runs")).into_iter().flatten().flatten();
        let files = folders.flat_map(|entry| fs::read_dir(entry.path()).into_iter().flatten());
        let written =
            |path: PathBuf| Some((path.clone(), fs::metadata(path).ok()?.modified().ok()?));
        files.flatten().filter_map(|file| written(file.path())).collect()
    };
    let evaluate_until = |runs: usize| {
        let mut command = Command::new(PROGRAM);
        command.args(["--quiet", "reproduce", "C6", "--out"]).arg(folder.path());
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let found = eventually(5 * LIMIT, || match kept().len() {
            found if found >= runs => Ok(()),
            found => Err(format!("{found} runs are kept")),
        });
        let pid = rustix::process::Pid::from_child(&child);
        rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(130));
        found.unwrap();
        assert_eq!(namespaces(child.id()), [""; 0]);
    };
    evaluate_until(1);
    let first = kept();
    evaluate_until(first.len() + 1);
    let then = kept();
    assert!(first.iter().all(|run| then.contains(run)), "{first:?} were run again: {then:?}");
}
