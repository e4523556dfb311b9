//! Mistakes by the hundred: whatever is refused says where it is, and how to mend it.

use std::io;

use heddle_scenario::{ScenarioError, Source, load};

/// Scenarios that are sound, and the files that they name.
const SCENARIOS: [&str; 4] = [super::BASE, GRAPH, TOPOLOGY, TREE];

const GRAPH: &str = r#"seeds = [7]
[fabric]
kind = "file"
path = "graph.toml"
link_delay = "2us"
port_buffer = "300KB"
mark_above = "97.5KB"
[transport]
kind = "mptcp"
subflows = 2
[scheme]
kind = "ecmp"
[[workload]]
name = "list"
kind = "replay"
file = "flows.csv"
[[workload]]
name = "background"
kind = "flows"
sizes = { file = "sizes.csv" }
load = 0.3
pattern = "all-to-all"
connections = "persistent"
connections_per_pair = 2
[measure]
duration = "5ms"
time_limit = "1s"
sample_every = "100us"
[[event]]
at = "3ms"
degrade = ["a top"]
rate = "1Gbps"
"#;

const TOPOLOGY: &str = r#"scheme = "letitflow"
[fabric]
kind = "file"
format = "hpcc"
path = "topology.txt"
[workload]
kind = "replay"
file = "flow.txt"
"#;

const TREE: &str = r#"scheme = "spray"
[fabric]
kind = "file"
path = "tree.topo"
[workload]
kind = "flow-graph"
file = "job.csv"
"#;

const FILES: [(&str, &str); 7] = [
    (
        "graph.toml",
        "routing = \"up-down\"\n[[node]]\nname = \"h1\"\n[[node]]\nname = \"h2\"\ntier = 0\n[[node]]\nname = \"a\"\n[[node]]\n\
         name = \"b\"\n[[node]]\nname = \"top\"\ntier = 2\n[[link]]\nbetween = \"h1 a\"\nrate = \"10Gbps\"\n[[link]]\n\
         between = \"h2 b\"\nrate = \"10Gbps\"\ndelay = \"1us\"\n[[link]]\nbetween = \"a top\"\nrate = \"40Gbps\"\n[[link]]\n\
         between = \"b top\"\nrate = \"40Gbps\"\n",
    ),
    ("flows.csv", "at_us,from,to,size_bytes\n1,h1,h2,20000\n2e3,h2,h1,1500\n"),
    ("sizes.csv", "bytes,cdf\n1000,0.5\n20000,0.9\n1e6,1\n"),
    ("topology.txt", "4 2 3\n2 3\n0 2 25Gbps 1us 0\n1 3 25Gbps 1000ns 0\n2 3 100Gbps 0.001ms 0\n"),
    ("flow.txt", "2\n0 1 3 100 20000 2.0\n1 0 3 100 1500 2.000001\n"),
    (
        "tree.topo",
        "Nodes 4\nTiers 2\nPodsize 4\nTier 0\nDownlink_speed_Gbps 10\nRadix_Down 2\nRadix_Up 2\nDownlink_Latency_ns 500\n\
         Tier 1\nDownlink_speed_Gbps 10\nRadix_Down 2\nDownlink_Latency_ns 500\n",
    ),
    (
        "job.csv",
        "id,after,from,to,size,delay\nfirst,,host-1,host-3,1MB,\nsecond,first,host-3,host-1,2MB,5us\n",
    ),
];

/// Words that people write in place of another.
const WORDS: [&str; 16] = [
    "",
    "0",
    "-1",
    "1e-3",
    "99999999999",
    "nan",
    "x",
    "true",
    "[]",
    "{}",
    "10Gb",
    "10GBps",
    "-1us",
    "1\u{b5}s",
    "5 parsecs",
    "hots-1",
];

/// The files of a scenario, one of them with other contents.
fn attempt(scenario: &str, file: Option<(&str, &str)>) -> Result<(), ScenarioError> {
    let files = |path: &str| {
        let known = FILES.iter().find(|(name, _)| *name == path);
        let text = known.map(|(_, text)| (*text).to_owned());
        let text = match file {
            Some((name, spoiled)) if name == path => Some(spoiled.to_owned()),
            _ => text,
        };
        text.ok_or_else(|| io::Error::new(io::ErrorKind::NotFound, "not found"))
    };
    load(&Source::new("s.toml", scenario), &files).map(|_| ())
}

/// Texts with one mistake each: a line that is missing, twice or cut; a word that is misspelt or
/// another.
pub(crate) fn mistakes(text: &str) -> Vec<String> {
    let lines: Vec<&str> = text.lines().collect();
    let mut all = Vec::new();
    for (index, line) in lines.iter().enumerate() {
        let with = |new: &[&str]| [&lines[..index], new, &lines[index + 1..]].concat().join("\n");
        all.push(with(&[]));
        all.push(with(&[line, line]));
        all.push(with(&[&line[..line.len() / 2]]));
        for (start, word) in words(line) {
            let end = start + word.len();
            let changed = |to: &str| format!("{}{to}{}", &line[..start], &line[end..]);
            all.push(with(&[&changed(&misspelt(word))]));
            let others = WORDS.iter().enumerate();
            // Each word somewhere, not all everywhere.
            let some = others.filter(|(number, _)| (number + start + index) % 12 == 0);
            all.extend(some.map(|(_, other)| with(&[&changed(other)])));
        }
    }
    all
}

/// The words of a line with their places.
fn words(line: &str) -> Vec<(usize, &str)> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || "_-.".contains(c);
    let mut words = Vec::new();
    let mut start = None;
    for (place, c) in line.char_indices().chain([(line.len(), ' ')]) {
        match (start, is_part(c)) {
            (None, true) => start = Some(place),
            (Some(from), false) => {
                words.push((from, &line[from..place]));
                start = None;
            }
            _ => {}
        }
    }
    words
}

/// The same word with two letters in the wrong order, or one twice.
fn misspelt(word: &str) -> String {
    let mut letters: Vec<char> = word.chars().collect();
    match letters.len() {
        0 | 1 => format!("{word}{word}"),
        length => {
            letters.swap(length / 2 - 1, length / 2);
            letters.into_iter().collect()
        }
    }
}

/// True if an error says what would be right: in its help, or in a message that states a rule.
pub(crate) fn says_fix(error: &ScenarioError) -> bool {
    const RULES: [&str; 12] = [
        "must be",
        "is expected",
        "are expected",
        "expected",
        "is missing",
        "as in",
        "is over before",
        "is more than",
        "cannot read",
        "at least",
        "duplicate key",
        "is longer than",
    ];
    error.help().is_some() || RULES.iter().any(|rule| error.message().contains(rule))
}

/// Every refusal has the file, a line or a key, and a fix.
#[test]
fn whatever_is_refused_says_where_and_how_to_mend_it() {
    let mut tried = 0;
    let mut poor = Vec::new();
    let mut check = |result: Result<(), ScenarioError>, text: &str| {
        let Err(error) = result else { return };
        tried += 1;
        // What the numbers of a topology say together is on no line: the message has their keys.
        let is_whole = error.file() == "tree.topo";
        let has_place = is_whole || error.line().is_some() || !error.key().is_empty();
        if !has_place || !says_fix(&error) {
            poor.push(format!("{error}\n    of {text:?}"));
        }
    };
    for scenario in SCENARIOS {
        assert!(
            attempt(scenario, None).is_ok() || scenario == super::BASE,
            "{:?}",
            attempt(scenario, None)
        );
        mistakes(scenario).iter().for_each(|text| check(attempt(text, None), text));
        for (name, text) in FILES.iter().filter(|(name, _)| scenario.contains(name)) {
            mistakes(text)
                .iter()
                .for_each(|text| check(attempt(scenario, Some((name, text))), text));
        }
    }
    assert!(tried > 500, "{tried} mistakes");
    poor.sort();
    poor.dedup_by(|a, b| a.lines().next() == b.lines().next());
    assert!(poor.is_empty(), "{} of {tried}:\n{}", poor.len(), poor.join("\n"));
}
