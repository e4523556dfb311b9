//! A sweep before it runs: its combinations, the load that each offers, its runs.

use heddle_fabric::FabricError;
use heddle_scenario::{Scenario, ScenarioError, Source, within_table};

use crate::cell::Cell;
use crate::overload::{Offered, offered};
use crate::results::OverSeeds;
use crate::summary::RunSummary;
use crate::sweep::{Axis, Row, combinations, rows};

/// The sources of a sweep's combinations, each with its values, in order.
pub fn sources(source: &Source, axes: &[Axis]) -> Vec<(Vec<String>, Source)> {
    let changed = |values: Vec<String>| {
        let mut changed = source.clone();
        changed.overrides.extend(settings(axes, &values));
        (values, changed)
    };
    combinations(axes).into_iter().map(changed).collect()
}

/// The overrides that a combination's values stand for: a table before its keys, which it would
/// replace.
pub fn settings(axes: &[Axis], values: &[String]) -> Vec<(String, String)> {
    let each = axes.iter().zip(values).flat_map(|(axis, value)| axis.settings(value));
    let mut settings: Vec<(String, String)> = each.collect();
    settings.sort_by_key(|(key, _)| key.split('.').count());
    settings
}

/// A setting of the source that a combination replaces with the table around it, and the key of
/// that table.
pub fn replaced(source: &Source, axes: &[Axis]) -> Option<(String, String)> {
    let settings =
        |axis: &Axis| axis.values.iter().flat_map(|v| axis.settings(v)).collect::<Vec<_>>();
    axes.iter().flat_map(settings).find_map(|(table, _)| {
        let lost = source.overrides.iter().find(|(key, _)| is_below(key, &table));
        lost.map(|(key, _)| (key.clone(), table))
    })
}

/// True for a key inside of a table.
fn is_below(key: &str, table: &str) -> bool {
    key.strip_prefix(table).is_some_and(|rest| rest.starts_with('.'))
}

/// The error of a combination of a file that cannot be: it names its variant, if it has one.
pub fn explain(
    source: &Source,
    axes: &[Axis],
    values: &[String],
    error: ScenarioError,
) -> ScenarioError {
    match axes.iter().zip(values).find_map(|(axis, value)| axis.variant(value)) {
        Some(variant) => within_table(error, source, variant),
        None if axes.iter().any(|axis| is_of(&error, axis)) => error.with_override_source("--over"),
        None => error,
    }
}

/// True if the error is one of an axis' key, or below it.
fn is_of(error: &ScenarioError, axis: &Axis) -> bool {
    error.key() == axis.key || is_below(error.key(), &axis.key)
}

/// One combination.
#[derive(Clone, Debug)]
pub struct Combination {
    /// The value of each axis.
    pub settings: Vec<String>,
    /// Its scenario.
    pub scenario: Scenario,
    /// Its seeds.
    pub seeds: Vec<u64>,
    /// The load that is offered to links, where the workload has one.
    pub offered: Option<Offered>,
}

impl Combination {
    /// A combination with some seeds.
    ///
    /// # Errors
    /// If the graph makes no fabric.
    pub fn new(
        settings: Vec<String>,
        scenario: Scenario,
        seeds: Vec<u64>,
    ) -> Result<Combination, FabricError> {
        let offered = offered(&scenario)?;
        Ok(Combination { settings, scenario, seeds, offered })
    }

    fn cells(&self) -> impl Iterator<Item = Cell> {
        let label = self.settings.join(" ");
        self.seeds.iter().map(move |&seed| Cell {
            label: format!("{label} seed {seed}"),
            scenario: self.scenario.clone(),
            seed,
        })
    }

    fn is_overloaded(&self) -> bool {
        self.offered.as_ref().is_some_and(|offered| !offered.overloaded.is_empty())
    }

    fn busiest(&self) -> f64 {
        self.offered.as_ref().map_or(0.0, |offered| offered.busiest)
    }
}

/// All combinations of a sweep, in order.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    /// The combinations.
    pub combinations: Vec<Combination>,
}

impl Plan {
    /// A cell for each seed of each combination.
    pub fn cells(&self) -> Vec<Cell> {
        self.combinations.iter().flat_map(Combination::cells).collect()
    }

    /// Notices about the files that the scenarios name, each once.
    pub fn notices(&self) -> Vec<String> {
        let mut notices: Vec<String> = Vec::new();
        for notice in self.combinations.iter().flat_map(|one| &one.scenario.notices) {
            if !notices.contains(notice) {
                notices.push(notice.clone());
            }
        }
        notices
    }

    /// A warning of overload, of the combination whose links are offered most; `None` where none
    /// overloads a link.
    pub fn overload(&self) -> Option<String> {
        let overloaded = || self.combinations.iter().filter(|one| one.is_overloaded());
        // Of equal ones the first.
        let worst = overloaded().rev().max_by(|a, b| a.busiest().total_cmp(&b.busiest()))?;
        let said = worst.offered.as_ref()?.warning(&worst.scenario.scheme)?;
        Some(format!(
            "{} of {} combinations overload links; the worst is {}: {said}",
            overloaded().count(),
            self.combinations.len(),
            worst.settings.join(" ")
        ))
    }

    /// The rows of which some runs are finished, of a place for each cell.
    pub fn rows_so_far(&self, runs: &[Option<RunSummary>]) -> Vec<Row> {
        let mut runs = runs.iter();
        let row = |one: &Combination| {
            let of_it = runs.by_ref().take(one.seeds.len());
            let runs: Vec<RunSummary> = of_it.flatten().cloned().collect();
            (!runs.is_empty()).then(|| Row {
                settings: one.settings.clone(),
                offered: one.offered.clone(),
                over_seeds: OverSeeds::new(&runs),
                runs,
            })
        };
        self.combinations.iter().filter_map(row).collect()
    }

    /// The rows of its results, of a run for each cell.
    pub fn rows(&self, runs: Vec<RunSummary>) -> Vec<Row> {
        let settings = |one: &Combination| (one.settings.clone(), one.seeds.len());
        let mut rows = rows(self.combinations.iter().map(settings).collect(), runs);
        for (row, combination) in rows.iter_mut().zip(&self.combinations) {
            row.offered.clone_from(&combination.offered);
        }
        rows
    }
}

#[cfg(test)]
mod tests {
    use heddle_scenario::{Variant, load};

    use super::*;
    use crate::point::no_files;
    use crate::sweep::axes;
    use crate::testing::{run, scenario, small};

    fn plan(loads: &[&str]) -> Plan {
        let combination = |load: &&str| {
            let rate = r#"[{ between = "leaf-1 spine-1", rate = "150Mbps" }]"#;
            let scenario = scenario(&[("workload.load", load), ("fabric.link", rate)]);
            Combination::new(vec![(*load).to_owned()], scenario, vec![1, 2]).unwrap()
        };
        Plan { combinations: loads.iter().map(combination).collect() }
    }

    #[test]
    fn the_worst_of_the_overloaded_combinations_is_named() {
        let said = plan(&["0.1", "0.8", "0.9"]).overload().unwrap();
        assert!(
            said.starts_with("2 of 3 combinations overload links; the worst is 0.9: "),
            "{said}"
        );
        assert_eq!(plan(&["0.1", "0.2"]).overload(), None);
    }

    #[test]
    fn each_seed_of_each_combination_is_a_cell() {
        let labels: Vec<_> =
            plan(&["0.1", "0.2"]).cells().into_iter().map(|cell| cell.label).collect();
        assert_eq!(labels, ["0.1 seed 1", "0.1 seed 2", "0.2 seed 1", "0.2 seed 2"]);
    }

    /// Of four runs the second of the first row, and none of the second row.
    #[test]
    fn rows_so_far_have_the_finished_runs() {
        let plan = plan(&["0.1", "0.2"]);
        let cell = &plan.cells()[1];
        let rows = plan.rows_so_far(&[None, Some(run(cell)), None, None]);
        assert_eq!((rows.len(), &*rows[0].settings[0], rows[0].runs[0].seed), (1, "0.1", 2));
        assert!(rows[0].offered.is_some());
    }

    #[test]
    fn sources_have_the_values_of_their_combination() {
        let axes = [Axis::new("scheme", "ecmp,hula"), Axis::new("workload.load", "0.3")];
        let sources = sources(&Source::new("a.toml", "").with("seeds", "[4]"), &axes);
        let (values, second) = &sources[1];
        assert_eq!(values, &["hula", "0.3"]);
        let expected = [("seeds", "[4]"), ("scheme", "hula"), ("workload.load", "0.3")];
        assert!(second.overrides.iter().map(|(k, v)| (k.as_str(), v.as_str())).eq(expected));
    }

    /// The values of keys follow those of variants, so that they refine a variant's scheme.
    #[test]
    fn a_variant_stands_for_all_that_it_sets() {
        let reps = Variant::parse("reps=scheme=ecmp,entropy=reps").unwrap();
        let axes = axes(vec![Axis::new("workload.load", "0.3")], vec![reps]).unwrap();
        let (values, source) = sources(&Source::new("a.toml", ""), &axes).remove(0);
        assert_eq!(values, ["reps", "0.3"]);
        let set: Vec<String> = source.overrides.iter().map(|(k, v)| format!("{k}={v}")).collect();
        assert_eq!(set, ["scheme=ecmp", "entropy=reps", "workload.load=0.3"]);
    }

    #[test]
    fn an_error_names_the_variant() {
        let wrong = Variant::parse("mine=scheem=ecmp").unwrap();
        let axes = axes(Vec::new(), vec![wrong]).unwrap();
        let (values, source) = sources(&small(), &axes).remove(0);
        let error = load(&source, &no_files).unwrap_err();
        let said = explain(&small(), &axes, &values, error).to_string();
        assert!(said.starts_with("small.toml: scheem: in variant mine: "), "{said}");
        assert!(said.ends_with("help: did you mean `scheme`?"), "{said}");
    }
}
