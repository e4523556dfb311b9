//! Two results compared: what made them, and every figure over the seeds.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Value;

/// Two results side by side. What is the same in both is left out.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Comparison {
    /// Keys of what made the results, and of their scenarios: key, before, after.
    pub origin: Vec<(String, String, String)>,
    /// Rows that one result has and the other has not.
    pub unmatched: Vec<String>,
    /// Figures that differ, row by row.
    pub figures: Vec<Figure>,
}

/// A figure that differs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Figure {
    /// The settings of its row; empty for a result of `heddle run`.
    pub row: String,
    /// Its name, as in `fct_mean`.
    pub name: String,
    /// Its mean over the seeds, in the unit of the files.
    pub before: f64,
    /// The same of the second result.
    pub after: f64,
    /// The change in percent of `before`; `None` of 0.
    pub change_percent: Option<f64>,
    /// True if the confidence intervals of both do not meet; false where one has none.
    pub is_beyond_noise: bool,
}

/// Keys of what made a result that say where and when rather than what.
const ORIGIN: [&str; 4] = ["heddle", "engine", "program", "command"];

/// Compares two files of results, `summary.json` or `sweep.json`.
pub fn compare(before: &Value, after: &Value) -> Comparison {
    let mut comparison = Comparison::default();
    for key in ORIGIN {
        comparison.note(key, Some(&before[key]), Some(&after[key]));
    }
    let (old, new) = (flat(&before["scenario"]), flat(&after["scenario"]));
    let mut keys: Vec<&String> = old.keys().chain(new.keys()).collect();
    keys.sort_unstable();
    keys.dedup();
    for key in keys {
        comparison.note(&format!("scenario.{key}"), old.get(key), new.get(key));
    }
    let (old, new) = (rows(before), rows(after));
    for (name, row) in &old {
        match new.get(name) {
            Some(other) => comparison.add_figures(name, row, other),
            None => comparison.unmatched.push(name.clone()),
        }
    }
    comparison.unmatched.extend(new.keys().filter(|name| !old.contains_key(*name)).cloned());
    comparison
}

impl Comparison {
    fn note(&mut self, key: &str, before: Option<&Value>, after: Option<&Value>) {
        if before != after {
            let text = |value: Option<&Value>| match value {
                None | Some(Value::Null) => "-".to_owned(),
                Some(Value::String(text)) => text.clone(),
                Some(value) => value.to_string(),
            };
            self.origin.push((key.to_owned(), text(before), text(after)));
        }
    }

    fn add_figures(&mut self, row: &str, before: &Value, after: &Value) {
        let (before, after) = (figures(before), figures(after));
        for (name, (old, ends)) in &before {
            let Some((new, other_ends)) = after.get(name) else { continue };
            if old == new {
                continue;
            }
            let both = ends.zip(*other_ends);
            self.figures.push(Figure {
                row: row.to_owned(),
                name: name.clone(),
                before: *old,
                after: *new,
                change_percent: (*old != 0.0).then(|| 100.0 * (new - old) / old),
                is_beyond_noise: both.is_some_and(|(a, b)| a.1 < b.0 || b.1 < a.0),
            });
        }
    }
}

/// The figures over the seeds of each row, by the row's settings.
fn rows(result: &Value) -> BTreeMap<String, &Value> {
    let settings = |row: &Value| {
        let values = row["settings"].as_array().map_or(&[][..], Vec::as_slice);
        values.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" ")
    };
    match result["rows"].as_array() {
        Some(rows) => rows.iter().map(|row| (settings(row), &row["over_seeds"])).collect(),
        None => BTreeMap::from([(String::new(), &result["over_seeds"])]),
    }
}

/// Mean of each figure, and ends of its interval; counts have none. Results of earlier versions have
/// half widths alone.
fn figures(over_seeds: &Value) -> BTreeMap<String, (f64, Option<(f64, f64)>)> {
    let mut found = BTreeMap::new();
    for (name, value) in over_seeds.as_object().into_iter().flatten() {
        if let Some(mean) = value["mean"].as_f64() {
            let ends = value["interval"][0].as_f64().zip(value["interval"][1].as_f64());
            let half = value["half_width"].as_f64();
            let ends = ends.or_else(|| half.map(|half| (mean - half, mean + half)));
            found.insert(name.clone(), (mean, ends));
        }
        for (count, value) in value.as_object().into_iter().flatten().filter(|_| name == "flows") {
            found.extend(value.as_f64().map(|value| (format!("flows_{count}"), (value, None))));
        }
    }
    found
}

/// Values by their dotted keys.
fn flat(value: &Value) -> BTreeMap<String, Value> {
    let mut found = BTreeMap::new();
    for (key, value) in value.as_object().into_iter().flatten() {
        if value.is_object() {
            found.extend(flat(value).into_iter().map(|(inner, v)| (format!("{key}.{inner}"), v)));
        } else {
            found.insert(key.clone(), value.clone());
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_result_is_equal_to_itself() {
        let result = json!({ "engine": "1", "over_seeds": { "fct_mean": { "mean": 1.0 } } });
        assert_eq!(compare(&result, &result), Comparison::default());
    }

    #[test]
    fn figures_keys_and_rows_that_differ_are_named() {
        let result = |engine: &str, load: f64, mean: f64, last: &str| {
            let over = json!({ "fct_mean": { "mean": mean, "half_width": 0.1 }, "flows": { "unfinished": 2 } });
            let none = json!({ "fct_mean": null });
            json!({
                "engine": engine,
                "scenario": { "workload": { "load": load } },
                "rows": [
                    { "settings": ["ecmp", "0.5"], "over_seeds": over },
                    { "settings": [last], "over_seeds": none },
                ],
            })
        };
        let found = compare(&result("a", 0.5, 2.0, "x"), &result("b", 0.6, 3.0, "y"));
        let text = |key: &str, a: &str, b: &str| (key.to_owned(), a.to_owned(), b.to_owned());
        assert_eq!(
            found.origin,
            [text("engine", "a", "b"), text("scenario.workload.load", "0.5", "0.6")]
        );
        assert_eq!(found.unmatched, ["x", "y"]);
        let [figure] = &found.figures[..] else { panic!("{found:?}") };
        assert_eq!((figure.row.as_str(), figure.name.as_str()), ("ecmp 0.5", "fct_mean"));
        assert_eq!((figure.change_percent, figure.is_beyond_noise), (Some(50.0), true));
    }
}
