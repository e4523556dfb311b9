//! `heddle sweep`: every combination of some values.

use std::path::PathBuf;

use heddle_claims::table::OVERLOADED;
use heddle_scenario::{ScenarioError, Source, Variant, variants};
use heddle_study::cell::Cell;
use heddle_study::grid::{self, Keep};
use heddle_study::live::{Live, SoFar, remark};
use heddle_study::paired::{self, Baseline, Ratio, SweepResult};
use heddle_study::plan::{self, Combination, Plan, sources};
use heddle_study::provenance::Provenance;
use heddle_study::remarks::{Named, remarks};
use heddle_study::results::{
    Classes, FLOW_COLUMNS, FLOWS, KEPT_FLOWS, KEPT_LINKS, LINK_COLUMNS, LINKS, write_table,
};
use heddle_study::store::{Store, key};
use heddle_study::summary::RunSummary;
use heddle_study::sweep::{self, Axis, Row, csv_fields, to_csv};
use heddle_study::{tidy, view};
use serde_json::json;

use crate::args::{Axes, Common, Grid, Sweep};
use crate::commands::on;
use crate::commands::run::{tell_notices, warn_of_overload};
use crate::failure::Failure;
use crate::files::{Written, provenance};
use crate::progress::GridBar;
use crate::{files, live, output, table};

/// A sweep before it runs.
pub(crate) struct Work {
    source: Source,
    axes: Vec<Axis>,
    folder: PathBuf,
    plan: Plan,
    keep: Keep,
}

impl Work {
    pub(crate) fn new(grid: &Grid) -> Result<Work, Failure> {
        let source = files::source(&grid.source)?;
        let axes = axes(&source, &grid.axes)?;
        if axes.is_empty() {
            let fix = "give --over KEY=V1,V2,.., --variant NAME=KEY=VALUE,.., or the file tables [[variant]]; `heddle sweep --help` has examples";
            return Err(Failure::usage("there is nothing to sweep over", fix));
        }
        let default = || files::default_folder("sweep-", &grid.source.scenario);
        let folder = grid.out.clone().unwrap_or_else(default);
        let plan = plan(&source, &axes)?;
        let takes_samples = |one: &Combination| one.scenario.measure.sample_every.is_some();
        if grid.links && !plan.combinations.iter().any(takes_samples) {
            let message = format!("--links: {} takes no samples of links", source.name);
            return Err(Failure::usage(
                message,
                "give it a period: --set measure.sample_every=1ms",
            ));
        }
        let keep = if grid.flows || grid.links { Keep::Tables } else { Keep::Summaries };
        Ok(Work { source, axes, folder, plan, keep })
    }

    /// The folder of kept runs.
    fn runs(&self) -> PathBuf {
        self.folder.join("runs")
    }

    /// Makes the cells that the store does not have.
    pub(crate) fn run(
        &self,
        cells: &[Cell],
        common: &Common,
    ) -> Result<(Store, Vec<RunSummary>), Failure> {
        files::make_folder(&self.folder)?;
        let store = Store::open(&self.runs()).map_err(anyhow::Error::from)?;
        let runs = grid::run(cells, &store, self.keep, &GridBar::new(common))?;
        Ok((store, runs))
    }

    /// Makes all cells that the store does not have, and shows the finished ones meanwhile, if they
    /// are wanted, or when it is interrupted.
    fn run_all(
        &self,
        (made, before): (&Provenance, &[String]),
        is_live: bool,
        common: &Common,
    ) -> Result<(Store, Vec<RunSummary>), Failure> {
        files::make_folder(&self.folder)?;
        let store = Store::open(&self.runs()).map_err(anyhow::Error::from)?;
        let rows = |runs: &[Option<SoFar>]| {
            let finished = |run: &Option<SoFar>| run.as_ref().map(|run| run.summary.clone());
            self.plan.rows_so_far(&runs.iter().map(finished).collect::<Vec<_>>())
        };
        let report =
            |rows: &[Row]| view::with_origin(view::of_sweep(&self.axes, rows), made, before);
        let show = |runs: &[Option<SoFar>]| {
            files::write_page(&self.folder, &live::reloading(report(&rows(runs)), runs))
        };
        let cells = self.plan.cells();
        let so_far = Live::new(cells.len(), live::every(is_live), Box::new(show)).of_finished();
        let ran = grid::run_live(&cells, (&store, self.keep), &GridBar::new(common), &so_far);
        let so_far = so_far.finish().map_err(anyhow::Error::from)?;
        let runs = ran.map_err(|error| {
            live::interrupted(error, || {
                let rows = rows(&so_far);
                if rows.is_empty() {
                    return Ok(());
                }
                if !common.json {
                    print(&self.axes, &rows)?;
                    table::print_remarks(remark(&so_far).as_slice())?;
                }
                Ok(files::write_page(&self.folder, &live::marked(report(&rows), &so_far))
                    .map_err(anyhow::Error::from)?)
            })
        })?;
        Ok((store, runs))
    }

    /// Has a cluster make the cells that the store does not have.
    fn run_on(&self, scheduler: &str, common: &Common) -> Result<(), Failure> {
        let store = Store::to_read(&self.runs());
        let (mut cells, mut missing) = (self.plan.cells().into_iter(), Vec::new());
        for ((_, source), of_it) in
            sources(&self.source, &self.axes).iter().zip(&self.plan.combinations)
        {
            for cell in cells.by_ref().take(of_it.seeds.len()) {
                let kept = grid::kept(&cell, &store, self.keep).map_err(anyhow::Error::from)?;
                if kept.is_none() {
                    missing.push(on::cell(source, cell.seed)?);
                }
            }
        }
        match missing.is_empty() {
            true => Ok(()),
            false => on::make(scheduler, &missing, &self.runs(), common),
        }
    }

    /// Every cell with its key.
    pub(crate) fn keyed_cells(&self) -> Vec<(String, Cell)> {
        self.plan.cells().into_iter().map(|cell| (key(&cell), cell)).collect()
    }
}

pub(crate) fn sweep(args: &Sweep, common: &Common) -> Result<(), Failure> {
    files::check_parquet(args.parquet)?;
    let work = Work::new(&args.grid)?;
    if args.list {
        return list(&work, common);
    }
    let Work { source, axes, folder, plan, .. } = &work;
    let baseline = args.baseline.as_ref();
    let baseline = baseline.map(|(key, value)| Baseline::new(axes, key, value)).transpose();
    let baseline = baseline.map_err(|error| {
        let example = axes.first().map_or_else(String::new, |axis| {
            let value = axis.values.first().map_or("", String::as_str);
            format!("as in --baseline {}={value}", axis.key)
        });
        Failure::usage(format!("--baseline: {error}"), example)
    })?;
    let (cells, notices, overload) = (plan.cells(), plan.notices(), plan.overload());
    warn_of_overload(overload.as_deref(), common);
    tell_notices(&notices, common);
    let made = provenance(source, &files::resolve(&first(source, axes))?)?;
    if let Some(scheduler) = &args.on {
        work.run_on(scheduler, common)?;
    }
    let before: Vec<String> = notices.into_iter().chain(overload).collect();
    let (store, runs) = work.run_all((&made, &before), args.live, common)?;
    let rows = plan.rows(runs);
    let names: Vec<String> = rows.iter().map(|row| row.settings.join(" ")).collect();
    let named: Vec<Named<'_>> =
        names.iter().zip(&rows).map(|(name, row)| (name.as_str(), &*row.runs)).collect();
    let later = remarks(&named);
    let remarks = [&before[..], &later].concat();
    let ratios = baseline.as_ref().map_or_else(Vec::new, |b| paired::ratios(axes, &rows, b));
    let result = SweepResult {
        provenance: &made,
        axes,
        remarks: &remarks,
        rows: &rows,
        baseline: baseline.as_ref(),
        ratios: &ratios,
    };
    let mut written = Written::new(folder);
    written.text("sweep.csv", &to_csv(axes, &rows))?;
    written.text("tidy.csv", &tidy::to_csv(axes, &rows))?;
    written.text("means.csv", &tidy::means_to_csv(axes, &rows))?;
    written.json("sweep.json", &result)?;
    if baseline.is_some() {
        written.text("ratios.csv", &paired::to_csv(axes, &ratios))?;
    } else {
        heddle_study::results::remove(&folder.join("ratios.csv")).map_err(anyhow::Error::from)?;
    }
    let keys: Vec<String> = axes.iter().map(|axis| axis.key.clone()).collect();
    let cells: Vec<(String, &Cell)> = rows
        .iter()
        .flat_map(|row| row.runs.iter().map(|_| csv_fields(&row.settings)))
        .zip(&cells)
        .collect();
    let tables = [
        (args.grid.flows, FLOWS, KEPT_FLOWS, FLOW_COLUMNS),
        (args.grid.links, LINKS, KEPT_LINKS, LINK_COLUMNS),
    ];
    for (is_wanted, name, kept, columns) in tables {
        let path = folder.join(name);
        if is_wanted {
            let columns = format!("{}{columns}", csv_fields(&keys));
            let table = write_table(&path, (&store, kept), &columns, &cells);
            written.table(name, table.map_err(anyhow::Error::from)?);
        } else {
            // Those of an earlier sweep are not of this one.
            heddle_study::results::remove(&path).map_err(anyhow::Error::from)?;
        }
    }
    written.parquet(args.parquet, &made)?;
    let report = view::of_sweep(axes, &rows);
    let report = match &baseline {
        Some(baseline) => view::with_ratios(report, baseline, &ratios),
        None => report,
    };
    written.report(&view::with_origin(report, &made, &remarks))?;
    if common.json {
        return files::print_json(&result);
    }
    print(axes, &rows)?;
    if let Some(baseline) = &baseline {
        print_ratios(axes, baseline, &ratios)?;
    }
    table::print_remarks(&later)?;
    written.tell(common);
    Ok(())
}

/// A line for each run: key, whether the store has it, values, seed.
fn list(work: &Work, common: &Common) -> Result<(), Failure> {
    let store = Store::to_read(&work.runs());
    let mut runs = Vec::new();
    for (key, cell) in work.keyed_cells() {
        let kept = grid::kept(&cell, &store, work.keep).map_err(anyhow::Error::from)?;
        runs.push((key, kept.is_some(), cell));
    }
    if common.json {
        let json = |(key, done, cell): &(String, bool, Cell)| json!({ "key": key, "done": done, "label": cell.label, "seed": cell.seed });
        return files::print_json(&runs.iter().map(json).collect::<Vec<_>>());
    }
    for (key, done, cell) in &runs {
        let state = if *done { "done" } else { "missing" };
        output::line(format_args!("{key}\t{state}\t{}", cell.label))?;
    }
    Ok(())
}

/// The first combination: the file alone may lack what the axes give.
fn first(source: &Source, axes: &[Axis]) -> Source {
    let values: Vec<String> = axes.iter().filter_map(|axis| axis.values.first().cloned()).collect();
    let mut source = source.clone();
    source.overrides.extend(plan::settings(axes, &values));
    source
}

/// The axes of a sweep of a file: variants, then keys.
pub(crate) fn axes(source: &Source, args: &Axes) -> Result<Vec<Axis>, Failure> {
    let of_file = variants(source)?;
    let chosen = |text: &String| match of_file.iter().find(|variant| variant.name == *text) {
        Some(variant) => Ok(variant.clone()),
        None if !text.contains('=') && !of_file.is_empty() => {
            let names: Vec<&str> = of_file.iter().map(|variant| variant.name.as_str()).collect();
            let message = format!("--variant: {} has no variant {text}", source.name);
            let fix = format!("it has {}; NAME=KEY=VALUE,.. is another one", names.join(", "));
            Err(Failure::usage(message, fix))
        }
        None => Variant::parse(text).map_err(|error| wrong_axes(&error)),
    };
    let named = args.variant.iter().map(chosen).collect::<Result<Vec<Variant>, Failure>>()?;
    let over = args.over.iter().map(|(key, values)| Axis::new(key, values)).collect();
    let variants = if named.is_empty() { of_file } else { named };
    let axes = sweep::axes(over, variants).map_err(|error| wrong_axes(&error))?;
    match plan::replaced(source, &axes) {
        None => Ok(axes),
        Some((key, table)) => {
            let message = format!("--set {key} has no effect: the sweep replaces all of {table}");
            Err(Failure::usage(message, format!("--over {key}=VALUE, which follows {table}")))
        }
    }
}

fn wrong_axes(error: &ScenarioError) -> Failure {
    Failure::usage(error.message(), error.help().unwrap_or_default())
}

/// Every combination, resolved.
pub(crate) fn plan(source: &Source, axes: &[Axis]) -> Result<Plan, Failure> {
    let mut combinations = Vec::new();
    for (values, changed) in sources(source, axes) {
        let resolved = files::resolve(&changed);
        let scenario = resolved.map_err(|error| plan::explain(source, axes, &values, error))?;
        let seeds = scenario.seeds.clone();
        let made = Combination::new(values, scenario, seeds).map_err(anyhow::Error::from)?;
        combinations.push(made);
    }
    Ok(Plan { combinations })
}

fn print(axes: &[Axis], rows: &[Row]) -> Result<(), Failure> {
    let classes = rows.first().map_or_else(Classes::default, |row| row.over_seeds.classes.clone());
    let columns = table::fct_header(&classes);
    let keys = axes.iter().map(|axis| axis.key.as_str());
    let header: Vec<&str> = keys.chain(columns.iter().map(String::as_str)).collect();
    let mut table = table::new(&header);
    for row in rows {
        let mut cells = row.settings.clone();
        cells.extend(table::fct_row(&row.over_seeds, &classes));
        table.add_row(cells);
    }
    table::print(&table, axes.len())
}

/// The ratios to a baseline: a row for each setting.
fn print_ratios(axes: &[Axis], baseline: &Baseline, ratios: &[Ratio]) -> Result<(), Failure> {
    output::line(format_args!(
        "ratios to {} = {}, seed by seed (geometric means, 95 % intervals):",
        baseline.key, baseline.value
    ))?;
    let keys = axes.iter().map(|axis| axis.key.as_str());
    let header: Vec<&str> = keys.chain(PRINTED_RATIOS).collect();
    let mut table = table::new(&header);
    let mut rows: Vec<&[String]> = Vec::new();
    for ratio in ratios {
        if !rows.contains(&ratio.settings.as_slice()) {
            rows.push(&ratio.settings);
        }
    }
    for row in rows {
        let cell = |figure: &str| {
            let of_row = ratios.iter().find(|r| r.settings == row && r.figure == figure);
            of_row.map_or_else(|| "-".to_owned(), ratio_cell)
        };
        table.add_row(row.iter().cloned().chain(PRINTED_RATIOS.map(cell)));
    }
    table::print(&table, axes.len())
}

/// Figures of which ratios are printed; files have more.
const PRINTED_RATIOS: [&str; 4] = ["fct_mean", "fct_p99", "slowdown_mean", "slowdown_p99"];

fn ratio_cell(ratio: &Ratio) -> String {
    match ratio.interval {
        _ if ratio.overloaded => OVERLOADED.to_owned(),
        Some((low, high)) => format!("{:.3} ({low:.3} to {high:.3})", ratio.ratio),
        None => format!("{:.3}", ratio.ratio),
    }
}
