//! `heddle-emulation demo`: MP-HULA, HULA and ECMP with MPTCP of two subflows, and a core link that
//! is cut.

use anyhow::anyhow;
use heddle_claims::files::{make_folder, write_atomically, write_report};
use heddle_emulation::plane::Kind;
use heddle_emulation::{Move, Network, ObservedLinks, Observer, Scaling, Sharing, state};
use heddle_program::{Common, Failure, output, table};
use heddle_report::{Section, Table};
use heddle_scenario::{Scenario, Source};
use heddle_study::provenance::Provenance;
use heddle_study::summary::RunSummary;
use heddle_study::view::{head, plots, with_origin};
use serde::Serialize;

use crate::args::Demo;
use crate::output::{Lab, with_facts};
use crate::prepared::{Prepared, note, prepare_source};
use crate::run::{Bar, raise_priority, remove_left_over, unique_name};

/// The scenario.
const SCENARIO: &str = include_str!("../../../../../scenarios/lab/demo.toml");

/// Name, scheme (that of the file if there is none) and data plane.
const SYSTEMS: [(&str, Option<&str>, Kind); 3] = [
    ("MP-HULA", None, Kind::Ebpf),
    (
        "HULA",
        Some("{ kind = \"hula\", probe_period = \"20ms\", flowlet_gap = \"60ms\" }"),
        Kind::Ebpf,
    ),
    ("ECMP (kernel routes)", Some("ecmp"), Kind::Kernel),
];

/// One system's run.
#[derive(Debug, Serialize)]
struct Shown {
    system: &'static str,
    dataplane: &'static str,
    /// Links of the subflows from the core to the aggregation switches, before the cut.
    before: Sharing,
    /// The subflows that were on the link that was cut.
    moves: Vec<Move>,
    run: RunSummary,
}

/// The content of `demo.json`.
#[derive(Debug, Serialize)]
struct Results<'a> {
    #[serde(flatten)]
    made: &'a Provenance,
    systems: &'a [Shown],
}

pub(crate) fn demo(args: &Demo, common: &Common) -> Result<(), Failure> {
    remove_left_over(common)?;
    make_folder(&args.out)?;
    raise_priority();
    let mut shown = Vec::new();
    let mut scenario = None;
    for (system, scheme, plane) in SYSTEMS {
        note(
            common,
            &format!(
                "{system}: 16 hosts and 10 switches in namespaces, 4 connections of two subflows"
            ),
        );
        let prepared = prepare(scheme, plane)?;
        shown.push(one(system, &prepared, common)?);
        scenario.get_or_insert(prepared);
    }
    let Some(prepared) = scenario else { return Ok(()) };
    let results = Results { made: &prepared.made, systems: &shown };
    let json = serde_json::to_vec_pretty(&results).map_err(anyhow::Error::from)?;
    write_atomically(&args.out.join("demo.json"), &json)?;
    write_report(&args.out, &report(&prepared, &shown))?;
    if common.json {
        return output::json(&results);
    }
    let mut printed = table::new(&HEADER);
    shown.iter().for_each(|one| {
        printed.add_row(cells(one));
    });
    output::line(printed)?;
    output::line(format_args!(
        "A core link, core-1 to agg-3, was cut after 8 s without a word to any switch. The report, with the fabric over time: {}",
        args.out.join("report.html").display()
    ))
}

fn prepare(scheme: Option<&str>, plane: Kind) -> Result<Prepared, Failure> {
    let source = Source::new("scenarios/lab/demo.toml", SCENARIO);
    let source = match scheme {
        Some(scheme) => source.with("scheme", scheme),
        None => source,
    };
    let none = |_: &str| Err(std::io::Error::other("no such file in this program"));
    Ok(prepare_source(&source, &none, plane, |_| Scaling::NONE)?)
}

fn one(system: &'static str, prepared: &Prepared, common: &Common) -> Result<Shown, Failure> {
    let scenario = &prepared.possible.scenario;
    let owner = state::own_process()?;
    let network = Network::build(scenario, &unique_name(owner.id), Some(owner))?;
    let observer = Observer::start(&network, ObservedLinks::FromTop)?;
    let bar = Bar::new(1, common);
    let lab =
        heddle_emulation::run(&network, &mut *prepared.plane.create(prepared.options), 1, &bar)?;
    let observed = observer.finish();
    let from = lab.start + measure_from(scenario);
    let cut = lab.cuts.first().copied();
    let (link, at) =
        cut.ok_or_else(|| anyhow!("the run of {system} ended before its link was cut"))?;
    Ok(Shown {
        system,
        dataplane: prepared.plane.name(),
        before: observed.sharing(from, at),
        moves: observed.moves(link, at),
        run: RunSummary::new(scenario, 1, &lab.outcome, 0.0),
    })
}

/// The start of the measuring window, in nanoseconds from that of the run.
fn measure_from(scenario: &Scenario) -> u64 {
    (scenario.measure.probe_warm_up + scenario.measure.warm_up).as_nanos()
}

const HEADER: [&str; 6] = [
    "system",
    "subflows on different core links",
    "subflows on the cut link",
    "moved",
    "longest time to move",
    "goodput",
];

fn cells(shown: &Shown) -> [String; 6] {
    let Sharing { samples, apart } = shown.before;
    let share = if samples == 0 {
        "-".to_owned()
    } else {
        format!("{:.0} %", 100.0 * apart as f64 / samples as f64)
    };
    let times: Vec<f64> = shown.moves.iter().filter_map(|moved| moved.seconds).collect();
    let longest = times.iter().copied().reduce(f64::max);
    [
        shown.system.to_owned(),
        share,
        shown.moves.len().to_string(),
        times.len().to_string(),
        longest.map_or("-".to_owned(), |seconds| format!("{:.0} ms", seconds * 1e3)),
        format!("{:.1} Mbps", shown.run.totals.goodput_bps / 1e6),
    ]
}

fn report(prepared: &Prepared, shown: &[Shown]) -> heddle_report::Report {
    let scenario = &prepared.possible.scenario;
    let results = shown.iter().fold(Table::new(HEADER), |table, one| table.row(cells(one)));
    let maps: Vec<(&str, &RunSummary)> = shown.iter().map(|one| (one.system, &one.run)).collect();
    let section = Section::new("results", "Two subflows, and a link that is cut")
        .block(results.caption(
            "Share of the tenths of a second before the cut in which the two subflows of a connection took different links from the core. Time to \
             move: from the cut to the subflow's first data over another link.",
        ))
        .block("core-1 to agg-3 is cut 8 s after the start, without a word to any switch. Press play, or move the slider.")
        .block(plots::fabric_map("utilisation", "Link utilisation over time", &scenario.fabric.graph, &maps));
    let runs = shown.iter().map(|one| &one.run);
    let report = with_facts(head(&scenario.title, runs), &Lab::new(prepared, &[])).section(section);
    with_origin(report, &prepared.made, &[])
}
