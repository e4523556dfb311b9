use std::path::Path;

use clap::Parser;
use heddle_claims::{Bound, Claim, Effort, Measure, Unattended, stated};
use heddle_report::Report;

use super::*;

/// A paper with two claims and one experiment, which gives 2.
struct Twice;

struct All;

impl Measure for All {
    type Evidence = f64;

    fn values(&self, evidence: &f64) -> Vec<f64> {
        vec![*evidence]
    }
}

#[derive(Debug, thiserror::Error)]
#[error("stopped")]
struct Stopped;

impl Paper for Twice {
    type Measure = All;
    type Error = Stopped;

    const SYSTEM: &'static str = "TWICE";
    const CLAIMS: &'static [Claim<All>] = &[
        Claim::new("T1", "section 1", "as much", stated(Bound::About, 1.0, "x"), All),
        Claim::new("T2", "section 2", "twice", stated(Bound::About, 2.0, "x"), All),
    ];
    const RULE: &'static str = "The rule.";

    fn gather(_: &Request<'_, Twice>, monitor: &dyn Monitor) -> Result<f64, Stopped> {
        if monitor.stopped() { Err(Stopped) } else { Ok(2.0) }
    }

    fn measured(evidence: &f64) -> Option<String> {
        Some(format!("{evidence}"))
    }

    fn head(title: &str, _: &f64) -> Report {
        Report::new(title)
    }

    fn figures(_: &f64) -> Vec<Section> {
        vec![Section::new("figure", "Figure 1")]
    }
}

struct Stop;

impl Monitor for Stop {
    fn stopped(&self) -> bool {
        true
    }
}

/// An appendix of one section and one file.
struct Note;

impl Appendix for Note {
    fn sections(&self) -> Vec<Section> {
        vec![Section::new("note", "A note")]
    }

    fn write(&self, folder: &Path) -> Result<(), Failure> {
        write_json(&folder.join("note.json"), "a note")
    }

    fn print(&self) -> Result<(), Failure> {
        Ok(())
    }
}

fn options(claims: &[&str], folder: &Path) -> Options {
    let claims = claims.iter().map(|&claim| claim.to_owned()).collect();
    Options { claims, out: Some(folder.to_owned()), ..Options::default() }
}

fn read(folder: &Path, name: &str) -> String {
    std::fs::read_to_string(folder.join(name)).unwrap()
}

/// A program that is run in place of this one gets the size, too.
#[test]
fn flags_choose_the_size() {
    let with = |medium, full| Options { medium, full, ..Options::default() };
    let sizes = [with(false, false), with(true, false), with(false, true)];
    assert_eq!(
        sizes.each_ref().map(Options::effort),
        [Effort::Quick, Effort::Medium, Effort::Full]
    );
    assert_eq!(sizes[1].arguments(), ["--medium", "--"]);
}

#[test]
fn the_files_hold_findings_measurements_and_figures() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let common = Common { quiet: true, ..Common::default() };
    reproduce::<Twice>(
        &options(&["t2"], &out),
        &common,
        (&Unattended, &Origin::of_program()),
        Some(&Note),
    )
    .unwrap();
    let claims: serde_json::Value = serde_json::from_str(&read(&out, "claims.json")).unwrap();
    assert!(claims["command"].is_string() && claims["program"].is_string(), "{claims}");
    let claims = claims["claims"].as_array().unwrap();
    assert_eq!(claims.len(), 1);
    assert_eq!((&claims[0]["id"], &claims[0]["verdict"]), (&"T2".into(), &"agrees".into()));
    assert_eq!(read(&out, "claims.md").lines().count(), 3 + 2);
    assert_eq!(read(&out, "measured.json"), "2");
    assert_eq!(read(&out, "note.json"), "\"a note\"");
    let report = read(&out, "report.html");
    let at = |text: &str| report.find(text).unwrap_or_else(|| panic!("no {text}"));
    assert!(at("evaluation, reproduced") < at("The rule."));
    assert!(
        at("id=\"figure\"") < at("id=\"note\"") && at("id=\"note\"") < at("id=\"origin\""),
        "the appendix is behind the figures"
    );
}

#[test]
fn an_unknown_claim_and_an_interruption_write_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let failed = |claims: &[&str], monitor: &dyn Monitor| {
        let (options, common) = (options(claims, &out), Common::default());
        let with = (monitor, &Origin::of_program());
        let failure = reproduce::<Twice>(&options, &common, with, None);
        failure.unwrap_err().report(|_| None).text
    };
    assert_eq!(failed(&["T9"], &Unattended), "error: there is no claim T9; TWICE's are T1 to T2");
    assert_eq!(failed(&[], &Stop), "error: stopped");
    assert!(!out.exists());
}

#[derive(Parser)]
struct Program {
    #[command(flatten)]
    options: Options,
}

/// Another program parses them to the same options.
#[test]
fn options_become_arguments() {
    for words in [
        &["x"][..],
        &["x", "R1", "r4", "--full"],
        &["x", "--quick", "--out", "a b", "R2"],
        &["x", "--profile", "all", "R2"],
    ] {
        let Program { options } = Program::parse_from(words);
        let again = ["x".into()].into_iter().chain(options.arguments());
        let Program { options: parsed } = Program::parse_from(again);
        assert_eq!(format!("{parsed:?}"), format!("{options:?}"));
    }
}
