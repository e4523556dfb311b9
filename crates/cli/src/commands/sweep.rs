//! `heddle sweep`: every combination of some values.

use std::path::Path;

use heddle_scenario::Source;
use heddle_study::cell::Cell;
use heddle_study::sweep::{Axis, Row, combinations, rows, to_csv};
use heddle_study::view;

use crate::args::{Common, Sweep};
use crate::failure::Failure;
use crate::{files, kept, output, table};

pub(crate) fn sweep(args: &Sweep, common: &Common) -> Result<(), Failure> {
    let source = files::source(&args.source)?;
    let axes: Vec<Axis> = args.over.iter().map(|(key, values)| Axis::new(key, values)).collect();
    let folder =
        args.out.clone().unwrap_or_else(|| files::default_folder("sweep-", &args.source.scenario));
    let (settings, cells) = all_cells(&source, &axes)?;
    files::make_folder(&folder)?;
    let rows = rows(settings, kept::simulate(&folder, &cells, common)?);
    write(&folder, &axes, &rows)?;
    if common.json {
        return files::print_json(&rows);
    }
    print(&axes, &rows)?;
    if !common.quiet {
        eprintln!("wrote {}, sweep.csv, sweep.json", folder.join("report.html").display());
    }
    Ok(())
}

/// The settings of each row and how many seeds it has, and every cell.
type Plan = (Vec<(Vec<String>, usize)>, Vec<Cell>);

fn all_cells(source: &Source, axes: &[Axis]) -> Result<Plan, Failure> {
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

fn write(folder: &Path, axes: &[Axis], rows: &[Row]) -> Result<(), Failure> {
    files::write(&folder.join("sweep.csv"), &to_csv(axes, rows))?;
    let json = serde_json::to_string_pretty(rows).map_err(anyhow::Error::from)?;
    files::write(&folder.join("sweep.json"), &json)?;
    files::write_report(folder, &view::of_sweep(axes, rows))
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
    output::line(table)
}
