//! Ultra Ethernet's hosts beside the public uet-htsim: the same pairs of hosts on a fat-tree of 128
//! (k = 8, 100 Gbps, 1 us), under each path selection, with healthy, slow and dead links, with a
//! window, credit or both. Claims U1 to U14 have a place each: its mean and worst completion times
//! over ideal ones, within a tenth.

mod alone;
mod cells;
mod claims;
mod experiment;
mod measured;
mod reference;

use heddle_claims::stats::mean;
use heddle_claims::{Claim, Effort, Monitor, Paper, Request};
use heddle_report::{Report, Section, Table};
use heddle_scenario::Source;
use heddle_study::gather;
use heddle_study::headline::{Headline, Variant};
use heddle_study::paper::{EvaluationError, Evidence, Measure, SimulatedPaper};
use heddle_study::point::Point;
use heddle_study::view;
use serde_json::json;

pub use cells::{Cell, Place, Selection};
pub use measured::{Measured, Ratios};

/// The comparison, in the form of a paper.
#[derive(Clone, Copy, Debug)]
pub struct Uet;

impl Paper for Uet {
    type Measure = Measure<Uet>;
    type Error = EvaluationError;

    const SYSTEM: &'static str = "UET";
    const CLAIMS: &'static [Claim<Measure<Uet>>] = claims::CLAIMS;
    const RULE: &'static str = "A value is Heddle's completion time over the ideal one, over uet-htsim's with the same pairs of hosts; a flow is complete with its last acknowledgement, and ideal is the time of the flow alone, in each program its own. It has the seeds' median and range, and **agrees** if the whole range is from 0.9 to 1.1; **undecided** if some of it is. Figures of uet-htsim are recorded, or those of the program that `HTSIM` names.";

    fn gather(
        request: &Request<'_, Uet>,
        monitor: &dyn Monitor,
    ) -> Result<Evidence<Uet>, EvaluationError> {
        gather::gather(request, monitor)
    }

    fn measured(evidence: &Evidence<Uet>) -> Option<String> {
        let row = |(Cell { place, selection }, of): &(Cell, Measured)| json!({ "claim": place.id, "place": place.title, "selection": selection.name, "seed": of.seed, "heddle": of.heddle, "htsim": of.htsim });
        let rows: Vec<_> = evidence.experiments.iter().map(row).collect();
        Some(format!("{:#}", json!(rows)))
    }

    fn head(title: &str, evidence: &Evidence<Uet>) -> Report {
        view::head(title, evidence.results.all_runs())
    }

    fn figures(evidence: &Evidence<Uet>) -> Vec<Section> {
        vec![section(evidence)]
    }
}

impl SimulatedPaper for Uet {
    type Point = Whole;
    type Experiment = Cell;

    const HEADLINES: &'static [Headline<Whole>] = &[];
    const VARIANTS: &'static [Variant] = &[];

    fn curves(_: Effort) -> Vec<Whole> {
        Vec::new()
    }

    fn whole_fabric() -> Whole {
        Whole
    }
}

/// The fabric, which has no points: each seed has pairs of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Whole;

impl Whole {
    const CELL: Cell = Cell { place: &cells::PLACES[0], selection: &cells::SELECTIONS[0] };
}

impl Point for Whole {
    fn label(&self) -> String {
        Whole::CELL.place.title.to_owned()
    }

    fn load(&self) -> u8 {
        100
    }

    fn takes(&self, _: &str) -> bool {
        false
    }

    fn source(&self, _: Effort) -> Source {
        Whole::CELL.source()
    }

    fn file(_: &str) -> std::io::Result<String> {
        Ok(Whole::CELL.flows(1))
    }
}

/// The values behind the claims, as means of the seeds.
fn section(evidence: &Evidence<Uet>) -> Section {
    let columns = ["", "selection", "Heddle: mean", "worst", "uet-htsim: mean", "worst"];
    let mut cells: Vec<Cell> = evidence.experiments.iter().map(|(cell, _)| *cell).collect();
    cells.dedup();
    let row = |table: Table, cell: Cell| {
        let over_seeds = |value: fn(&Measured) -> f64| {
            let values: Vec<f64> = evidence.outcomes(cell).map(value).collect();
            format!("{:.3}", mean(&values).unwrap_or(f64::NAN))
        };
        let heddle = [over_seeds(|m| m.heddle.mean), over_seeds(|m| m.heddle.worst)];
        let htsim = [over_seeds(|m| m.htsim.mean), over_seeds(|m| m.htsim.worst)];
        let names = [cell.place.title, cell.selection.name].map(str::to_owned);
        table.row([names, heddle, htsim].concat())
    };
    let table = cells.into_iter().fold(Table::new(columns), row);
    Section::new("completion", "Completion times over ideal ones").block(table)
}
