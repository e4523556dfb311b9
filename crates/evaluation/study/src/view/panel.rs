//! One figure of a paper: a fabric and a workload, a curve over the load for each system.

use heddle_report::{Axis, Plot, Section, Series, Style, Table, Unit};

use super::plots::{self, Curve, FctMetric};
use super::tables::fct_table;
use crate::point::{Point, Results};
use crate::results::OverSeeds;
use crate::summary::RunSummary;

/// Ratios of mean FCTs that a paper states: the system, and (load in percent, its mean over that of
/// the reference).
pub type PaperRatios = &'static [(&'static str, &'static [(f64, f64)])];

/// The curves of one figure.
pub struct Panel {
    /// Anchor of its section, and the prefix of those of its plots.
    pub id: String,
    /// The headline.
    pub title: String,
    /// One curve a system, over the load in percent.
    pub curves: Vec<Curve>,
    /// The system that the others are compared with.
    pub reference: &'static str,
}

/// One curve a system, in the order of `systems`; systems without a point are left out.
pub fn curves<P: Point, S: Copy>(
    results: &Results<P>,
    systems: &[S],
    title: fn(S) -> &'static str,
    belongs: impl Fn(&P, S) -> bool,
) -> Vec<Curve> {
    let curve = |&system: &S| {
        let points = results.points().filter(|point| belongs(point, system));
        let points = points.map(|p| (f64::from(p.load()), results.runs(p).to_vec()));
        Curve { name: title(system).into(), points: points.collect() }
    };
    systems.iter().map(curve).filter(|curve| !curve.points.is_empty()).collect()
}

impl Panel {
    /// The highest load of the first curve; `None` if nothing was simulated.
    pub fn last_load(&self) -> Option<f64> {
        self.curves.first()?.points.last().map(|(load, _)| *load)
    }

    /// Table, how much faster the reference is, flow completion times by size of flow, their
    /// distribution at the last load.
    pub fn section(&self, stated: PaperRatios) -> Option<Section> {
        let last = self.last_load()?;
        let plot = |metric: FctMetric| {
            let id = format!("{}-{}", self.id, metric.id());
            plots::over_load(&id, metric.title(), metric, &self.curves)
        };
        let section =
            Section::new(self.id.clone(), self.title.clone()).block(self.table()).pairs([
                self.speedup(FctMetric::Mean, stated),
                plot(FctMetric::Mean),
                plot(FctMetric::Small),
                plot(FctMetric::Large),
                plot(FctMetric::P99),
                self.cdf_at(last),
            ]);
        Some(section)
    }

    fn table(&self) -> Table {
        let row = |curve: &Curve, (load, runs): &(f64, Vec<RunSummary>)| {
            (vec![curve.name.clone(), format!("{load:.0}")], OverSeeds::new(runs))
        };
        let rows = self.curves.iter().flat_map(|c| c.points.iter().map(move |p| row(c, p)));
        fct_table(&["system", "load (%)"], &rows.collect::<Vec<_>>(), true)
    }

    fn cdf_at(&self, load: f64) -> Plot {
        let at = |curve: &'_ Curve| curve.points.iter().position(|(x, _)| *x == load);
        let runs = self
            .curves
            .iter()
            .filter_map(|curve| Some((curve.name.as_str(), curve.points[at(curve)?].1.as_slice())));
        let title = format!("Distribution of FCT at {load:.0} %");
        plots::fct_cdf(&format!("{}-cdf", self.id), &title, &runs.collect::<Vec<_>>())
    }

    /// The first seed's run of each system at a load, where ports were sampled. The ideal fabric
    /// has no ports.
    pub fn sampled_at(&self, load: f64) -> Vec<(&str, &RunSummary)> {
        let at = |curve: &'_ Curve| curve.points.iter().position(|(x, _)| *x == load);
        self.curves
            .iter()
            .filter_map(|curve| Some((curve.name.as_str(), curve.points[at(curve)?].1.first()?)))
            .filter(|(_, run)| !run.ports.is_empty() && run.scheme != "ideal")
            .collect()
    }

    /// Speed-up of the reference over the others, with the ratios that the paper states as separate
    /// points: its curves cannot be read off its text.
    pub fn speedup(&self, metric: FctMetric, stated: PaperRatios) -> Plot {
        let x = Axis::new("Load", Unit::plain("%"));
        let y = Axis::new(format!("Mean FCT over {}'s", self.reference), Unit::plain("x"));
        let (id, flows) = match metric {
            FctMetric::Mean => (format!("{}-speedup", self.id), String::new()),
            other => {
                (format!("{}-speedup-{}", self.id, other.id()), format!(" ({})", other.title()))
            }
        };
        let best = self.reference;
        let title = format!("How much faster {best} is, here and in the paper{flows}");
        let plot = Plot::new(id, title, x, y).horizontal(1.0, format!("as {}", self.reference));
        let Some(reference) = self.curves.iter().find(|c| c.name == self.reference) else {
            return plot;
        };
        self.curves.iter().filter(|curve| is_rival(curve, reference)).fold(plot, |plot, curve| {
            let ratios = plots::ratios(metric, curve, reference);
            let plot = plot.series(Series::line(curve.name.clone(), ratios));
            markers(plot, &curve.name, stated)
        })
    }
}

/// The reference itself, and the bound that no system reaches, are not drawn.
fn is_rival(curve: &Curve, reference: &Curve) -> bool {
    let ideal = curve.points.iter().flat_map(|(_, runs)| runs).all(|run| run.scheme == "ideal");
    curve.name != reference.name && !ideal
}

fn markers(plot: Plot, name: &str, stated: PaperRatios) -> Plot {
    let stated_of_system = stated.iter().filter(|(system, _)| *system == name);
    stated_of_system.fold(plot, |plot, (_, points)| {
        let series = Series::new(format!("{name} (paper)"), Style::Markers, points.iter().copied());
        plot.series(series.coloured_as(name))
    })
}
