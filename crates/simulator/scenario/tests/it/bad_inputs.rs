//! The exact text of each error: place, message and suggested fix.

pub(crate) mod corpus;
mod fabrics;
mod traffic;
mod values;

use std::io;

use heddle_scenario::{ScenarioError, Source, load};

/// A sound scenario; each case spoils it. Line numbers below are these.
const BASE: &str = r#"title = "x"
seeds = [1, 2]
[fabric]
kind = "two-pod"
hosts_per_tor = 8
host_rate = "10Gbps"
link_delay = "1us"
[transport]
kind = "tcp"
control = "newreno"
[scheme]
kind = "hula"
probe_period = "200us"
[workload]
kind = "flows"
sizes = "websearch"
load = 0.6
[measure]
warm_up = "20ms"
flows = 100
[[event]]
at = "30ms"
fail = ["core-2 agg-3"]
[[event]]
at = "40ms"
recover = ["core-2 agg-3"]
"#;

fn files(path: &str) -> io::Result<String> {
    match path {
        "falling.csv" => Ok("bytes,cdf\n1,0.5\n2,0.4\n3,1\n".into()),
        "twins.toml" => Ok("[[node]]\nname = \"a\"\n[[node]]\nname = \"a\"\n".into()),
        "ring.toml" => Ok(RING.into()),
        "island.toml" => Ok(ISLAND.into()),
        "flows.csv" => Ok("at,from,to,size\n1ms,host-1,host-2,1KB\n".into()),
        _ => Err(io::Error::new(io::ErrorKind::NotFound, "not found")),
    }
}

const RING: &str = r#"
node = [{ name = "h1" }, { name = "h2" }, { name = "h3" }, { name = "a" }, { name = "b" }, { name = "c" }]
link = [
    { between = "h1 a", rate = "1Gbps" }, { between = "h2 b", rate = "1Gbps" }, { between = "h3 c", rate = "1Gbps" },
    { between = "a b", rate = "1Gbps" }, { between = "b c", rate = "1Gbps" }, { between = "c a", rate = "1Gbps" },
]"#;

const ISLAND: &str = r#"
node = [{ name = "h1" }, { name = "h2" }, { name = "a" }, { name = "b", tier = 1 }, { name = "top" }]
link = [
    { between = "h1 a", rate = "1Gbps" }, { between = "h2 b", rate = "1Gbps" },
    { between = "a top", rate = "1Gbps" }, { between = "a top", rate = "1Gbps" },
]"#;

/// The base with some text replaced.
fn spoiled(from: &str, to: &str) -> ScenarioError {
    assert_eq!(BASE.matches(from).count(), 1, "{from:?} must be in the base once");
    let source = Source::new("s.toml", BASE.replace(from, to));
    load(&source, &files).expect_err(to)
}

/// Asserts the message of each spoiling: what is replaced, by what, and the error's text without
/// the file's name.
fn refused(cases: &[(&str, &str, &str)]) {
    for (from, to, expected) in cases {
        let error = spoiled(from, to).to_string();
        assert_eq!(error, format!("s.toml:{expected}"), "{from:?} -> {to:?}");
    }
}

#[test]
fn the_base_is_sound() {
    load(&Source::new("s.toml", BASE), &files).unwrap();
}

#[test]
fn parts_of_an_error_can_be_had_one_by_one() {
    let error = spoiled("load = 0.6", "load = 1.7");
    assert_eq!((error.file(), error.line(), error.key()), ("s.toml", Some(17), "workload.load"));
    assert!(error.message().starts_with("1.7 is more"));
    assert_eq!(error.help(), Some("above 0 and below 1"));
    assert_eq!(error.override_source(), None);
}
