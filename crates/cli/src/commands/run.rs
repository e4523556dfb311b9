//! `heddle run`: one scenario, once for each seed.

use heddle_claims::{Monitor as _, Progress};
use heddle_scenario::{Scenario, Scheme, Transport};
use heddle_sim::{Next, Outcome};
use heddle_study::grid::timed;
use heddle_study::metric;
use heddle_study::results::{self, OverSeeds, ScenarioResult};
use heddle_study::summary::{RunSummary, TotalsSummary};
use heddle_study::view;
use rayon::prelude::*;

use crate::args::{Common, Run};
use crate::failure::Failure;
use crate::progress::{self, GridBar};
use crate::{files, output, table};

pub(crate) fn run(args: &Run, common: &Common) -> Result<(), Failure> {
    let scenario = files::resolve(&files::source(&args.source)?)?;
    let folder =
        args.out.clone().unwrap_or_else(|| files::default_folder("", &args.source.scenario));
    files::make_folder(&folder)?;
    let done = all_seeds(&scenario, common)?;
    let runs: Vec<RunSummary> = done.iter().map(|(_, _, summary)| summary.clone()).collect();
    let outcomes: Vec<(u64, Outcome)> = done.into_iter().map(|(seed, o, _)| (seed, o)).collect();
    let over_seeds = OverSeeds::new(&runs);
    let heddle = env!("CARGO_PKG_VERSION");
    let result = ScenarioResult { heddle, scenario: &scenario, over_seeds, runs: &runs };
    results::write(&folder, &result, &outcomes).map_err(anyhow::Error::from)?;
    files::write_report(&folder, &view::of_run(&scenario, &runs))?;
    if common.json {
        return files::print_json(&result);
    }
    print(&scenario, &runs, &result.over_seeds)?;
    if !common.quiet {
        eprintln!("wrote {}, summary.json, flows.csv", folder.join("report.html").display());
    }
    Ok(())
}

/// Every seed on a core of its own.
fn all_seeds(
    scenario: &Scenario,
    common: &Common,
) -> Result<Vec<(u64, Outcome, RunSummary)>, Failure> {
    let runs = scenario.seeds.len();
    let bar = GridBar::new(common);
    let one = |(run, &seed): (usize, &u64)| {
        let label = format!("seed {seed}");
        let mut watch = |progress: heddle_sim::Progress| -> Next {
            bar.progress(Progress { done: 0, runs, run, label: &label, part: progress.done });
            progress::next()
        };
        let (outcome, seconds) = timed(scenario, seed, &mut watch)?;
        let summary = RunSummary::new(scenario, seed, &outcome, seconds);
        Ok((seed, outcome, summary))
    };
    scenario.seeds.par_iter().enumerate().map(one).collect()
}

fn print(scenario: &Scenario, runs: &[RunSummary], over: &OverSeeds) -> Result<(), Failure> {
    let name = scenario.scheme.name();
    output::line(format_args!("{} ({name}, {})", scenario.title, seeds(runs.len())))?;
    let mut header = vec!["scheme"];
    header.extend(table::FCT_HEADER);
    let mut fct = table::new(&header);
    let mut row = vec![name.to_owned()];
    row.extend(table::fct_row(over));
    fct.add_row(row);
    if over.fct_mean.is_some() {
        output::line(fct)?;
    }
    output::line(format_args!("goodput {}", table::figure(over.goodput_bps, 1e-9, "Gbps")))?;
    for run in runs {
        let t = &run.totals;
        output::line(format_args!(
            "seed {}: {} drops, {} retransmissions, {} timeouts, {} reordered, {} unfinished flows, digest {}",
            run.seed, t.dropped, t.retransmitted, t.timeouts, t.reordered, t.unfinished, run.digest
        ))?;
        let multipath = matches!(scenario.transport, Transport::Mptcp(_)).then(|| multipath(run));
        for more in multipath.into_iter().chain(of_scheme(&scenario.scheme, t)) {
            output::line(format_args!("seed {}: {more}", run.seed))?;
        }
    }
    Ok(())
}

fn seeds(count: usize) -> String {
    if count == 1 { "1 seed".into() } else { format!("{count} seeds") }
}

/// MPTCP's counters of a run.
fn multipath(run: &RunSummary) -> String {
    let shared = metric::shared_link_percent(run).map_or_else(String::new, |share| {
        format!("subflows share a link in {share:.1} % of the samples, ")
    });
    format!("{shared}{} bytes reinjected", run.totals.reinjected_bytes)
}

/// The scheme's counters of a run; `None` if it has none.
fn of_scheme(scheme: &Scheme, t: &TotalsSummary) -> Option<String> {
    match scheme {
        Scheme::Ecmp | Scheme::Spray | Scheme::Drill(_) | Scheme::Ideal => None,
        Scheme::Cflb(_) => Some(format!(
            "{} subflows placed; {} packets took the next hop that they name, {} were hashed",
            t.placed, t.controlled, t.hashed
        )),
        Scheme::MpHula(_) => {
            let associated = t.associated_connections + t.associated_joins;
            let refused = t.unknown_tokens + t.token_collisions + t.table_collisions;
            Some(format!(
                "{} flowlets, {} shims, {associated} subflows associated, {refused} refusals",
                t.flowlets, t.shims
            ))
        }
        Scheme::CongaPrime(_) | Scheme::Conga(_) | Scheme::LetItFlow(_) | Scheme::Hula(_) => {
            Some(format!("{} flowlets", t.flowlets))
        }
    }
}
