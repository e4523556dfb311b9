//! Forecasts of runs beside the work that the runs take.

use heddle_scenario::{Source, load};

use super::*;
use crate::{Forecast, Next, forecast, simulate};

/// A run on 32 hosts.
struct Case {
    hosts: Hosts,
    workload: &'static str,
    measure: &'static str,
    seed: u64,
}

/// Scheme and congestion control.
struct Hosts {
    scheme: &'static str,
    control: &'static str,
}

const RENO: Hosts = Hosts { scheme: "ecmp", control: "newreno" };
const DCTCP: Hosts = Hosts { scheme: "ecmp", control: "dctcp" };
const HULA_RENO: Hosts = Hosts { scheme: "hula", control: "newreno" };
const HULA_DCTCP: Hosts = Hosts { scheme: "hula", control: "dctcp" };

const fn case(hosts: Hosts, workload: &'static str, measure: &'static str, seed: u64) -> Case {
    Case { hosts, workload, measure, seed }
}

const CASES: [Case; 13] = [
    case(RENO, r#"kind = "flows", sizes = "websearch", load = 0.5"#, "flows = 10", 1),
    case(RENO, r#"kind = "flows", sizes = "websearch", load = 0.3"#, "flows = 100", 2),
    case(HULA_RENO, r#"kind = "flows", sizes = "websearch", load = 0.6"#, "flows = 50", 2),
    case(DCTCP, r#"kind = "flows", sizes = "websearch", load = 0.8"#, "flows = 50", 3),
    case(RENO, r#"kind = "flows", sizes = "datamining", load = 0.4"#, "flows = 50", 2),
    case(HULA_DCTCP, r#"kind = "flows", sizes = "datamining", load = 0.6"#, "flows = 30", 2),
    case(DCTCP, r#"kind = "flows", sizes = "datamining", load = 0.2"#, "flows = 20", 1),
    case(RENO, r#"kind = "flows", sizes = "fixed:20MB", load = 0.2"#, "flows = 10", 1),
    case(HULA_DCTCP, r#"kind = "flows", sizes = "fixed:20MB", load = 0.9"#, "flows = 10", 1),
    case(HULA_RENO, r#"kind = "flows", sizes = "fixed:50KB", load = 0.5"#, "flows = 2000", 1),
    case(RENO, r#"kind = "flows", sizes = "fixed:100KB", load = 0.2"#, "flows = 2000", 1),
    case(RENO, r#"kind = "collective", operation = "ring-all-reduce", size = "2MB""#, "", 1),
    case(RENO, r#"kind = "collective", operation = "expert-all-to-all", size = "2MB""#, "", 1),
];

fn scenario(case: &Case) -> Scenario {
    read(text(case))
}

fn text(case: &Case) -> String {
    let Case { hosts: Hosts { scheme, control }, workload, measure, .. } = case;
    let comma = if measure.is_empty() { "" } else { ", warm_up = \"1ms\"" };
    format!(
        "scheme = \"{scheme}\"\n\
         fabric = {{ kind = \"leaf-spine\", leaves = 4, spines = 2, hosts_per_leaf = 8 }}\n\
         transport = {{ kind = \"tcp\", control = \"{control}\" }}\n\
         workload = {{ {workload} }}\nmeasure = {{ {measure}{comma} }}\n"
    )
}

fn read(text: String) -> Scenario {
    let no_files = |path: &str| Err(std::io::Error::other(path.to_owned()));
    load(&Source::new("case.toml", text), &no_files).unwrap_or_else(|error| panic!("{error}"))
}

/// The forecast's packet hops by those of the run.
fn ratio(case: &Case) -> f64 {
    let scenario = scenario(case);
    let outcome = simulate(&scenario, case.seed, &mut |_| Next::Continue);
    let truth = outcome.unwrap_or_else(|error| panic!("{error}")).totals.packet_hops;
    let forecast = forecast(&scenario, case.seed).unwrap_or_else(|error| panic!("{error}"));
    forecast.packet_hops / truth as f64
}

/// True if a ratio is within a factor.
fn is_within(ratio: f64, factor: f64) -> bool {
    (1.0 / factor..=factor).contains(&ratio)
}

/// All within a factor of 1.5, three of four within a third. Runs that last as long as some timeouts
/// are not among them: [`Forecast::with_timeouts`] is for them.
#[test]
fn packet_hops_are_near_those_of_the_run() {
    let ratios: Vec<f64> = CASES.iter().map(ratio).collect();
    let said = || {
        let line = |(case, ratio): (&Case, &f64)| {
            let Case { hosts: Hosts { scheme, control }, workload, measure, .. } = case;
            format!("{ratio:.2}: {scheme}, {control}, {workload}, {measure}")
        };
        CASES.iter().zip(&ratios).map(line).collect::<Vec<_>>()
    };
    assert!(ratios.iter().all(|&ratio| is_within(ratio, 1.5)), "{:#?}", said());
    let near = ratios.iter().filter(|&&ratio| is_within(ratio, 4.0 / 3.0)).count();
    assert!(near * 4 >= ratios.len() * 3, "{:#?}", said());
}

/// Two flows of 5 MB to one host fill its port of 375 KB, unless marks or their receivers limit their
/// windows; of flows of 50 KB it takes more than there are at a low load.
#[test]
fn losses_are_likely_where_windows_are_larger_than_ports() {
    let likely = |hosts: Hosts, workload: &'static str, window: &str| {
        let case = case(hosts, workload, "flows = 100", 1);
        let kind = "kind = \"tcp\"";
        let text = text(&case).replace(kind, &format!("{kind}, receive_window = \"{window}\""));
        let Forecast { packet_hops, with_timeouts, .. } = forecast(&read(text), 1).expect("sound");
        assert!(with_timeouts.is_none_or(|with| with.packet_hops > packet_hops), "{workload}");
        with_timeouts.is_some()
    };
    let small = r#"kind = "flows", sizes = "fixed:50KB", load = 0.3"#;
    let large = r#"kind = "flows", sizes = "fixed:5MB", load = 0.3"#;
    assert!(likely(RENO, large, "4MB"));
    assert!(!likely(RENO, small, "4MB") && !likely(RENO, large, "50KB"));
    assert!(!likely(DCTCP, large, "4MB"));
}
