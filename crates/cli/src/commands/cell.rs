//! `heddle cell`: single runs of a sweep, as jobs of a cluster.

use heddle_study::cell::Cell as Run;

use crate::args::{Cell, Common};
use crate::commands::sweep::Work;
use crate::failure::Failure;
use crate::{files, output};

pub(crate) fn cell(args: &Cell, common: &Common) -> Result<(), Failure> {
    let work = Work::new(&args.grid)?;
    let known = work.keyed_cells();
    let cells = args.key.iter().map(|key| find(&known, key)).collect::<Result<Vec<Run>, _>>()?;
    let (_, runs) = work.run(&cells, common)?;
    if common.json {
        return files::print_json(&runs);
    }
    for ((key, cell), run) in args.key.iter().zip(&cells).zip(&runs) {
        output::line(format_args!("{key}\t{}\tdigest {}", cell.label, run.digest))?;
    }
    Ok(())
}

fn find(known: &[(String, Run)], key: &str) -> Result<Run, Failure> {
    let cell = known.iter().find(|(of, _)| of == key).map(|(_, cell)| cell.clone());
    cell.ok_or_else(|| {
        let message = format!("no run of this sweep has the key {key}");
        let fix = "`heddle sweep --list` with the same scenario, `--set` and `--over` prints the keys, which also change with the engine";
        anyhow::anyhow!("{message}\nhelp: {fix}").into()
    })
}
