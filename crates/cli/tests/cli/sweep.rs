//! `heddle sweep`: the grid, its files, and going on after an interruption.

use std::fs;
use std::thread::sleep;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use crate::support::{Folder, Ran, SMALL, keys};

const SWEEP: &str =
    "sweep small.toml --over scheme=ecmp,spray --over workload.load=0.2,0.4 --out o";

#[test]
fn a_grid_is_every_combination_with_every_seed() {
    let folder = Folder::new();
    let table = folder.heddle(SWEEP).ok();
    assert!(table.contains("workload.load") && table.contains("spray"), "{table}");
    assert_eq!(folder.list("o/runs").len(), 2 * 2 * 2);
    let result = folder.json("o/sweep.json");
    let made = ["axes", "command", "engine", "heddle", "overrides", "program", "remarks", "rows"];
    let made = [&made[..], &["scenario", "scenario_file"]].concat();
    assert_eq!(keys(&result), made);
    assert!(result["command"].as_str().unwrap().contains("--over scheme=ecmp,spray"));
    assert_eq!(result["scenario"]["fabric"]["host_buffer"], "10MB");
    let rows = &result["rows"];
    let settings: Vec<String> =
        rows.as_array().unwrap().iter().map(|row| row["settings"].to_string()).collect();
    let grid =
        [r#"["ecmp","0.2"]"#, r#"["ecmp","0.4"]"#, r#"["spray","0.2"]"#, r#"["spray","0.4"]"#];
    assert_eq!(settings, grid);
    for row in rows.as_array().unwrap() {
        assert_eq!(keys(row), ["offered", "over_seeds", "runs", "settings"]);
        assert!(row["offered"]["wire_load"].as_f64() > row["offered"]["load"].as_f64());
        assert_eq!(row["runs"].as_array().unwrap().len(), 2);
        assert_eq!(row["runs"][0]["scheme"], row["settings"][0]);
    }
}

#[test]
fn sweep_csv_says_what_sweep_json_says() {
    let folder = Folder::new();
    folder.heddle(SWEEP).ok();
    let csv = folder.read("o/sweep.csv");
    let lines: Vec<Vec<&str>> = csv.lines().map(|line| line.split(',').collect()).collect();
    assert_eq!(lines[0][..3], ["scheme", "workload.load", "fct_mean_s"]);
    assert_eq!(lines.len(), 1 + 4);
    let rows = folder.json("o/sweep.json")["rows"].take();
    for (line, row) in lines[1..].iter().zip(rows.as_array().unwrap()) {
        assert_eq!(line.len(), lines[0].len());
        let mean = row["over_seeds"]["fct_mean"]["mean"].as_f64().unwrap();
        assert!((line[2].parse::<f64>().unwrap() - mean).abs() < 1e-9);
        let cell = |column: &str| line[lines[0].iter().position(|c| *c == column).unwrap()];
        assert_eq!(cell("fct_mean_small_s"), line[2], "all flows are of 20 KB");
        let half = row["over_seeds"]["fct_mean"]["half_width"].as_f64().unwrap();
        assert!((cell("fct_mean_s_half_width").parse::<f64>().unwrap() - half).abs() < 1e-9);
        let ends = &row["over_seeds"]["fct_p99"]["interval"];
        for (column, end) in [("fct_p99_s_low", &ends[0]), ("fct_p99_s_high", &ends[1])] {
            let (cell, end) = (cell(column).parse::<f64>().unwrap(), end.as_f64().unwrap());
            assert!(
                end > 0.0 && (cell - end).abs() < 1e-8 * end.max(1.0),
                "{column}: {cell} {end}"
            );
        }
        assert_eq!([cell("fct_mean_medium_s"), cell("fct_p99_large_s")], ["", ""]);
    }
}

#[test]
fn json_and_the_report() {
    let folder = Folder::new();
    let ran = folder.heddle(&format!("{SWEEP} --json"));
    assert_eq!(ran.json(), folder.json("o/sweep.json"));
    let tidy = folder.read("o/tidy.csv");
    assert!(
        tidy.starts_with("scheme,workload.load,seed,workload,size_class,statistic,value,unit\n"),
        "{tidy}"
    );
    assert_eq!(tidy.lines().filter(|line| line.contains(",,all,fct_p99,")).count(), 8);
    let page = folder.read("o/report.html");
    assert!(page.contains("<table") && page.contains("id=\"fct-cdf\""));
}

/// The second run changes no file in `runs/` and gives the same results to the last digit.
#[test]
fn finished_runs_are_used_again() {
    let folder = Folder::new();
    let rows = |jobs: u32| {
        folder.heddle(&format!("{SWEEP} --json --jobs {jobs}")).json()["rows"].to_string()
    };
    let first = rows(2);
    let kept = folder.written("o/runs");
    assert!(first == rows(1), "not the same text");
    assert_eq!(folder.written("o/runs"), kept);
    // A title is no part of a run.
    folder.heddle(&format!("{SWEEP} --set title=another")).ok();
    assert_eq!(folder.written("o/runs"), kept);
}

/// Without the option, tables that an earlier run left as Parquet go: they would not belong to this
/// one.
#[test]
fn tables_as_parquet() {
    let folder = Folder::new();
    let ran = folder.heddle(&format!("{SWEEP} --parquet"));
    assert!(
        ran.err.contains("sweep.json, sweep.parquet, tidy.parquet, means.parquet"),
        "{}",
        ran.err
    );
    let tidy = std::fs::read(folder.path("o/tidy.parquet")).unwrap();
    assert!(tidy.starts_with(b"PAR1") && tidy.ends_with(b"PAR1"));
    let made = b"scenario_file";
    assert!(tidy.windows(made.len()).any(|bytes| bytes == made), "the metadata says what made it");
    folder.heddle(SWEEP).ok();
    assert!(!folder.path("o/tidy.parquet").exists());
}

/// A row for each measured flow, behind the settings of its combination.
#[test]
fn flows_of_a_sweep() {
    let folder = Folder::new();
    let ran = folder.heddle(&format!("{SWEEP} --flows"));
    assert!(ran.err.contains("tidy.csv, means.csv, sweep.json, flows.csv"), "{}", ran.err);
    let csv = folder.read("o/flows.csv");
    assert!(
        csv.starts_with("scheme,workload.load,seed,flow,workload,start_s,from,to,bytes,fct_s"),
        "{csv}"
    );
    assert_eq!(csv.lines().count(), 1 + 8 * 100);
    assert_eq!(csv.lines().filter(|line| line.starts_with("spray,0.4,2,")).count(), 100);
    assert!(csv.lines().skip(1).all(|line| line.contains(",finished,20000,")));
    folder.heddle(SWEEP).ok();
    assert!(
        !folder.path("o/flows.csv").exists(),
        "the flows of an earlier sweep are no part of this one"
    );
}

/// A row for each sample of each port; a scenario that takes none is refused before it runs.
#[test]
fn links_of_a_sweep() {
    let folder = Folder::new();
    let ran = folder.heddle(&format!("{SWEEP} --links --set seeds=[1]"));
    assert!(ran.err.contains("tidy.csv, means.csv, sweep.json, links.csv"), "{}", ran.err);
    let csv = folder.read("o/links.csv");
    let columns = "scheme,workload.load,seed,time_s,link,from,to,sent_bytes,utilisation,";
    assert!(csv.starts_with(columns), "{csv}");
    for settings in ["ecmp,0.2,1,", "ecmp,0.4,1,", "spray,0.2,1,", "spray,0.4,1,"] {
        let first = format!("{settings}0.000100000,");
        let names = csv.lines().filter(|line| line.starts_with(&first));
        let mut names: Vec<&str> = names.map(|line| line.split(',').nth(4).unwrap()).collect();
        let ports = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!((names.len(), names[0]), (ports, "leaf-1 spine-1 #1"), "each has its own name");
    }
    folder.heddle(SWEEP).ok();
    assert!(!folder.path("o/links.csv").exists(), "those of an earlier sweep");
    folder.put("unsampled.toml", &SMALL.replace("sample_every = \"100us\"\n", ""));
    let said = folder.heddle("sweep unsampled.toml --over seeds=[1],[2] --links").failed(2);
    assert!(said.contains("takes no samples") && said.contains("measure.sample_every"), "{said}");
}

/// Flows at the end of a measuring time are in every output, and rows over different sets of flows
/// are said to be.
#[test]
fn unfinished_flows_are_not_lost() {
    let folder = Folder::new();
    let text =
        SMALL.replace("flows = 100", "duration = \"5ms\"").replace("fixed:20KB", "fixed:200KB");
    folder.put("cut.toml", &text);
    let ran = folder.heddle("sweep cut.toml --over workload.load=0.2,0.9 --flows --out o");
    let table = ran.ok();
    assert!(table.contains("unfinished") && table.contains("warning: "), "{table}");
    assert!(table.contains("different sets of flows"), "{table}");
    let rows = folder.json("o/sweep.json")["rows"].take();
    let unfinished: u64 = rows
        .as_array()
        .unwrap()
        .iter()
        .map(|row| row["over_seeds"]["flows"]["unfinished"].as_u64().unwrap())
        .sum();
    let csv = folder.read("o/flows.csv");
    let listed = csv.lines().filter(|line| line.contains(",unfinished,")).count() as u64;
    assert!(unfinished > 0 && listed == unfinished, "{listed} of {unfinished}");
    assert!(folder.read("o/sweep.csv").lines().next().unwrap().contains("flows_unfinished"));
    assert!(folder.read("o/report.html").contains("had not finished at the end"));
}

#[test]
fn stores_are_merged_and_results_compared() {
    let folder = Folder::new();
    folder.heddle("sweep small.toml --over scheme=ecmp --out a").ok();
    folder.heddle("sweep small.toml --over scheme=spray --out b").ok();
    let said = folder.heddle("store merge both/runs a/runs b/runs").ok();
    assert_eq!(said, "copied 4 files, 0 were there already\n");
    folder.heddle("sweep small.toml --over scheme=ecmp,spray --out both").ok();
    assert_eq!(folder.list("both/runs").len(), 4, "nothing was run again");
    let said = folder.heddle("diff a b").ok();
    assert!(said.contains("in one of both only: ecmp"), "{said}");
    folder.heddle("run small.toml --out c").ok();
    folder.heddle("run small.toml --set workload.load=0.5 --out d").ok();
    let said = folder.heddle("diff c d").ok();
    assert!(said.contains("scenario.workload.load: 0.4 -> 0.5"), "{said}");
    assert!(said.contains("fct_mean") && said.contains(" %"), "{said}");
}

#[test]
fn damaged_files_are_computed_again() {
    let folder = Folder::new();
    let before = folder.heddle(&format!("{SWEEP} --json")).json();
    let kept = folder.written("o/runs");
    let runs = folder.path("o/runs");
    let whole = fs::read(runs.join(&kept[0].0)).unwrap();
    fs::write(runs.join(&kept[0].0), &whole[..whole.len() / 2]).unwrap();
    fs::write(runs.join(&kept[1].0), "").unwrap();
    fs::remove_file(runs.join(&kept[2].0)).unwrap();
    let after = folder.heddle(&format!("{SWEEP} --json")).json();
    assert_eq!(folder.written("o/runs")[3..], kept[3..]);
    let digests = |rows: &serde_json::Value| -> Vec<String> {
        let rows = rows["rows"].as_array().unwrap().iter();
        rows.flat_map(|row| row["runs"].as_array().unwrap())
            .map(|run| run["digest"].to_string())
            .collect()
    };
    assert_eq!(digests(&after), digests(&before));
    assert_eq!(digests(&after).len(), 8);
}

/// One worker: the short run is kept, the endless one is stopped, and a grid that needs the short
/// one finds it.
#[test]
fn an_interruption_keeps_what_is_done() {
    let folder = Folder::new();
    let sweep = "sweep small.toml --set seeds=[1] --out o --jobs 1 --over measure.flows";
    let child = folder.command(&format!("{sweep}=50,1000000")).spawn().unwrap();
    let start = Instant::now();
    while folder.list("o/runs").iter().all(|name| !name.ends_with(".json")) {
        assert!(start.elapsed() < Duration::from_secs(300), "the short run does not end");
        sleep(Duration::from_millis(5));
    }
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    let ran = Ran::from(child.wait_with_output().unwrap());
    assert!(ran.out.contains("so far: 1 of 2 runs are finished"), "{}", ran.out);
    let said = ran.failed(130);
    assert!(said.contains("1 of 2 runs are done and kept"), "{said}");
    let kept = folder.written("o/runs");
    assert_eq!(kept.len(), 1, "{kept:?}");
    let report = folder.read("o/report.html");
    assert!(report.contains("so far: 1 of 2 runs") && !report.contains("http-equiv=\"refresh\""));
    assert_eq!(folder.list("o"), ["report.html", "runs"], "no tables of half a grid");
    folder.heddle(&format!("{sweep}=50,60")).ok();
    assert_eq!(folder.list("o/runs").len(), 2);
    assert!(folder.written("o/runs").contains(&kept[0]));
}

/// An interrupted command with `--json` says so on standard output.
#[test]
fn an_interrupted_run_says_so() {
    let folder = Folder::new();
    let child = folder
        .command("run small.toml --set measure.flows=1000000 --out o --json")
        .spawn()
        .unwrap();
    wait_for(&folder, "o/runs");
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    let ran = Ran::from(child.wait_with_output().unwrap());
    assert_eq!((ran.code, ran.json()["error"].as_str()), (Some(130), Some("interrupted")));
    assert!(folder.list("o/runs").is_empty() && !folder.path("o/summary.json").exists());
}

fn wait_for(folder: &Folder, path: &str) {
    let start = Instant::now();
    while !folder.path(path).exists() {
        assert!(start.elapsed() < Duration::from_secs(300), "there is no {path}");
        sleep(Duration::from_millis(5));
    }
}

/// The report has the figures of the seeds that go on, which an interruption leaves, without the
/// wish to be loaded anew; a later run of fewer flows replaces it.
#[test]
fn a_live_run_shows_its_figures_so_far() {
    let folder = Folder::new();
    let live = "run small.toml --out o --live --set measure.flows";
    let child = folder.command(&format!("{live}=10000000")).spawn().unwrap();
    wait_for(&folder, "o/report.html");
    let report = folder.read("o/report.html");
    assert!(report.contains("http-equiv=\"refresh\"") && report.contains("so far: 0 of 2 runs"));
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    let ran = Ran::from(child.wait_with_output().unwrap());
    assert!(ran.err.contains("flows finished") && ran.err.contains("mean FCT"), "{}", ran.err);
    assert!(ran.out.contains("mean FCT") && ran.out.contains("(seed 1 at "), "{}", ran.out);
    let report = folder.read("o/report.html");
    assert!(report.contains("so far: 0 of 2 runs") && !report.contains("http-equiv=\"refresh\""));
    assert!(!folder.path("o/summary.json").exists(), "no results of half a run");
    folder.heddle(&format!("{live}=100")).ok();
    assert!(!folder.read("o/report.html").contains("so far"));
    let digests = |name: &str| folder.json(name)["runs"][0]["digest"].clone();
    folder.heddle("run small.toml --out p").ok();
    assert_eq!(digests("o/summary.json"), digests("p/summary.json"), "a look changes nothing");
}

/// Keys and states of a sweep's runs, as `--list` prints them.
fn listed(folder: &Folder) -> Vec<(String, String)> {
    let lines = folder.heddle(&format!("{SWEEP} --list")).ok();
    let fields = |line: &str| {
        let fields: Vec<&str> = line.split('\t').collect();
        assert_eq!(fields.len(), 3, "{line}");
        (fields[0].to_owned(), fields[1].to_owned())
    };
    lines.lines().map(fields).collect()
}

#[test]
fn cells_by_their_keys_are_the_runs_of_the_sweep() {
    let folder = Folder::new();
    let all = listed(&folder);
    assert_eq!(all.len(), 2 * 2 * 2);
    assert!(all.iter().all(|(_, state)| state == "missing"), "{all:?}");
    assert!(!folder.path("o").exists(), "a list makes nothing");

    let cell = SWEEP.replacen("sweep", "cell", 1);
    let (first, last) = (&all[0].0, &all[7].0);
    let made = folder.heddle(&format!("{cell} --key {first} --key {last} --quiet")).ok();
    assert!(made.contains("ecmp 0.2 seed 1\tdigest "), "{made}");
    let states: Vec<String> = listed(&folder).into_iter().map(|(_, state)| state).collect();
    let expected =
        ["done", "missing", "missing", "missing", "missing", "missing", "missing", "done"];
    assert_eq!(states, expected);

    let kept = fs::metadata(folder.path(&format!("o/runs/{first}.json"))).unwrap();
    folder.heddle(&format!("{cell} --key {first} --quiet")).ok();
    folder.heddle(&format!("{SWEEP} --quiet")).ok();
    let after = fs::metadata(folder.path(&format!("o/runs/{first}.json"))).unwrap();
    assert_eq!(kept.modified().unwrap(), after.modified().unwrap(), "written once");
    assert!(listed(&folder).iter().all(|(_, state)| state == "done"));
}

#[test]
fn a_key_of_no_run_is_refused_with_the_way_to_the_keys() {
    let folder = Folder::new();
    let cell = SWEEP.replacen("sweep", "cell", 1);
    let refused = folder.heddle(&format!("{cell} --key 0123")).failed(1);

    assert!(refused.contains("no run of this sweep has the key 0123"), "{refused}");
    assert!(refused.contains("heddle sweep --list"), "{refused}");
}

/// One seed's flows are the same under both schemes: the ratio of a scheme to itself would be 1,
/// and is left out.
#[test]
fn ratios_to_a_baseline() {
    let folder = Folder::new();
    let table = folder.heddle(&format!("{SWEEP} --baseline scheme=ecmp")).ok();
    assert!(table.contains("ratios to scheme = ecmp, seed by seed"), "{table}");
    let csv = folder.read("o/ratios.csv");
    let mut lines = csv.lines();
    assert_eq!(lines.next(), Some("scheme,workload.load,figure,ratio,low,high,seeds,overloaded"));
    let rows: Vec<Vec<&str>> = lines.map(|line| line.split(',').collect()).collect();
    assert!(rows.iter().all(|row| row[0] == "spray" && row[6] == "2"), "{csv}");
    let means: Vec<&Vec<&str>> = rows.iter().filter(|row| row[2] == "fct_mean").collect();
    assert_eq!(means.len(), 2);
    let result = folder.json("o/sweep.json");
    let mean = |row: usize, run: usize| {
        result["rows"][row]["runs"][run]["fct"]["all"]["seconds"]["mean"].as_f64().unwrap()
    };
    // Rows 0 and 2 are ECMP's and spraying's at the lower load.
    let ratio = (mean(2, 0) / mean(0, 0) * mean(2, 1) / mean(0, 1)).sqrt();
    assert!((means[0][3].parse::<f64>().unwrap() - ratio).abs() < 1e-5, "{ratio}");
    assert!(folder.read("o/report.html").contains("id=\"ratios\""));
    let said =
        folder.heddle("sweep small.toml --over scheme=ecmp,spray --baseline scheme=hula").failed(2);
    assert!(said.contains("scheme does not take the value hula"), "{said}");
}

/// Two switch schemes and a host scheme in one table: the words of a shell's command line.
const VARIANTS: &str = "sweep small.toml --variant hula=scheme=hula \
    --variant reps=scheme=ecmp,entropy=reps --over workload.load=0.2,0.4 --out o \
    --set transport.control=dctcp";

#[test]
fn schemes_of_switches_and_of_hosts_are_compared_as_variants() {
    let folder = Folder::new();
    let table = folder.heddle(&format!("{VARIANTS} --baseline reps")).ok();
    assert!(table.contains("variant") && table.contains("ratios to variant = reps"), "{table}");
    let result = folder.json("o/sweep.json");
    let rows = result["rows"].as_array().unwrap();
    let settings: Vec<String> = rows.iter().map(|row| row["settings"].to_string()).collect();
    let grid = [r#"["hula","0.2"]"#, r#"["hula","0.4"]"#, r#"["reps","0.2"]"#, r#"["reps","0.4"]"#];
    assert_eq!(settings, grid);
    let schemes: Vec<&str> =
        rows.iter().map(|row| row["runs"][0]["scheme"].as_str().unwrap()).collect();
    assert_eq!(schemes, ["hula", "hula", "ecmp", "ecmp"]);
    let reps = &result["axes"][0]["variants"][1];
    assert_eq!(reps["settings"].to_string(), r#"[["scheme","ecmp"],["entropy","reps"]]"#);
    assert!(folder.read("o/sweep.csv").starts_with("variant,workload.load,fct_mean_s"));
    assert!(folder.read("o/ratios.csv").lines().skip(1).all(|line| line.starts_with("hula,")));
    assert!(folder.read("o/report.html").contains("scheme = ecmp, entropy = reps"));
    let alone = "run small.toml --set scheme=ecmp --set entropy=reps --set workload.load=0.4 \
        --set transport.control=dctcp --out alone --json";
    let alone = folder.heddle(alone).json();
    assert_eq!(alone["runs"][1]["digest"], rows[3]["runs"][1]["digest"], "the same run");
}

#[test]
fn variants_of_a_file_are_swept_and_chosen_by_name() {
    let folder = Folder::new();
    let tables = "[[variant]]\nname = \"hula\"\nscheme = \"hula\"\n\
        [[variant]]\nname = \"light\"\nworkload.load = 0.1\n";
    folder.put("named.toml", &format!("{SMALL}{tables}"));
    let labels = |words: &str| -> Vec<String> {
        let said = folder.heddle(&format!("sweep named.toml --list {words}")).ok();
        said.lines().map(|line| line.split('\t').nth(2).unwrap().to_owned()).collect()
    };
    assert_eq!(labels(""), ["hula seed 1", "hula seed 2", "light seed 1", "light seed 2"]);
    assert_eq!(labels("--variant light --set seeds=[3]"), ["light seed 3"]);
    let chosen = labels("--variant mine=scheme=spray --variant hula --set seeds=[3]");
    assert_eq!(chosen, ["mine seed 3", "hula seed 3"]);
    let said = folder.heddle("validate named.toml").ok();
    let is = "2 combinations, 4 runs; the first: 8 hosts, 4 switches, hula, 2 seeds\n";
    assert!(said.starts_with(&format!("named.toml: ok: {is}")), "{said}");
    let shown = folder.heddle("show named.toml").ok();
    assert!(shown.contains("[[variant]]\nname = \"hula\"\nscheme = \"hula\"\n"), "{shown}");
}

/// A table that replaces all keys of the one before is set before them, whatever the order of `--over`.
#[test]
fn a_swept_key_keeps_its_value_before_the_table_that_it_is_of() {
    let folder = Folder::new();
    let digests = |words: &str| {
        folder.heddle(&format!("sweep small.toml --set seeds=[1] {words} --out o")).ok();
        let rows = folder.json("o/sweep.json")["rows"].clone();
        let rows: Vec<_> =
            rows.as_array().unwrap().iter().map(|row| row["runs"][0]["digest"].clone()).collect();
        (rows[0].clone(), rows[1].clone())
    };
    let gap_last = digests("--over scheme=letitflow --over scheme.flowlet_gap=1us,1s");
    let gap_first = digests("--over scheme.flowlet_gap=1us,1s --over scheme=letitflow");
    assert_eq!(gap_last, gap_first);
    assert_ne!(gap_first.0, gap_first.1, "the gap has an effect");
}

/// Words behind `sweep small.toml`, the exit code, and what is said: the fault and its fix.
const REFUSED: [(&str, i32, &str, &str); 13] = [
    ("", 2, "there is nothing to sweep over", "--variant NAME=KEY=VALUE"),
    ("--variant reps", 2, "variant reps sets nothing", "NAME=scheme=ecmp"),
    ("--variant a=scheme=ecmp,hula", 2, "`hula` sets no value", "write KEY=VALUE"),
    ("--variant a=seeds=[1] --variant a=seeds=[2]", 2, "two variants are called a", "rename one"),
    (
        "--variant a=scheme.k=2 --over scheme=ecmp,hula",
        2,
        "variant a sets scheme.k, and scheme is swept as well",
        "leave scheme to the variants",
    ),
    ("--variant a=scheem=ecmp", 3, "small.toml: scheem: in variant a: ", "did you mean `scheme`?"),
    ("--variant a=entropy=reps", 3, "in variant a: \"reps\" needs ports that mark", "mark_above"),
    ("--variant a=workload.load=4", 3, "workload.load: in variant a: 4 is more than", "below 1"),
    (
        "--variant a=scheme=ecmp --baseline b",
        2,
        "variant does not take the value b; its values are a",
        "as in --baseline variant=a",
    ),
    ("--over scheme=ecmp --over scheme=drill", 2, "scheme is swept twice", "scheme=V1,V2"),
    ("--over scheme=ecmp,drill,ecmp", 2, "scheme has the value ecmp twice", "leave one out"),
    ("--over workload.load=0.2,2", 3, "workload.load (from --over): 2 is more", "below 1"),
    (
        "--set scheme.flowlet_gap=50us --over scheme=hula,letitflow",
        2,
        "--set scheme.flowlet_gap has no effect",
        "--over scheme.flowlet_gap=VALUE",
    ),
];

#[test]
fn a_wrong_variant_is_refused_with_its_fix_before_anything_runs() {
    let folder = Folder::new();
    for (words, code, fault, fix) in REFUSED {
        let said = folder.heddle(&format!("sweep small.toml {words}")).failed(code);
        assert!(said.contains(fault) && said.contains(fix), "{words}: {said}");
    }
    folder.put("named.toml", &format!("{SMALL}[[variant]]\nname = \"a\"\nscheme = \"hula\"\n"));
    let said = folder.heddle("sweep named.toml --variant b").failed(2);
    assert!(said.contains("named.toml has no variant b") && said.contains("it has a"), "{said}");
    assert_eq!(folder.list("out"), [""; 0], "nothing was begun");
}
