//! Results of a study: a row for each point, a column for each metric.

use serde::Serialize;

use super::{Point, Study};
use heddle_claims::stats::Estimate;
use heddle_study::metric::Metric;
use heddle_study::point::{Point as _, Results};
use heddle_study::sensitivity::by_key;
use heddle_study::steady::Steadiness;
use heddle_study::summary::RunSummary;
use heddle_study::sweep::csv_fields;

/// One figure of each point.
#[derive(Debug)]
pub struct Column {
    /// Its key in JSON.
    pub key: &'static str,
    /// Its name in tables.
    pub title: &'static str,
    metric: Metric,
    scale: f64,
    unit: &'static str,
    digits: usize,
}

impl Column {
    /// A time in seconds, shown in milliseconds.
    pub(super) const fn millis(key: &'static str, title: &'static str, metric: Metric) -> Column {
        Column { key, title, metric, scale: 1e3, unit: " ms", digits: 2 }
    }

    pub(super) const fn percent(key: &'static str, title: &'static str, metric: Metric) -> Column {
        Column { key, title, metric, scale: 1.0, unit: " %", digits: 2 }
    }

    pub(super) const fn plain(key: &'static str, title: &'static str, metric: Metric) -> Column {
        Column { key, title, metric, scale: 1.0, unit: "", digits: 2 }
    }

    pub(super) const fn count(key: &'static str, title: &'static str, metric: Metric) -> Column {
        Column { key, title, metric, scale: 1.0, unit: "", digits: 0 }
    }

    /// A figure as people read it, with half the width of its confidence interval.
    pub fn text(&self, figure: Option<Estimate>) -> String {
        let Some(Estimate { mean, half_width, .. }) = figure else { return "-".into() };
        let (mean, unit, digits) = (mean * self.scale, self.unit, self.digits);
        match half_width {
            Some(half) => format!("{mean:.digits$} ± {:.digits$}{unit}", half * self.scale),
            None => format!("{mean:.digits$}{unit}"),
        }
    }
}

/// One point.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// The setting.
    pub setting: String,
    /// Load in percent.
    pub load: u8,
    /// Key of each column and what was found; times are in seconds.
    #[serde(flatten, serialize_with = "by_key")]
    pub figures: Vec<(&'static str, Option<Estimate>)>,
    /// The steady state of their runs, as measured.
    pub steadiness: Steadiness,
}

/// One study.
#[derive(Clone, Debug, Serialize)]
pub struct Table {
    /// Its name.
    pub study: &'static str,
    /// The points, in order.
    pub rows: Vec<Row>,
}

impl Table {
    /// Sums up the points of a study.
    pub fn new(study: Study, results: &Results<Point>) -> Table {
        let row = |point: Point| {
            let runs = results.runs(point);
            let figure = |column: &Column| {
                let figures: Vec<f64> = runs.iter().filter_map(column.metric).collect();
                (column.key, Estimate::of(&figures))
            };
            let figures = study.columns().iter().map(figure).collect();
            let steadiness = Steadiness::of(runs);
            Row { setting: point.setting(), load: point.load(), figures, steadiness }
        };
        let points = results.points().filter(|point| point.study() == study);
        Table { study: study.name(), rows: points.map(row).collect() }
    }

    /// Each run of a study as CSV: the point, the seed, the columns' figures (times in seconds; empty where a run has
    /// none) and the digest of its events.
    pub fn runs_as_csv(study: Study, results: &Results<Point>) -> String {
        let keys: Vec<&str> = study.columns().iter().map(|column| column.key).collect();
        let header = format!("setting,load_percent,seed,{},digest\n", keys.join(","));
        let points = results.points().filter(|point| point.study() == study);
        let row = |point: Point, run: &RunSummary| {
            let figure = |column: &Column| (column.metric)(run).map(|it| it.to_string());
            let figures = study.columns().iter().map(|column| figure(column).unwrap_or_default());
            let named = [point.setting(), point.load().to_string(), run.seed.to_string()];
            let fields: Vec<String> = named.into_iter().chain(figures).collect();
            format!("{}{}\n", csv_fields(&fields), run.digest)
        };
        let rows = points.flat_map(|point| {
            results.runs(point).iter().map(move |run| row(point, run)).collect::<Vec<String>>()
        });
        header + &rows.collect::<String>()
    }

    /// The header of [`Table::text`].
    pub fn header(study: Study) -> Vec<&'static str> {
        let titles = study.columns().iter().map(|c| c.title);
        ["setting", "load"].into_iter().chain(titles).chain(["state"]).collect()
    }

    /// The rows as people read them.
    pub fn text(&self, study: Study) -> Vec<Vec<String>> {
        let row = |row: &Row| {
            let figures = study.columns().iter().zip(&row.figures);
            let figures = figures.map(|(column, (_, figure))| column.text(*figure));
            let named = [row.setting.clone(), format!("{} %", row.load)];
            let state = row.steadiness.text().to_owned();
            named.into_iter().chain(figures).chain([state]).collect()
        };
        self.rows.iter().map(row).collect()
    }
}

/// A study as Markdown: headline, what was simulated, table.
pub fn markdown(study: Study, results: &Results<Point>) -> String {
    let header = Table::header(study);
    let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
    let rule = vec!["---".to_owned(); header.len()];
    let header: Vec<String> = header.into_iter().map(str::to_owned).collect();
    let rows: String = Table::new(study, results).text(study).iter().map(|row| line(row)).collect();
    let (title, about) = (study.title(), study.about());
    format!("## {title}\n\n{about}\n\n{}{}{rows}", line(&header), line(&rule))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_runs_of_a_study_have_its_columns() {
        let csv = Table::runs_as_csv(Study::Rivals, &Results::default());
        assert!(csv.starts_with("setting,load_percent,seed,fct_mean,"), "{csv}");
        assert!(csv.ends_with(",digest\n"), "{csv}");
    }
}
