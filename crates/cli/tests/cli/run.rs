//! `heddle run`: the table, the files, the JSON, the report.

use std::io::{BufRead as _, BufReader};

use serde_json::Value;

use crate::support::{Folder, SMALL, examples, keys};

#[test]
fn a_run_prints_a_table_and_leaves_its_files() {
    let folder = Folder::new();
    let ran = folder.heddle("run small.toml");
    let listed =
        "wrote in out/small: report.html, summary.json, flows.csv, links.csv, plots/ (5 files)";
    assert!(ran.err.contains(listed), "{}", ran.err);
    let table = ran.ok();
    for text in ["A small leaf-spine", "mean FCT", "p99", "ecmp", "goodput", "seed 2:", "digest"] {
        assert!(table.contains(text), "{text}: {table}");
    }
    let files = ["flows.csv", "links.csv", "plots", "report.html", "runs", "summary.json"];
    assert_eq!(folder.list("out/small"), files);
    assert_eq!(
        folder.list("out/small/plots"),
        [
            "fct-cdf.svg",
            "queues-over-time.svg",
            "queues.svg",
            "slowdown-cdf.svg",
            "slowdowns-over-time.svg"
        ]
    );
}

#[test]
fn one_of_a_thing_is_in_the_singular() {
    let folder = Folder::new();
    let table = folder.heddle("run small.toml --set seeds=[1] --set measure.flows=1").ok();
    assert!(table.contains("1 seed)") && table.contains("0 of 1 flow unfinished"), "{table}");
    assert!(table.contains("0 drops") && table.contains("0 timeouts"), "{table}");
}

/// The digest is among what is printed. What ends with its flows is refused, with the reason.
#[test]
fn threads_of_a_run_do_not_change_it() {
    let folder = Folder::new();
    let measure = r#"measure={warm_up="1ms",duration="2ms",sample_every="100us"}"#;
    let run = format!("run small.toml --set seeds=[1] --set {measure}");
    let printed = |more: &str, out: &str| folder.heddle(&format!("{run} {more} --out {out}")).ok();
    assert_eq!(printed("--threads 2", "two"), printed("", "one"));
    assert_eq!(folder.read("two/flows.csv"), folder.read("one/flows.csv"));
    let refused = folder.heddle("run small.toml --set seeds=[1] --threads 2 --out three");
    let reason = "it ends with its last measured flow, not after a `measure.duration`";
    assert!(refused.err.contains(reason), "{}", refused.err);
}

/// Two seeds of 100 measured flows of 20 KB each; no flow beats the empty fabric.
#[test]
fn flows_csv_has_a_line_for_each_measured_flow() {
    let folder = Folder::new();
    folder.heddle("run small.toml --out o").ok();
    let csv = folder.read("o/flows.csv");
    let mut lines = csv.lines();
    let columns = "seed,flow,workload,start_s,from,to,bytes,fct_s,ideal_fct_s,status,delivered_bytes,goodput_bps,id";
    assert_eq!(lines.next(), Some(columns));
    let numbers = |line: &str| -> Vec<f64> {
        // Without the name of the workload and the id, which are empty, and the status.
        let line = line
            .trim_end_matches(',')
            .replace(",,", ",")
            .replace("finished,", "")
            .replace("host-", "");
        line.split(',').map(|field| field.parse().unwrap()).collect()
    };
    let rows: Vec<Vec<f64>> = lines.map(numbers).collect();
    for seed in [1.0, 2.0] {
        assert_eq!(rows.iter().filter(|row| row[0] == seed).count(), 100);
    }
    for row in &rows {
        assert_eq!((row.len(), row[5], row[8]), (10, 20_000.0, 20_000.0));
        assert!(row[6] >= row[7] && row[7] > 20_000.0 * 8.0 / 1e9, "{row:?}");
        assert_ne!(row[3], row[4], "a host does not send to itself");
    }
    let mean: f64 = rows.iter().map(|row| row[6]).sum::<f64>() / 200.0;
    let summary = folder.json("o/summary.json");
    let stated = summary["over_seeds"]["fct_mean"]["mean"].as_f64().unwrap();
    assert!((mean - stated).abs() < 1e-9, "{mean} {stated}");
}

/// 16 ports between switches: 8 links, both ways. A port sends at most what its rate allows between
/// two samples.
#[test]
fn links_csv_has_a_line_for_each_sample_and_port() {
    let folder = Folder::new();
    folder.heddle("run small.toml --set seeds=[1] --out o").ok();
    let csv = folder.read("o/links.csv");
    let mut lines = csv.lines();
    assert_eq!(
        lines.next(),
        Some("seed,time_s,link,from,to,sent_bytes,utilisation,queued_bytes,dropped,ecn_marked")
    );
    let rows: Vec<Vec<&str>> = lines.map(|line| line.split(',').collect()).collect();
    assert!(!rows.is_empty() && rows.len().is_multiple_of(16), "{}", rows.len());
    let most = 1e9 / 8.0 * 100e-6 + 1518.0;
    assert!(rows.iter().all(|row| row[5].parse::<f64>().unwrap() <= most));
    let number = |row: &[&str], column: usize| row[column].parse::<f64>().unwrap();
    let (last, before) = (&rows[rows.len() - 1], &rows[rows.len() - 17]);
    let interval = number(last, 1) - number(before, 1);
    assert!(interval > 0.0 && interval < 100e-6, "the run ends between two samples: {interval}");
    let share = number(last, 5) * 8.0 / (1e9 * interval);
    assert!((share - number(last, 6)).abs() < 0.01, "{last:?}: {share}");
    let unsampled = SMALL.replace("sample_every = \"100us\"\n", "");
    folder.put("unsampled.toml", &unsampled);
    folder.heddle("run unsampled.toml").ok();
    assert!(!folder.list("out/unsampled").contains(&"links.csv".into()));
}

/// MP-HULA's ToRs see every connection's handshakes and put shims on packets of connections with
/// two subflows.
#[test]
fn mptcp_under_mp_hula() {
    let folder = Folder::new();
    let file = examples().join("mp-hula-fig5.toml");
    let few = "--set seeds=[1] --set measure.flows=20 --set measure.sample_every=100us";
    let ran = folder.heddle(&format!("run {} {few} --out o", file.display()));
    let table = ran.ok();
    assert!(table.contains("subflows share a link in") && table.contains("refusals"), "{table}");
    let run = &folder.json("o/summary.json")["runs"][0];
    let total = |key: &str| run["totals"][key].as_u64().unwrap();
    assert!(total("shims") > 0 && total("associated_joins") > 0, "{}", run["totals"]);
    let used = |key: &str| run["path_use"][key].as_u64().unwrap();
    assert!(used("samples") > 0 && used("shared") <= used("samples"), "{}", run["path_use"]);
    assert!(folder.read("o/report.html").contains("paths in use"));
}

#[test]
fn json_is_pure_and_its_keys_are_stable() {
    let folder = Folder::new();
    let ran = folder.heddle("run small.toml --json");
    let printed = ran.json();
    let made = ["command", "engine", "heddle", "offered", "over_seeds", "overrides", "program"];
    let made = [&made[..], &["remarks", "resolved", "runs", "scenario", "scenario_file"]].concat();
    assert_eq!(keys(&printed), made);
    assert_eq!(printed, folder.json("out/small/summary.json"));
    assert_eq!(printed["heddle"], env!("CARGO_PKG_VERSION"));
    let figures = [
        "fct_mean",
        "fct_mean_bound",
        "fct_mean_large",
        "fct_mean_medium",
        "fct_mean_small",
        "fct_p50",
        "fct_p95",
        "fct_p99",
        "fct_p99_large",
        "fct_p99_medium",
        "fct_p99_small",
        "flows",
        "goodput_bps",
        "long_flow_share",
        "slowdown_mean",
        "slowdown_mean_large",
        "slowdown_mean_medium",
        "slowdown_mean_small",
        "slowdown_p99",
        "slowdown_p99_large",
        "slowdown_p99_medium",
        "slowdown_p99_small",
        "steadiness",
    ];
    assert_eq!(keys(&printed["over_seeds"]), figures);
    assert_eq!(printed["over_seeds"]["fct_mean"]["seeds"], 2);
    assert_eq!(printed["scenario"]["title"], "A small leaf-spine");
    let run = &printed["runs"][0];
    let of_run = [
        "batch_seconds",
        "batches",
        "bound_mean_seconds",
        "cpu_seconds",
        "digest",
        "fct",
        "frames",
        "load",
        "long_flows",
        "path_use",
        "ports",
        "scheme",
        "seed",
        "slowdowns",
        "title",
        "totals",
        "version",
    ];
    assert_eq!(keys(run), of_run);
    assert_eq!((&run["seed"], &run["load"]), (&Value::from(1), &Value::from(0.4)));
}

#[test]
fn equal_runs_at_any_number_of_threads() {
    let folder = Folder::new();
    let runs_of = |words: &str| {
        std::fs::remove_dir_all(folder.path("out")).unwrap_or_default();
        let mut runs = folder.heddle(words).json()["runs"].take();
        for run in runs.as_array_mut().unwrap() {
            run.as_object_mut().unwrap().remove("cpu_seconds");
        }
        runs
    };
    let runs = runs_of("run small.toml --json --jobs 1");
    assert_eq!(runs_of("run small.toml --json --jobs 1"), runs);
    assert_eq!(runs_of("run small.toml --json --jobs 2"), runs);
    assert_ne!(runs[0]["digest"], runs[1]["digest"], "another seed is another run");
}

#[test]
fn set_replaces_values() {
    let folder = Folder::new();
    let ran = folder
        .heddle("run small.toml --json --set scheme=spray --set measure.flows=30 --set seeds=[7]");
    let printed = ran.json();
    assert_eq!(printed["runs"].as_array().unwrap().len(), 1);
    let run = &printed["runs"][0];
    assert_eq!((run["scheme"].as_str(), run["seed"].as_u64()), (Some("spray"), Some(7)));
    assert_eq!(run["fct"]["all"]["flows"], 30);
}

#[test]
fn quiet_says_nothing_on_standard_error() {
    let folder = Folder::new();
    assert_eq!(folder.heddle("run small.toml --quiet").err, "");
}

/// Nothing is fetched: no address with a scheme or a host but those that name XML vocabularies, no
/// element that loads.
#[test]
fn the_report_loads_nothing_and_shows_table_and_plots() {
    let folder = Folder::new();
    folder.heddle("run small.toml --out o").ok();
    let page = folder.read("o/report.html");
    let addresses = page.replace("http://www.w3.org/", "");
    for load in
        ["http://", "https://", "src=\"/", "href=\"/", "<link", "<iframe", "@import", "url(/"]
    {
        assert!(!addresses.contains(load), "{load}");
    }
    for part in
        ["default-src 'none'", "<table", "mean FCT", "id=\"fct-cdf\"", "id=\"queues\"", "<svg"]
    {
        assert!(page.contains(part), "{part}");
    }
}

#[test]
fn titles_cannot_break_the_report() {
    let folder = Folder::new();
    folder.put(
        "evil.toml",
        &SMALL.replace("A small leaf-spine", "<script>alert(1)</script> & Söhne"),
    );
    folder.heddle("run evil.toml").ok();
    let page = folder.read("out/evil/report.html");
    assert!(!page.contains("<script>alert") && page.contains("&amp; Söhne"));
}

/// As with `heddle show ... | head -1`.
#[test]
fn a_reader_that_leaves_early_is_no_error() {
    let folder = Folder::new();
    let scenario = crate::support::examples().join("bench-a.toml");
    let mut child = folder.command("show --json").arg(&scenario).spawn().unwrap();
    let mut first = String::new();
    BufReader::with_capacity(16, child.stdout.take().unwrap()).read_line(&mut first).unwrap();
    assert_eq!(first, "{\n");
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), output.stderr), (Some(0), Vec::new()));
}

#[test]
fn a_folder_that_cannot_be_made_is_named() {
    let folder = Folder::new();
    let said = folder.heddle("run small.toml --out small.toml/o").failed(1);
    assert!(said.contains("small.toml/o"), "{said}");
}

#[test]
fn a_capture_and_a_trace_of_each_seed() {
    let folder = Folder::new();
    let ran = folder.run_words(&[
        "run",
        "small.toml",
        "--pcap",
        "leaf-1 host-1",
        "--trace",
        "3",
        "--out",
        "o",
    ]);
    ran.ok();
    for seed in 1..=2 {
        let csv = folder.read(&format!("o/flow-3-seed-{seed}.csv"));
        assert!(csv.starts_with("time_s,subflow,cwnd_bytes,") && csv.lines().count() > 2, "{csv}");
        let names = folder.list("o");
        assert!(names.contains(&format!("leaf-1_host-1-seed-{seed}.pcap")), "{names:?}");
    }
    let said = folder.run_words(&["run", "small.toml", "--pcap", "leaf-1 host-9"]).failed(3);
    assert!(said.contains("no node is called \"host-9\""), "{said}");
    let said = folder.heddle("run small.toml --trace 99999").failed(1);
    assert!(said.contains("there is no flow 99999 to trace"), "{said}");
}

/// Classes of the scenario's own: the table and the files have them.
#[test]
fn size_classes_are_those_of_the_scenario() {
    let folder = Folder::new();
    let sizes = "--set workload.sizes=websearch-bytes --set measure.size_classes=[\"10KB\"]";
    let table = folder.heddle(&format!("run small.toml {sizes} --out o")).ok();
    for text in ["< 10 KB", ">= 10 KB", "p99 slowdown"] {
        assert!(table.contains(text), "{text}: {table}");
    }
    let classes = folder.json("o/summary.json")["runs"][0]["fct"]["classes"].clone();
    let names: Vec<&str> =
        classes.as_array().unwrap().iter().map(|class| class["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["below-10KB", "above-10KB"]);
    assert!(folder.list("o/plots").contains(&"slowdown-by-size.svg".into()));
}
