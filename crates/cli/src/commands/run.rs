//! `heddle run`: one scenario, once for each seed.

use heddle_scenario::{Scenario, Scheme, Transport};
use heddle_study::cell::seeded;
use heddle_study::grid::{self, Keep};
use heddle_study::live::{Live, SoFar, remark};
use heddle_study::metric;
use heddle_study::overload::offered;
use heddle_study::record::{Wanted, record};
use heddle_study::remarks::remarks;
use heddle_study::results::{
    FLOW_COLUMNS, FLOWS, KEPT_FLOWS, KEPT_LINKS, LINK_COLUMNS, LINKS, OverSeeds, ScenarioResult,
    write_table,
};
use heddle_study::store::Store;
use heddle_study::summary::{
    CollectiveSummary, LongSummary, RequestSummary, RunSummary, TotalsSummary, WorkloadSummary,
};
use heddle_study::view;

use crate::args::{Common, Run};
use crate::failure::Failure;
use crate::files::{Written, provenance};
use crate::output::counted;
use crate::progress::GridBar;
use crate::{files, live, output, table};

pub(crate) fn run(args: &Run, common: &Common) -> Result<(), Failure> {
    files::check_parquet(args.parquet)?;
    let source = files::source(&args.source)?;
    let scenario = files::resolve(&source)?;
    let wanted = Wanted::new(&scenario, &args.pcap, &args.trace)?;
    let folder =
        args.out.clone().unwrap_or_else(|| files::default_folder("", &args.source.scenario));
    let offered = offered(&scenario).map_err(anyhow::Error::from)?;
    let overload = offered.as_ref().and_then(|offered| offered.warning(&scenario.scheme));
    warn_of_overload(overload.as_deref(), common);
    tell_notices(&scenario.notices, common);
    files::make_folder(&folder)?;
    let store = Store::open(&folder.join("runs")).map_err(anyhow::Error::from)?;
    let cells = seeded(scenario.scheme.name(), &scenario, &scenario.seeds);
    let before: Vec<String> = scenario.notices.iter().cloned().chain(overload).collect();
    let made = provenance(&source, &scenario)?;
    let report = |runs: &[RunSummary], later: &[String]| {
        let remarks = [&before[..], later].concat();
        view::with_origin(view::of_run(&scenario, runs), &made, &remarks)
    };
    let bar = GridBar::new(common);
    let show = |runs: &[Option<SoFar>]| {
        let known = figures(runs);
        runs.iter()
            .flatten()
            .filter(|run| !run.is_whole())
            .for_each(|run| bar.say(&live::line(run)));
        files::write_page(&folder, &live::reloading(report(&known, &[]), runs))
    };
    let so_far = Live::new(cells.len(), live::every(args.live), Box::new(show));
    let ran = match args.threads {
        1 => grid::run_live(&cells, (&store, Keep::Tables), &bar, &so_far),
        threads => grid::run_on(threads, &cells, &store, Keep::Tables, &bar),
    };
    let so_far = so_far.finish().map_err(anyhow::Error::from)?;
    let runs = ran.map_err(|error| {
        live::interrupted(error, || {
            let known = figures(&so_far);
            if !known.iter().any(|run| run.fct.all.is_some()) {
                return Ok(());
            }
            if !common.json {
                let over = OverSeeds::new(&known);
                print_fct(&scenario, known.len(), &over)?;
                table::print_remarks(remark(&so_far).as_slice())?;
            }
            Ok(files::write_page(&folder, &live::marked(report(&known, &[]), &so_far))
                .map_err(anyhow::Error::from)?)
        })
    })?;
    drop(bar);
    let recorded = if wanted.is_empty() {
        Vec::new()
    } else {
        record(&cells, &wanted, &folder, &GridBar::new(common))?
    };
    let later = remarks(&[(scenario.scheme.name(), &runs)]);
    let remarks = [&before[..], &later].concat();
    let result = ScenarioResult {
        provenance: &made,
        resolved: &scenario,
        offered: offered.as_ref(),
        remarks: &remarks,
        over_seeds: OverSeeds::new(&runs),
        runs: &runs,
    };
    let mut written = Written::new(&folder);
    written.json("summary.json", &result)?;
    let cells: Vec<_> = cells.iter().map(|cell| (String::new(), cell)).collect();
    let tables = [(FLOWS, KEPT_FLOWS, FLOW_COLUMNS), (LINKS, KEPT_LINKS, LINK_COLUMNS)];
    for (name, kept, columns) in tables {
        let table = write_table(&folder.join(name), (&store, kept), columns, &cells);
        written.table(name, table.map_err(anyhow::Error::from)?);
    }
    written.parquet(args.parquet, &made)?;
    written.others(recorded);
    written.report(&report(&runs, &later))?;
    if common.json {
        return files::print_json(&result);
    }
    print(&scenario, &runs, &result)?;
    table::print_remarks(&later)?;
    written.tell(common);
    Ok(())
}

/// The figures of the runs that have any.
fn figures(runs: &[Option<SoFar>]) -> Vec<RunSummary> {
    runs.iter().flatten().map(|run| run.summary.clone()).collect()
}

/// Warns of overload before anything runs.
pub(crate) fn warn_of_overload(overload: Option<&str>, common: &Common) {
    if let Some(said) = overload.filter(|_| !common.quiet) {
        eprintln!("warning: {said}");
    }
}

/// Says what files were read without.
pub(crate) fn tell_notices(notices: &[String], common: &Common) {
    for said in notices.iter().filter(|_| !common.quiet) {
        eprintln!("note: {said}");
    }
}

fn print(scenario: &Scenario, runs: &[RunSummary], result: &ScenarioResult) -> Result<(), Failure> {
    let over = &result.over_seeds;
    print_fct(scenario, runs.len(), over)?;
    if let Some(offered) = result.offered {
        output::line(format_args!(
            "load {} of payload, {:.3} with headers; the busiest link is offered {:.0} % by an equal split",
            offered.load,
            offered.wire_load,
            100.0 * offered.busiest
        ))?;
    }
    output::line(format_args!("goodput {}", table::figure(over.goodput_bps, 1e-9, "Gbps")))?;
    for run in runs {
        let t = &run.totals;
        let trims = match t.trimmed {
            0 => String::new(),
            trims => format!("{}, ", counted(trims, "trim")),
        };
        output::line(format_args!(
            "seed {}: {}, {trims}{}, {}, {} reordered, {} of {} unfinished, digest {}",
            run.seed,
            counted(t.dropped, "drop"),
            counted(t.retransmitted, "retransmission"),
            counted(t.timeouts, "timeout"),
            t.reordered,
            t.unfinished,
            counted(t.measured, "flow"),
            run.digest
        ))?;
        let is_mptcp = |transport: &Transport| matches!(transport, Transport::Mptcp(_));
        let multipath = scenario.transports().iter().any(is_mptcp).then(|| multipath(run));
        let of_workloads = run.workloads.iter().map(of_workload);
        let all_long = run.long_flows.as_ref().filter(|_| run.workloads.is_empty()).map(long_flows);
        let of_collectives = run.collectives.iter().map(of_collective);
        let of_requests = run.requests.iter().map(of_requests);
        let more =
            of_collectives.chain(of_requests).chain(of_workloads).chain(all_long).chain(multipath);
        for more in more.chain(of_scheme(&scenario.scheme, t)) {
            output::line(format_args!("seed {}: {more}", run.seed))?;
        }
    }
    Ok(())
}

/// The title, and the tables of flow completion times.
fn print_fct(scenario: &Scenario, seeds: usize, over: &OverSeeds) -> Result<(), Failure> {
    let name = scenario.scheme.name();
    output::line(format_args!("{} ({name}, {})", scenario.title, counted(seeds as u64, "seed")))?;
    let columns = table::fct_header(&over.classes);
    let header: Vec<&str> =
        std::iter::once("scheme").chain(columns.iter().map(String::as_str)).collect();
    let mut fct = table::new(&header);
    let mut row = vec![name.to_owned()];
    row.extend(table::fct_row(over, &over.classes));
    fct.add_row(row);
    if over.fct_mean.is_some() {
        table::print(&fct, 1)?;
    }
    match table::of_classes(&over.classes) {
        Some(classes) => table::print(&classes, 1),
        None => Ok(()),
    }
}

/// Goodput of flows without end.
fn long_flows(long: &LongSummary) -> String {
    let (rate, share) = (&long.goodput_bps, &long.share);
    format!(
        "{} without end: goodput {} Gbps each on average ({:.1} % of the hosts' links), from {} to {}",
        counted(long.flows, "flow"),
        table::short(rate.mean / 1e9),
        100.0 * share.mean,
        table::short(rate.min / 1e9),
        table::short(rate.max / 1e9)
    )
}

/// Time of a collective operation.
fn of_collective(collective: &CollectiveSummary) -> String {
    let CollectiveSummary { name, seconds, ideal_seconds } = collective;
    let name = if name.is_empty() { String::new() } else { format!("{name}: ") };
    format!(
        "{name}the collective took {} ms, {:.2}x of {} ms in an empty fabric",
        table::short(1e3 * seconds),
        seconds / ideal_seconds,
        table::short(1e3 * ideal_seconds)
    )
}

/// Requests of a closed loop.
fn of_requests(requests: &RequestSummary) -> String {
    let RequestSummary { name, requests, per_second, seconds } = requests;
    let name = if name.is_empty() { String::new() } else { format!("{name}: ") };
    format!(
        "{name}{} answered, {} a second, mean {} ms, median {} ms, p99 {} ms",
        counted(*requests, "request"),
        table::short(*per_second),
        table::short(1e3 * seconds.mean),
        table::short(1e3 * seconds.p50),
        table::short(1e3 * seconds.p99)
    )
}

/// Figures of one of several workloads.
fn of_workload(workload: &WorkloadSummary) -> String {
    let finished = workload.fct.as_ref().map(|fct| {
        let ms = |seconds: f64| table::short(1e3 * seconds);
        let (time, slowdown) = (&fct.seconds, fct.slowdown.mean);
        format!(
            "{}, mean FCT {} ms, p99 {} ms, slowdown {}",
            counted(fct.flows, "flow"),
            ms(time.mean),
            ms(time.p99),
            table::short(slowdown)
        )
    });
    let unfinished =
        (workload.unfinished > 0).then(|| format!("{} unfinished", workload.unfinished));
    let long = workload.long_flows.as_ref().map(long_flows);
    let figures: Vec<String> = finished.into_iter().chain(unfinished).chain(long).collect();
    format!("{}: {}", workload.name, figures.join(", "))
}

/// MPTCP's counters of a run.
fn multipath(run: &RunSummary) -> String {
    let shared = metric::shared_link_percent(run).map_or_else(String::new, |share| {
        format!("subflows share a link in {share:.1} % of the samples, ")
    });
    let penalties = match run.totals.penalties {
        0 => String::new(),
        1 => ", 1 window of a subflow halved by penalising".to_owned(),
        more => format!(", {more} windows of subflows halved by penalising"),
    };
    format!("{shared}{} reinjected{penalties}", counted(run.totals.reinjected_bytes, "byte"))
}

/// The scheme's counters of a run; `None` if it has none.
fn of_scheme(scheme: &Scheme, t: &TotalsSummary) -> Option<String> {
    match scheme {
        Scheme::Ecmp | Scheme::EcmpNs2 | Scheme::Spray | Scheme::Drill(_) | Scheme::Ideal => None,
        Scheme::Cflb(_) => Some(format!(
            "{} placed; {} forwarded by the encoded path, {} by hash",
            counted(t.placed, "subflow"),
            counted(t.controlled, "packet"),
            t.hashed
        )),
        Scheme::MpHula(_) | Scheme::Shuttle(_) => {
            let associated = t.associated_connections + t.associated_joins;
            let refused = t.unknown_tokens + t.token_collisions + t.table_collisions;
            Some(format!(
                "{}, {}, {} associated, {}",
                counted(t.flowlets, "flowlet"),
                counted(t.shims, "shim"),
                counted(associated, "subflow"),
                counted(refused, "refusal")
            ))
        }
        Scheme::CongaPrime(_) | Scheme::Conga(_) | Scheme::LetItFlow(_) | Scheme::Hula(_) => {
            Some(counted(t.flowlets, "flowlet"))
        }
        Scheme::Flowcut(_) => Some(format!(
            "{}, {} of flows without a slot",
            counted(t.flowlets, "flowcut"),
            counted(t.fallbacks, "packet")
        )),
        Scheme::External(_) => (t.flowlets > 0).then(|| counted(t.flowlets, "flowlet")),
    }
}
