//! Ratios to a baseline, seed by seed.
//!
//! Runs of one seed have the same flows, so that what a seed has in common cancels out: the
//! interval of the ratios, by the bootstrap over seeds ([`mod@interval`]), is narrower than those of
//! both means. Ratios are averaged as logarithms (their geometric mean), so that a ratio and its
//! inverse have inverse averages.

use std::fmt::Write as _;

use heddle_claims::interval::{self, Mean};
use heddle_claims::stats::mean;
use serde::Serialize;

use crate::metric::{self, Metric};
use crate::provenance::Provenance;
use crate::summary::RunSummary;
use crate::sweep::{Axis, Row, quoted};

/// The combinations with which the others are compared: those with one value of one key.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Baseline {
    /// The key, one of the sweep's axes.
    pub key: String,
    /// The value.
    pub value: String,
}

/// A baseline that a sweep has not.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BaselineError {
    /// No axis has the key.
    #[error("{0} is not swept; keys that are: {1}")]
    Key(String, String),
    /// The axis has other values.
    #[error("{0} does not take the value {1}; its values are {2}")]
    Value(String, String, String),
}

impl Baseline {
    /// The baseline of a sweep.
    ///
    /// # Errors
    /// [`BaselineError`].
    pub fn new(axes: &[Axis], key: &str, value: &str) -> Result<Baseline, BaselineError> {
        let Some(axis) = axes.iter().find(|axis| axis.key == key) else {
            let keys: Vec<&str> = axes.iter().map(|axis| axis.key.as_str()).collect();
            return Err(BaselineError::Key(key.to_owned(), keys.join(", ")));
        };
        if !axis.values.iter().any(|known| known == value) {
            let (key, value) = (key.to_owned(), value.to_owned());
            return Err(BaselineError::Value(key, value, axis.values.join(", ")));
        }
        Ok(Baseline { key: key.to_owned(), value: value.to_owned() })
    }
}

/// The ratio of a figure of a row to the same of its baseline.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Ratio {
    /// The settings of the row.
    pub settings: Vec<String>,
    /// The figure, as in `fct_mean`, `fct_p99_small`.
    pub figure: String,
    /// Geometric mean of the seeds' ratios: below 1, the row has less.
    pub ratio: f64,
    /// Ends of the 95 % confidence interval ([`interval::interval`]); absent with a single seed.
    pub interval: Option<(f64, f64)>,
    /// Seeds that both have.
    pub seeds: usize,
    /// True if either row is in no steady state: the ratio depends on the length of the run, and is
    /// not shown in front.
    pub overloaded: bool,
}

/// Results of a sweep.
#[derive(Debug, Serialize)]
pub struct SweepResult<'a> {
    /// Its origin; the scenario is that of the file, before a combination's values.
    #[serde(flatten)]
    pub provenance: &'a Provenance,
    /// The keys and their values.
    pub axes: &'a [Axis],
    /// Warnings that a reader needs before rows are compared.
    pub remarks: &'a [String],
    /// A row for each combination.
    pub rows: &'a [Row],
    /// The baseline of the comparison, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub baseline: Option<&'a Baseline>,
    /// The ratios to it.
    #[serde(skip_serializing_if = "<[Ratio]>::is_empty")]
    pub ratios: &'a [Ratio],
}

/// A figure of a run by its name.
type Figure<'a> = (String, Box<dyn Fn(&RunSummary) -> Option<f64> + 'a>);

/// The figures that are compared: those of all flows, and of each class of sizes.
fn figures(rows: &[Row]) -> Vec<Figure<'_>> {
    let all: [(&str, Metric); 6] = [
        ("fct_mean", metric::mean_all),
        ("fct_p50", metric::p50_all),
        ("fct_p99", metric::p99_all),
        ("slowdown_mean", metric::slowdown_mean),
        ("slowdown_p99", metric::slowdown_p99),
        ("goodput_bps", metric::goodput),
    ];
    let mut figures: Vec<Figure<'_>> = Vec::new();
    figures.extend(all.map(|(name, metric)| (name.to_owned(), Box::new(metric) as Box<_>)));
    for class in rows.first().map_or(&[][..], |row| &row.over_seeds.classes.0) {
        let mean = |run: &RunSummary| Some(run.fct.class(&class.name)?.seconds.mean);
        let p99 = |run: &RunSummary| Some(run.fct.class(&class.name)?.seconds.p99);
        figures.push((format!("fct_mean_{}", class.name), Box::new(mean)));
        figures.push((format!("fct_p99_{}", class.name), Box::new(p99)));
    }
    figures
}

/// The ratios of every row to the row that has the baseline's value and otherwise the same ones;
/// figures that are 0 or missing are left out.
pub fn ratios(axes: &[Axis], rows: &[Row], baseline: &Baseline) -> Vec<Ratio> {
    let Some(axis) = axes.iter().position(|axis| axis.key == baseline.key) else {
        return Vec::new();
    };
    let figures = figures(rows);
    let mut ratios = Vec::new();
    for row in rows.iter().filter(|row| row.settings[axis] != baseline.value) {
        let mut of_base = row.settings.clone();
        of_base[axis].clone_from(&baseline.value);
        let Some(base) = rows.iter().find(|other| other.settings == of_base) else { continue };
        ratios.extend(figures.iter().filter_map(|figure| ratio(row, base, figure)));
    }
    ratios
}

fn ratio(row: &Row, base: &Row, (name, figure): &Figure<'_>) -> Option<Ratio> {
    let of_seed = |run: &RunSummary| {
        let other = base.runs.iter().find(|other| other.seed == run.seed)?;
        let quotient = figure(run)? / figure(other)?;
        (quotient > 0.0 && quotient.is_finite()).then_some(quotient)
    };
    let quotients: Vec<f64> = row.runs.iter().filter_map(of_seed).collect();
    let logs: Vec<f64> = quotients.iter().map(|&quotient| libm::log(quotient)).collect();
    Some(Ratio {
        settings: row.settings.clone(),
        figure: name.clone(),
        ratio: libm::exp(mean(&logs)?),
        interval: interval::interval(&quotients, Mean::Geometric),
        seeds: quotients.len(),
        overloaded: [row, base].iter().any(|row| row.over_seeds.steadiness.is_overloaded()),
    })
}

/// The ratios as CSV: the axes, then `figure,ratio,low,high,seeds,overloaded`.
pub fn to_csv(axes: &[Axis], ratios: &[Ratio]) -> String {
    let keys: Vec<String> = axes.iter().map(|axis| quoted(&axis.key)).collect();
    let mut csv = format!("{},figure,ratio,low,high,seeds,overloaded\n", keys.join(","));
    for Ratio { settings, figure, ratio, interval, seeds, overloaded } in ratios {
        let settings: Vec<String> = settings.iter().map(|value| quoted(value)).collect();
        let ends =
            interval.map_or_else(|| ",".to_owned(), |(low, high)| format!("{low:.6},{high:.6}"));
        let _ =
            writeln!(csv, "{},{figure},{ratio:.6},{ends},{seeds},{overloaded}", settings.join(","));
    }
    csv
}

#[cfg(test)]
mod tests {
    use heddle_scenario::Variant;

    use super::*;
    use crate::sweep::{axes, rows};
    use crate::testing::{cell, run};

    /// Runs of some seeds whose mean completion times are these.
    fn runs(means: &[(u64, f64)]) -> Vec<RunSummary> {
        let run_of = |&(seed, mean): &(u64, f64)| {
            let mut run = run(&cell(seed, &[]));
            run.fct.all.as_mut().unwrap().seconds.mean = mean;
            run
        };
        means.iter().map(run_of).collect()
    }

    fn sweep() -> (Vec<Axis>, Vec<Row>) {
        let axes = vec![Axis::new("scheme", "ecmp,hula"), Axis::new("workload.load", "0.4")];
        let ecmp = [(1, 1.0), (2, 10.0), (3, 100.0)];
        let hula = [(3, 25.0), (1, 0.5), (2, 10.0)];
        let all = [runs(&ecmp), runs(&hula)].concat();
        let settings =
            ["ecmp", "hula"].map(|scheme| (vec![scheme.to_owned(), "0.4".to_owned()], 3));
        (axes, rows(settings.to_vec(), all))
    }

    #[test]
    fn a_baseline_may_be_a_variant() {
        let named = ["reps=scheme=ecmp,entropy=reps", "hula=scheme=hula"];
        let named = named.map(|text| Variant::parse(text).unwrap()).to_vec();
        let axes = axes(Vec::new(), named).unwrap();
        let baseline = Baseline::new(&axes, "variant", "reps").unwrap();
        let settings = ["hula", "reps"].map(|name| (vec![name.to_owned()], 1)).to_vec();
        let rows = rows(settings, [runs(&[(1, 3.0)]), runs(&[(1, 4.0)])].concat());
        let ratios = ratios(&axes, &rows, &baseline);
        assert_eq!((&*ratios[0].figure, ratios[0].settings.join("")), ("fct_mean", "hula".into()));
        assert!((ratios[0].ratio - 0.75).abs() < 1e-12);
        let error = Baseline::new(&axes, "variant", "ecmp").unwrap_err().to_string();
        assert_eq!(error, "variant does not take the value ecmp; its values are reps, hula");
    }

    /// Ratios 1/2, 1 and 1/4 by seed, whatever the order: 1/2 on average.
    #[test]
    fn ratios_are_of_seeds_and_their_mean_is_geometric() {
        let (axes, rows) = sweep();
        let baseline = Baseline::new(&axes, "scheme", "ecmp").unwrap();
        let ratios = ratios(&axes, &rows, &baseline);
        let mean = ratios.iter().find(|ratio| ratio.figure == "fct_mean").unwrap();
        assert_eq!((mean.settings[0].as_str(), mean.seeds), ("hula", 3));
        assert!((mean.ratio - 0.5).abs() < 1e-12);
        assert_eq!(mean.interval, interval::interval(&[0.25, 0.5, 1.0], Mean::Geometric));
        let csv = to_csv(&axes, &ratios);
        assert!(csv.starts_with(
            "scheme,workload.load,figure,ratio,low,high,seeds,overloaded\nhula,0.4,fct_mean,0.5"
        ));
    }

    #[test]
    fn a_baseline_that_is_not_swept_is_refused() {
        let (axes, _) = sweep();
        let error = |key, value| Baseline::new(&axes, key, value).unwrap_err().to_string();
        assert_eq!(error("seeds", "1"), "seeds is not swept; keys that are: scheme, workload.load");
        assert_eq!(
            error("scheme", "conga"),
            "scheme does not take the value conga; its values are ecmp, hula"
        );
    }
}
