use heddle_claims::{
    Basis, Bound, Claim, Measure, Monitor, Paper, Request, Setting, Unattended, stated,
};
use heddle_report::Report;

use super::*;
use crate::{Options, reproduce};

/// A paper whose one claim is three times, with as many hosts as its profile says.
struct Hosts;

struct All;

impl Measure for All {
    type Evidence = f64;

    fn values(&self, evidence: &f64) -> Vec<f64> {
        vec![*evidence]
    }
}

impl Paper for Hosts {
    type Measure = All;
    type Error = std::convert::Infallible;

    const SYSTEM: &'static str = "HOSTS";
    const CLAIMS: &'static [Claim<All>] =
        &[Claim::new("T1", "section 1", "three times", stated(Bound::About, 3.0, "x"), All)];
    const RULE: &'static str = "The rule.";
    const PROFILES: &'static [Profile] = &[
        Profile { name: "few", title: "1 host", basis: Basis::Reading, settings: &[] },
        Profile {
            name: "many",
            title: "3 hosts",
            basis: Basis::Inference,
            settings: &[Setting { key: "hosts", value: "3", source: "a guess" }],
        },
    ];

    fn gather(request: &Request<'_, Hosts>, _: &dyn Monitor) -> Result<f64, Self::Error> {
        let hosts = request.profile.changes().first().map_or("1", |change| change.1);
        Ok(hosts.parse().unwrap())
    }

    fn head(title: &str, _: &f64) -> Report {
        Report::new(title)
    }

    fn figures(_: &f64) -> Vec<Section> {
        Vec::new()
    }
}

fn run(profile: Option<&str>, out: &Path) -> Result<(), Failure> {
    let options = Options {
        profile: profile.map(String::from),
        out: Some(out.to_owned()),
        ..Options::default()
    };
    let common = Common { quiet: true, ..Common::default() };
    reproduce::<Hosts>(&options, &common, (&Unattended, &Origin::of_program()), None)
}

fn read(folder: &Path, name: &str) -> String {
    std::fs::read_to_string(folder.join(name)).unwrap()
}

#[test]
fn a_profile_has_a_folder_of_its_own_and_its_files_say_its_settings() {
    let folder = tempfile::tempdir().unwrap();
    run(None, folder.path()).unwrap();
    run(Some("many"), folder.path()).unwrap();
    assert!(read(folder.path(), "claims.md").contains("| 1x | differs |"));
    let many = read(folder.path(), "many/claims.md");
    assert!(many.contains("| 3x | agrees |"), "{many}");
    assert!(
        many.contains("Profile many (inference): 3 hosts.\n\n- `hosts = 3`: a guess"),
        "{many}"
    );
    let json: serde_json::Value =
        serde_json::from_str(&read(folder.path(), "many/claims.json")).unwrap();
    assert_eq!(json["profile"]["basis"], "inference");
    assert!(read(folder.path(), "many/report.html").contains("a guess"));
    assert!(!folder.path().join("profiles.md").exists());
}

#[test]
fn all_profiles_are_judged_in_turn_and_shown_side_by_side() {
    let folder = tempfile::tempdir().unwrap();
    run(Some("all"), folder.path()).unwrap();
    let table = read(folder.path(), "profiles.md");
    assert!(table.contains("| T1 | three times | section 1 | 3x | 1x, differs | 3x, agrees |"));
    assert!(table.contains("Profile few (one reading)") && table.contains("a guess"), "{table}");
    assert!(folder.path().join("many/claims.json").exists());
    let json: serde_json::Value =
        serde_json::from_str(&read(folder.path(), "profiles.json")).unwrap();
    assert_eq!(json["profiles"][1]["claims"][0]["verdict"], "agrees");
}

#[test]
fn an_unknown_profile_is_refused_with_those_that_there_are() {
    let folder = tempfile::tempdir().unwrap();
    let refused = run(Some("some"), folder.path()).unwrap_err().report(|_| None).text;
    assert!(refused.contains("HOSTS has no profile some; there are few, many"), "{refused}");
    assert!(refused.contains("--profile many, or --profile all"), "{refused}");
}
