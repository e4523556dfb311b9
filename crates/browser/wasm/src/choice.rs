//! A reader's choice: a scenario file, and what the controls of the page change in it.

use std::io;

use heddle_scenario::{Files, Scenario, ScenarioError, Source, load};
use serde::Deserialize;

use crate::FILE;

/// Time between samples of a scenario that takes none: the page draws them.
const SAMPLE_EVERY: &str = "500us";

/// The settings of a run. An empty field leaves the file's value; others are values as after
/// `--set`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Choice {
    /// The scenario file.
    pub text: String,
    /// The scheme's name. That of the file keeps the file's parameters.
    pub scheme: String,
    /// The name of a variant of the file, in place of a scheme; empty for none.
    pub variant: String,
    /// The keys and values of that variant, as the file's offer has them.
    pub settings: Vec<(String, String)>,
    /// `workload.load`.
    pub load: String,
    /// `measure.flows`.
    pub flows: String,
    /// The only seed.
    pub seed: String,
    /// A link that fails, by name; empty for none.
    pub link: String,
    /// The time at which it fails; empty for from the start, known to routing.
    pub fails_at: String,
    /// The time at which it recovers; empty for never.
    pub recovers_at: String,
}

impl Choice {
    /// The scenario, and the source that it is resolved from: with samples of ports.
    ///
    /// # Errors
    /// The first thing that is wrong with it.
    pub fn resolve(&self) -> Result<(Source, Scenario), ScenarioError> {
        let mut source = self.source();
        let mut scenario = resolve(&source)?;
        let has_scheme = self.scheme.is_empty() || scenario.scheme.name() == self.scheme;
        if !has_scheme {
            source = source.with("scheme", &self.scheme);
        }
        let is_sampled = scenario.measure.sample_every.is_some();
        if !is_sampled {
            source = source.with("measure.sample_every", SAMPLE_EVERY);
        }
        if !has_scheme || !is_sampled {
            scenario = resolve(&source)?;
        }
        Ok((source, scenario))
    }

    /// The file with all settings but the scheme's name.
    fn source(&self) -> Source {
        let seeds = format!("[{}]", self.seed);
        let settings = [
            ("seeds", &seeds, &self.seed),
            ("measure.flows", &self.flows, &self.flows),
            ("workload.load", &self.load, &self.load),
        ];
        let given = settings.into_iter().filter(|(.., field)| !field.is_empty());
        let source = given.fold(Source::new(FILE, self.text.clone()), |source, (key, value, _)| {
            source.with(key, value)
        });
        let settings = self.failure().into_iter().chain(self.settings.clone());
        settings.fold(source, |source, (key, value)| source.with(key, value))
    }

    /// The setting that makes the link fail.
    fn failure(&self) -> Option<(String, String)> {
        if self.link.is_empty() {
            return None;
        }
        // A TOML string is escaped: no name can end it.
        let link = toml::Value::String(self.link.clone());
        if self.fails_at.is_empty() {
            return Some(("fabric.failed".to_owned(), format!("[{link}]")));
        }
        let at = |time: &str, change: &str| {
            let time = toml::Value::String(time.to_owned());
            format!("{{ at = {time}, {change} = [{link}] }}")
        };
        let fails = at(&self.fails_at, "fail");
        let recovers = (!self.recovers_at.is_empty()).then(|| at(&self.recovers_at, "recover"));
        let events: Vec<String> = std::iter::once(fails).chain(recovers).collect();
        Some(("event".to_owned(), format!("[{}]", events.join(", "))))
    }
}

/// Links of the largest fabric that a page builds, which it does for every scheme that it offers: a
/// link may have come from anyone. A fat-tree of 32 ports has 24 576.
const MOST_LINKS: u64 = 1 << 15;

/// A page has no files beside the one that it shows.
struct Page;

impl Files for Page {
    fn read(&self, _: &str) -> io::Result<String> {
        Err(io::Error::other("a page in a browser reads no other files"))
    }

    fn most_links(&self) -> u64 {
        MOST_LINKS
    }
}

/// Resolves a scenario.
pub(crate) fn resolve(source: &Source) -> Result<Scenario, ScenarioError> {
    load(source, &Page)
}

#[cfg(test)]
mod tests {
    use heddle_scenario::{Change, Until};
    use heddle_units::Time;

    use super::*;
    use crate::presets::PRESETS;

    fn hula() -> Choice {
        Choice { text: PRESETS[1].text.to_owned(), ..Choice::default() }
    }

    #[test]
    fn empty_fields_leave_the_file() {
        let (source, scenario) = hula().resolve().unwrap();
        assert_eq!(source.overrides, [("measure.sample_every".into(), "500us".into())]);
        assert_eq!((scenario.scheme.name(), scenario.seeds), ("hula", vec![1, 2, 3]));
    }

    #[test]
    fn fields_are_settings() {
        let choice = Choice {
            scheme: "ecmp".into(),
            load: "0.3".into(),
            flows: "40".into(),
            seed: "7".into(),
            ..hula()
        };
        let (_, scenario) = choice.resolve().unwrap();
        assert_eq!((scenario.scheme.name(), scenario.seeds), ("ecmp", vec![7]));
        assert_eq!(scenario.workload.flows()[0].load, 0.3);
        assert_eq!(scenario.measure.until, Until::Flows(40));
    }

    /// A flowlet gap that is not the default stays, also where the scheme is chosen by its name.
    #[test]
    fn the_scheme_of_the_file_keeps_its_parameters() {
        let text = hula().text.replace("flowlet_gap = \"100us\"", "flowlet_gap = \"70us\"");
        let choice = |scheme: &str| Choice { text: text.clone(), scheme: scheme.into(), ..hula() };
        let gap = |choice: &Choice| match choice.resolve().unwrap().1.scheme {
            heddle_scenario::Scheme::Hula(hula) => hula.flowlet_gap,
            other => panic!("{other:?}"),
        };
        assert_eq!(gap(&choice("hula")), Time::micros(70));
        assert_eq!(gap(&choice("")), Time::micros(70));
    }

    /// Hosts under REPS and under a flow's own hash, over the same switches.
    #[test]
    fn a_variant_sets_its_keys() {
        let text = include_str!("../../../../scenarios/reps-link-failure.toml");
        let offered = crate::prepare::offer(text).unwrap().variants;
        let names: Vec<&str> = offered.iter().map(|variant| variant.name.as_str()).collect();
        assert_eq!(names, ["ecmp", "hula", "plb", "reps"]);
        let resolved = |variant: &heddle_scenario::Variant| {
            let (variant, settings) = (variant.name.clone(), variant.settings.clone());
            let choice = Choice { text: text.to_owned(), variant, settings, ..Choice::default() };
            choice.resolve().unwrap().1
        };
        let (hula, reps) = (resolved(&offered[1]), resolved(&offered[3]));
        assert_eq!((hula.scheme.name(), reps.scheme.name()), ("hula", "ecmp"));
        assert_ne!(hula.entropy, reps.entropy);
    }

    #[test]
    fn a_link_fails_from_the_start_or_for_a_while() {
        let link = "core-2 agg-4".to_owned();
        let (_, scenario) = Choice { link: link.clone(), ..hula() }.resolve().unwrap();
        assert_eq!((scenario.fabric.failed.len(), scenario.events.len()), (1, 0));
        let (fails_at, recovers_at) = ("30ms".to_owned(), "60ms".to_owned());
        let (_, scenario) = Choice { link, fails_at, recovers_at, ..hula() }.resolve().unwrap();
        let events: Vec<_> = scenario.events.iter().map(|e| (e.at, e.change)).collect();
        assert_eq!(events, [(Time::millis(30), Change::Fail), (Time::millis(60), Change::Recover)]);
    }

    #[test]
    fn a_name_that_would_end_its_text_is_a_name() {
        let choice = Choice { link: "a\"], x = [\"".into(), ..hula() };
        let error = choice.resolve().unwrap_err();
        assert!(error.key().starts_with("fabric.failed"), "{error}");
    }

    /// Four million links, which the command line takes, are counted before they are built.
    #[test]
    fn a_fabric_too_large_for_a_page_is_refused_before_it_is_built() {
        let fabric = |k: u32| {
            let text = format!(
                "scheme = \"ecmp\"\n[fabric]\nkind = \"fat-tree\"\nk = {k}\nhosts_per_tor = 1\n\
                 [workload]\nkind = \"flows\"\nsizes = \"websearch\"\nload = 0.1\n[measure]\nflows = 10\n"
            );
            Choice { text, ..Choice::default() }.resolve().map(|_| ())
        };
        let error = fabric(200).unwrap_err();
        assert_eq!((error.key(), error.help()), ("fabric", Some("at most 32768")));
        assert_eq!(error.message(), "4020000 links are too many");
        assert_eq!(fabric(16), Ok(()));
    }

    #[test]
    fn errors_are_the_command_lines() {
        let wrong = Choice { text: "scheme = \"hulla\"".into(), ..Choice::default() };
        let command_line =
            load(&Source::new(FILE, wrong.text.clone()), &|_: &str| Err(io::Error::other("none")));
        assert_eq!(wrong.resolve().unwrap_err(), command_line.unwrap_err());
        let overloaded = Choice { load: "1.7".into(), ..hula() };
        assert_eq!(overloaded.resolve().unwrap_err().key(), "workload.load");
    }
}
