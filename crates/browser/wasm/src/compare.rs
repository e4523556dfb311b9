//! Two runs side by side.

use heddle_report::Colours;
use heddle_study::summary::RunSummary;
use heddle_study::view::plots::fct_cdf;

/// The distributions of flow completion times of some runs, each under its scheme's name, as SVG:
/// the report's plot.
pub fn distributions(runs: &[RunSummary]) -> String {
    let named: Vec<(&str, &[RunSummary])> =
        runs.iter().map(|run| (run.scheme.as_str(), std::slice::from_ref(run))).collect();
    let colours = Colours::of(named.iter().map(|(name, _)| *name));
    fct_cdf("fct-cdf", "Distribution of flow completion times", &named).to_svg_with(&colours)
}
