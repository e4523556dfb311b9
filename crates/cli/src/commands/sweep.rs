//! `heddle sweep`: every combination of some values.

use heddle_scenario::Source;
use heddle_study::cell::Cell;
use heddle_study::grid::{self, Keep};
use heddle_study::overload::{Offered, offered};
use heddle_study::remarks::{Named, remarks};
use heddle_study::results::{FLOW_COLUMNS, FLOWS, KEPT_FLOWS, write_table};
use heddle_study::store::Store;
use heddle_study::sweep::{Axis, Row, SweepResult, combinations, csv_fields, rows, to_csv};
use heddle_study::{tidy, view};

use crate::args::{Common, Sweep};
use crate::commands::run::warn_of_overload;
use crate::failure::Failure;
use crate::files::{Written, provenance};
use crate::progress::GridBar;
use crate::{files, table};

pub(crate) fn sweep(args: &Sweep, common: &Common) -> Result<(), Failure> {
    let source = files::source(&args.source)?;
    let axes: Vec<Axis> = args.over.iter().map(|(key, values)| Axis::new(key, values)).collect();
    let folder =
        args.out.clone().unwrap_or_else(|| files::default_folder("sweep-", &args.source.scenario));
    let (settings, cells) = all_cells(&source, &axes)?;
    let offered = offered_of(&settings, &cells)?;
    let overload = worst_overload(&settings, &cells, &offered);
    warn_of_overload(overload.as_deref(), common);
    let made = provenance(&source, &files::resolve(&first(&source, &axes))?)?;
    files::make_folder(&folder)?;
    let store = Store::open(&folder.join("runs")).map_err(anyhow::Error::from)?;
    let keep = if args.flows { Keep::Tables } else { Keep::Summaries };
    let runs = grid::run(&cells, &store, keep, &GridBar::new(common))?;
    let mut rows = rows(settings, runs);
    rows.iter_mut().zip(offered).for_each(|(row, offered)| row.offered = offered);
    let names: Vec<String> = rows.iter().map(|row| row.settings.join(" ")).collect();
    let named: Vec<Named<'_>> =
        names.iter().zip(&rows).map(|(name, row)| (name.as_str(), &*row.runs)).collect();
    let later = remarks(&named);
    let remarks: Vec<String> = overload.into_iter().chain(later.iter().cloned()).collect();
    let result = SweepResult { provenance: &made, axes: &axes, remarks: &remarks, rows: &rows };
    let mut written = Written::new(&folder);
    written.text("sweep.csv", &to_csv(&axes, &rows))?;
    written.text("tidy.csv", &tidy::to_csv(&axes, &rows))?;
    written.json("sweep.json", &result)?;
    if args.flows {
        let keys: Vec<String> = axes.iter().map(|axis| axis.key.clone()).collect();
        let columns = format!("{}{FLOW_COLUMNS}", csv_fields(&keys));
        let cells: Vec<(String, &Cell)> = rows
            .iter()
            .flat_map(|row| row.runs.iter().map(|_| csv_fields(&row.settings)))
            .zip(&cells)
            .collect();
        let table = write_table(&folder.join(FLOWS), (&store, KEPT_FLOWS), &columns, &cells);
        written.table(FLOWS, table.map_err(anyhow::Error::from)?);
    } else {
        // Those of an earlier sweep are not of this one.
        heddle_study::results::remove(&folder.join(FLOWS)).map_err(anyhow::Error::from)?;
    }
    written.parquet(args.parquet, &made)?;
    written.report(&view::with_origin(view::of_sweep(&axes, &rows), &made, &remarks))?;
    if common.json {
        return files::print_json(&result);
    }
    print(&axes, &rows)?;
    table::print_remarks(&later)?;
    written.tell(common);
    Ok(())
}

/// The load of each row.
pub(crate) fn offered_of(
    settings: &[(Vec<String>, usize)],
    cells: &[Cell],
) -> Result<Vec<Option<Offered>>, Failure> {
    let mut cell = 0;
    let mut all = Vec::new();
    for (_, seeds) in settings {
        all.push(offered(&cells[cell].scenario).map_err(anyhow::Error::from)?);
        cell += seeds;
    }
    Ok(all)
}

/// A warning of overload, of the row whose links are offered most; `None` where no row overloads a link.
pub(crate) fn worst_overload(
    settings: &[(Vec<String>, usize)],
    cells: &[Cell],
    offered: &[Option<Offered>],
) -> Option<String> {
    let overloaded = |row: &usize| offered[*row].as_ref().is_some_and(|o| !o.overloaded.is_empty());
    let busiest = |row: &usize| offered[*row].as_ref().map_or(0.0, |o| o.busiest);
    let rows = || (0..offered.len()).rev().filter(overloaded);
    let row = rows().max_by(|a, b| busiest(a).total_cmp(&busiest(b)))?;
    let first = settings[..row].iter().map(|(_, seeds)| seeds).sum::<usize>();
    let said = offered[row].as_ref()?.warning(&cells[first].scenario.scheme)?;
    Some(format!(
        "{} of {} combinations overload links; the worst is {}: {said}",
        rows().count(),
        offered.len(),
        settings[row].0.join(" ")
    ))
}

/// The first combination: the file alone may lack what the axes give.
fn first(source: &Source, axes: &[Axis]) -> Source {
    let mut source = source.clone();
    let first =
        axes.iter().filter_map(|axis| Some((axis.key.clone(), axis.values.first()?.clone())));
    source.overrides.extend(first);
    source
}

/// The settings of each row and how many seeds it has, and every cell.
pub(crate) type Plan = (Vec<(Vec<String>, usize)>, Vec<Cell>);

pub(crate) fn all_cells(source: &Source, axes: &[Axis]) -> Result<Plan, Failure> {
    let (mut settings, mut cells) = (Vec::new(), Vec::new());
    for values in combinations(axes) {
        let mut changed = source.clone();
        let pairs = axes.iter().map(|axis| axis.key.clone()).zip(values.iter().cloned());
        changed.overrides.extend(pairs);
        let scenario = files::resolve(&changed)?;
        let label = values.join(" ");
        cells.extend(scenario.seeds.iter().map(|&seed| Cell {
            label: format!("{label} seed {seed}"),
            scenario: scenario.clone(),
            seed,
        }));
        settings.push((values, scenario.seeds.len()));
    }
    Ok((settings, cells))
}

fn print(axes: &[Axis], rows: &[Row]) -> Result<(), Failure> {
    let mut header: Vec<&str> = axes.iter().map(|axis| axis.key.as_str()).collect();
    header.extend(table::FCT_HEADER);
    let mut table = table::new(&header);
    for row in rows {
        let mut cells = row.settings.clone();
        cells.extend(table::fct_row(&row.over_seeds));
        table.add_row(cells);
    }
    table::print(&table, axes.len())
}
