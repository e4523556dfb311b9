//! `heddle validate`, `show` and `schema`.

use std::fs;

use crate::support::{Folder, SMALL, examples};

#[test]
fn every_example_is_sound() {
    let mut files: Vec<_> = fs::read_dir(examples())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "toml"))
        .collect();
    files.sort();
    assert!(files.len() >= 8);
    let folder = Folder::new();
    let ran = folder.command("validate").args(&files).output().unwrap();
    let text = String::from_utf8(ran.stdout).unwrap();
    assert_eq!(ran.status.code(), Some(0), "{text}");
    assert_eq!(text.lines().filter(|line| line.contains(".toml: ok: ")).count(), files.len());
    assert!(text.contains("32 hosts, 10 switches, hula, 3 seeds"), "HULA's figure 4: {text}");
}

#[test]
fn one_good_and_one_bad_file() {
    let folder = Folder::new();
    folder.put("bad.toml", &SMALL.replace("load = 0.4", "load = 4"));
    for words in ["small.toml bad.toml", "bad.toml small.toml", "bad.toml small.toml nowhere.toml"]
    {
        let ran = folder.heddle(&format!("validate {words}"));
        assert_eq!(ran.code, Some(3), "{words}");
        assert!(ran.out.starts_with("small.toml: ok: 8 hosts, 4 switches, ecmp, 2 seeds\n"));
        assert!(ran.err.contains("error: bad.toml:15: workload.load: "), "{}", ran.err);
        assert_eq!(ran.err.contains("nowhere.toml: "), words.contains("nowhere"));
    }
}

#[test]
fn validate_as_json_is_one_list() {
    let folder = Folder::new();
    folder.put("bad.toml", &SMALL.replace("load = 0.4", "load = 4"));
    let ran = folder.heddle("validate --json small.toml bad.toml nowhere.toml");
    assert_eq!(ran.code, Some(3));
    let list = ran.json();
    assert_eq!(list.as_array().unwrap().len(), 3);
    assert_eq!((&list[0]["file"], &list[0]["ok"]), (&"small.toml".into(), &true.into()));
    assert_eq!(
        (&list[1]["ok"], &list[1]["reason"]["key"]),
        (&false.into(), &"workload.load".into())
    );
    assert_eq!(list[2]["reason"]["error"], "failed");
    assert_eq!(folder.heddle("validate --json nowhere.toml").code, Some(1));
    assert_eq!(folder.heddle("validate --json small.toml").code, Some(0));
}

#[test]
fn show_prints_what_defaults_are() {
    let folder = Folder::new();
    let text = folder.heddle("show small.toml --set workload.load=0.25").ok();
    assert!(!SMALL.contains("min_rto") && text.contains("min_rto = "), "{text}");
    assert!(text.contains("load = 0.25") && text.contains("[fabric"), "{text}");
    folder.put("shown.toml", &text);
    let said = folder.heddle("validate shown.toml").ok();
    assert!(said.starts_with("shown.toml: ok: 8 hosts"), "{said}");
    let value = folder.heddle("show small.toml --json").json();
    assert_eq!(value["fabric"]["graph"]["nodes"].as_array().unwrap().len(), 8 + 4);
    assert_eq!(value["workload"]["flows"]["load"], 0.4);
}

#[test]
fn the_schema_is_a_json_schema() {
    let folder = Folder::new();
    let schema = folder.heddle("schema").json();
    let meta = schema["$schema"].as_str().unwrap();
    assert!(meta.starts_with("https://json-schema.org/draft/"), "{meta}");
    let keys = schema["properties"].as_object().unwrap();
    for key in ["title", "seeds", "fabric", "transport", "scheme", "workload", "measure", "event"] {
        assert!(keys.contains_key(key), "{key}");
    }
}

#[test]
fn validate_takes_overrides_and_sweeps() {
    let folder = Folder::new();
    let said = folder.heddle("validate small.toml --set scheme=drill --set seeds=[1]").ok();
    assert!(said.starts_with("small.toml: ok: 8 hosts, 4 switches, drill, 1 seed\n"), "{said}");
    let sweep = "validate small.toml --over scheme=ecmp,hula --over workload.load=0.2,0.4";
    let said = folder.heddle(sweep).ok();
    assert!(said.contains("ok: 4 combinations, 8 runs; the first: 8 hosts"), "{said}");
    let said = folder.heddle(&format!("{sweep},4")).failed(3);
    assert!(said.contains("workload.load (from --over): 4 is more than"), "{said}");
}

/// A device has no end, and a thousand threads are no help.
#[test]
fn what_has_no_end_is_refused() {
    let folder = Folder::new();
    let said = folder.heddle("validate /dev/zero").failed(1);
    assert!(said.contains("/dev/zero: the file has more than"), "{said}");
    let said = folder.heddle("run small.toml -j 100000").failed(2);
    assert!(said.contains("100000 is not in 1..=1024"), "{said}");
    for key in ["measure.sample_every=1ps", "scheme={kind=\"hula\",probe_period=\"1ns\"}"] {
        let said = folder.command("validate small.toml --set").arg(key).output().unwrap();
        let said = String::from_utf8(said.stderr).unwrap();
        assert!(said.contains("is too short") && said.contains("at least 1us"), "{said}");
    }
}

#[test]
fn overload_is_named_before_a_run_and_kept_with_its_results() {
    let folder = Folder::new();
    let overload = "--set fabric.spine_rate=200Mbps --set measure.flows=20";
    let expected = "leaf-1 spine-1 is offered 1";

    let ran = folder.heddle(&format!("validate small.toml {overload}"));
    assert!(ran.code == Some(0) && ran.err.contains(expected), "{}", ran.err);
    let list = folder.heddle(&format!("validate small.toml --json {overload}")).json();
    assert!(list[0]["overload"].as_str().unwrap().contains(expected), "{list}");
    let whole = folder.heddle("validate small.toml");
    assert_eq!(whole.err, "", "links carry 46 %");
    let ran =
        folder.heddle(&format!("validate small.toml {overload} --over workload.load=0.1,0.4"));
    let worst = "1 of 2 combinations overload links; the worst is 0.4: ";
    assert!(ran.err.contains(worst) && ran.err.contains(expected), "{}", ran.err);

    let summary = folder.heddle(&format!("run small.toml --json --out o {overload}")).json();
    assert!(summary["remarks"][0].as_str().unwrap().contains(expected), "{}", summary["remarks"]);
    assert!(folder.read("o/report.html").contains(expected));
    let words = format!("sweep small.toml --json --out s {overload} --over workload.load=0.1,0.4");
    let sweep = folder.heddle(&words).json();
    assert!(sweep["remarks"][0].as_str().unwrap().contains(worst), "{}", sweep["remarks"]);
    assert!(folder.read("s/report.html").contains(worst));
}

/// 40 % of 8 Gbps are 20,000 flows of 20 KB a second; each has 28 packets on 2 or 4 links.
#[test]
fn validate_says_what_runs_take() {
    let folder = Folder::new();
    let long = "--set measure.flows=20000";
    let said = folder.heddle(&format!("validate small.toml {long}")).ok();
    let estimate = said.lines().nth(1).unwrap();
    assert!(estimate.starts_with("  estimate: 4"), "two seeds: {estimate}");
    for part in ["000 flows, ", " million packet-hops, ", " of CPU, ", " MB of memory"] {
        assert!(estimate.contains(part), "{estimate}");
    }
    let list = folder.heddle(&format!("validate small.toml --json {long}")).json();
    let estimate = &list[0]["estimate"];
    let hops = estimate["packet_hops"].as_f64().unwrap() / estimate["flows"].as_f64().unwrap();
    assert!((80.0..100.0).contains(&hops), "28 by 24/7 links: {hops}");
    assert_eq!(list[0]["warnings"], serde_json::json!([]));

    let absurd = "--set measure.flows=1000000000000 --set measure.time_limit=86400s \
                  --set fabric.host_rate=100Gbps --set fabric.spine_rate=100Gbps";
    let ran = folder.heddle(&format!("validate small.toml {absurd}"));
    assert_eq!(ran.code, Some(0));
    assert!(ran.err.contains("warning: small.toml: 350 billion flows take about"), "{}", ran.err);
    let list = folder.heddle(&format!("validate small.toml --json {absurd}")).json();
    assert!(list[0]["warnings"][1].as_str().unwrap().contains("measure.flows"), "{list}");
    assert_eq!(folder.heddle("validate small.toml -q").ok().lines().count(), 1);
}

#[test]
fn one_key_of_a_table_that_the_file_leaves_out_or_shortens_can_be_set() {
    let folder = Folder::new();
    let show = |set: &str| folder.heddle(&format!("show small.toml {set}"));
    assert!(show("--set transport.dup_threshold=50").ok().contains("dup_threshold = 50"));
    let mptcp = show("--set transport=mptcp --set transport.subflows=4").ok();
    assert!(mptcp.contains("kind = \"mptcp\"") && mptcp.contains("subflows = 4"), "{mptcp}");
    let hula = show("--set scheme=hula --set scheme.probe_period=500us").ok();
    assert!(
        hula.contains("kind = \"hula\"") && hula.contains("probe_period = \"500us\""),
        "{hula}"
    );
    let lost = show("--set scheme.probe_period=500us --set scheme=hula").failed(2);
    let said = "error: --set scheme.probe_period has no effect: --set scheme replaces the whole table\nhelp: --set scheme first\n";
    assert_eq!(lost, said);
}

#[test]
fn a_scenario_that_would_fill_the_memory_is_refused() {
    let folder = Folder::new();
    folder.put("long.toml", &format!("{SMALL}{}", "[[event]]\nat = \"5ms\"\n".repeat(900_000)));
    let ran = folder.heddle("validate long.toml");
    assert_eq!(ran.code, Some(3));
    assert!(
        ran.err.contains("long.toml: a TOML file of more than 16 MB is not read"),
        "{}",
        ran.err
    );
}

/// Two hosts on each of two switches, with parallel links of which the first line counts too few.
#[test]
fn what_a_file_is_read_without_is_said() {
    let folder = Folder::new();
    let topology = |links: u32| {
        let hosts = "0 4 1Gbps 1us 0\n1 4 1Gbps 1us 0\n2 5 1Gbps 1us 0\n3 5 1Gbps 1us 0\n";
        format!("6 2 {links}\n4 5\n{hosts}{}", "4 5 1Gbps 1us 0\n".repeat(3))
    };
    folder.put("flow.txt", "1\n0 2 3 100 20000 2.0\n1 3 3 100 20000 2.0\n");
    folder.put(
        "others.toml",
        "scheme = \"ecmp\"\nfabric = { kind = \"file\", format = \"hpcc\", path = \"t.txt\" }\n\
         workload = { kind = \"replay\", file = \"flow.txt\" }\n",
    );
    folder.put("t.txt", &topology(5));
    let left_out = "t.txt:8: 2 more links than the 5 of the first line are left out";
    let list = folder.heddle("validate others.toml --json").json();
    let warnings = list[0]["warnings"].to_string();
    assert!(
        warnings.contains(left_out) && warnings.contains("flow.txt:3: 1 more lines"),
        "{warnings}"
    );
    assert!(warnings.contains("starts count from that of the first flow, 2s"), "{warnings}");
    let ran = folder.heddle("run others.toml --out o");
    assert!(ran.code == Some(0) && ran.err.contains(&format!("note: {left_out}")), "{}", ran.err);
    assert!(folder.read("o/summary.json").contains(left_out));
    let ran = folder.heddle("sweep others.toml --over scheme=ecmp,spray --out s");
    assert_eq!(ran.err.matches(&format!("note: {left_out}")).count(), 1, "{}", ran.err);
    assert!(folder.read("s/report.html").contains(left_out));

    folder.put("t.txt", &topology(4));
    let said = folder.heddle("validate others.toml").failed(3);
    assert!(
        said.contains("no path") && said.contains("help: t.txt:7: 3 more links than the 4"),
        "{said}"
    );
}

#[test]
fn files_of_others_are_imported() {
    let folder = Folder::new();
    folder.put("t.txt", "4 2 3\n2 3\n0 2 1Gbps 1us 0\n1 3 1Gbps 1us 0\n2 3 1Gbps 1us 0\n");
    folder.put("flow.txt", "1\n0 1 3 100 20000 0\n");
    let said = folder.heddle("import t.txt --out graph.toml").ok();
    assert_eq!(said, "graph.toml: a graph of 2 hosts, 2 switches and 3 links\n");
    let said = folder.heddle("import flow.txt --out flows.csv --json").json();
    assert_eq!((&said["file"], &said["notices"]), (&"flows.csv".into(), &serde_json::json!([])));
    let fabric = |rest: &str| {
        format!(
            "scheme = \"ecmp\"\n[fabric]\nkind = \"file\"\n{rest}\n[workload]\nkind = \"replay\"\n"
        )
    };
    folder.put("own.toml", &format!("{}file = \"flows.csv\"\n", fabric("path = \"graph.toml\"")));
    let theirs = fabric("path = \"t.txt\"\nformat = \"hpcc\"");
    folder.put("theirs.toml", &format!("{theirs}file = \"flow.txt\"\n"));
    let digest = |file: &str| {
        folder.heddle(&format!("run {file} --json --out o")).json()["runs"][0]["digest"].clone()
    };
    assert_eq!(digest("own.toml"), digest("theirs.toml"));
    let said = folder.heddle("import own.toml").failed(3);
    assert!(said.contains("own.toml:1: ") && said.contains("help: "), "{said}");
}

/// A plan of two GPUs that exchange halves, imported and run: the report has its step.
#[test]
fn a_plan_of_a_collective_operation_runs() {
    let folder = Folder::new();
    let gpu = |gpu: usize| {
        let peer = 1 - gpu;
        let step = |number: usize, kind: &str| {
            format!("<step s=\"{number}\" type=\"{kind}\" cnt=\"1\" depid=\"-1\" deps=\"-1\"/>")
        };
        let steps = step(0, "s") + &step(1, "rrc");
        format!(
            "<gpu id=\"{gpu}\"><tb id=\"0\" send=\"{peer}\" recv=\"{peer}\" chan=\"0\">{steps}</tb></gpu>"
        )
    };
    let plan = format!("<algo nchunksperloop=\"2\" ngpus=\"2\">{}{}</algo>", gpu(0), gpu(1));
    folder.put("plan.xml", &plan);
    let said = folder.heddle("import plan.xml").failed(3);
    assert!(said.contains("plan.xml:1: ") && said.contains("help: `--size 64MB`"), "{said}");
    let said = folder.heddle("import plan.xml --size 100KB --out plan.csv").ok();
    assert_eq!(said, "plan.csv: 2 flows and 2 other steps of 2 ranks\n");
    let fabric = "scheme = \"ecmp\"\nfabric = { kind = \"leaf-spine\", hosts_per_leaf = 2 }\n";
    let workload = "workload = { kind = \"flow-graph\", file = \"plan.csv\" }\n";
    folder.put("s.toml", &format!("{fabric}{workload}"));
    let run = folder.heddle("run s.toml --json --out o").json()["runs"][0].clone();
    let (whole, steps) = (&run["collectives"][0], &run["steps"]);
    assert_eq!((&steps[0]["name"], &steps[1]["name"]), (&"s0".into(), &"s1".into()));
    assert_eq!(steps[0]["end_seconds"], whole["seconds"]);
    assert!(folder.read("o/report.html").contains("last end"));
}
