//! The experiments: scenarios, numbers of runs, and what of them is kept.

use heddle_claims::stats::Estimate;
use heddle_emulation::Scaling;
use heddle_emulation::plane::Kind;
use heddle_scenario::Source;
use heddle_study::summary::RunSummary;
use serde::Serialize;

use crate::prepared::{Prepared, prepare_source};

const SEVEN_LINKS: &str = include_str!("../../../../../../scenarios/lab/seven-links.toml");
const TWO_INTERFACES: &str = include_str!("../../../../../../scenarios/lab/two-interfaces.toml");
const TWO_INTERFACES_GRAPH: &str =
    include_str!("../../../../../../scenarios/lab/graphs/two-interfaces.toml");
const PERMUTATION: &str = include_str!("../../../../../../scenarios/lab/permutation.toml");

/// A share of its rate above which a link is used: some ten packets in the measuring window.
const USED: f64 = 0.01;

/// The choice of the ports of further subflows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Choice {
    /// By `heddle-agent`; switches decode them.
    Cflb,
    /// By the kernel; switches hash them.
    Random,
}

/// A fabric with its connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Testbed {
    /// One connection over seven links (figure 10).
    SevenLinks,
    /// One connection into two links, behind seven paths (figure 11).
    TwoInterfaces,
    /// A fat-tree on which each host sends to another one (figure 9).
    Permutation,
}

/// Runs that differ by their seeds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub(super) struct Experiment {
    pub(super) testbed: Testbed,
    pub(super) choice: Choice,
    /// Subflows of each connection, the first included.
    pub(super) subflows: u8,
}

impl Experiment {
    /// All of them.
    pub(super) const ALL: [Experiment; 7] = [
        Experiment::new(Testbed::SevenLinks, Choice::Cflb, 7),
        Experiment::new(Testbed::SevenLinks, Choice::Random, 7),
        Experiment::new(Testbed::TwoInterfaces, Choice::Cflb, 2),
        Experiment::new(Testbed::TwoInterfaces, Choice::Random, 2),
        Experiment::new(Testbed::TwoInterfaces, Choice::Random, 8),
        Experiment::new(Testbed::Permutation, Choice::Cflb, 2),
        Experiment::new(Testbed::Permutation, Choice::Random, 2),
    ];

    pub(super) const fn new(testbed: Testbed, choice: Choice, subflows: u8) -> Experiment {
        Experiment { testbed, choice, subflows }
    }

    /// Its name, for people.
    pub(super) fn title(self) -> String {
        let testbed = match self.testbed {
            Testbed::SevenLinks => "seven links",
            Testbed::TwoInterfaces => "two interfaces",
            Testbed::Permutation => "permutation",
        };
        let choice = match self.choice {
            Choice::Cflb => "CFLB",
            Choice::Random => "random ports",
        };
        format!("{testbed}, {} subflows, {choice}", self.subflows)
    }

    /// The number of runs: of a short evaluation, and with the paper's numbers.
    pub(super) const fn runs(self) -> (u64, u64) {
        match self.testbed {
            Testbed::SevenLinks => (50, 400),
            Testbed::TwoInterfaces => (20, 100),
            Testbed::Permutation => (3, 10),
        }
    }

    /// The scenario, checked against what the kernel can do.
    pub(super) fn prepare(self) -> Result<Prepared, anyhow::Error> {
        let (name, text) = match self.testbed {
            Testbed::SevenLinks => ("seven-links", SEVEN_LINKS),
            Testbed::TwoInterfaces => ("two-interfaces", TWO_INTERFACES),
            Testbed::Permutation => ("permutation", PERMUTATION),
        };
        let scheme = match self.choice {
            Choice::Cflb => "{ kind = \"cflb\", field = \"source-port\", elephants = \"0B\" }",
            Choice::Random => "\"ecmp\"",
        };
        let source = Source::new(format!("scenarios/lab/{name}.toml"), text)
            .with("scheme", scheme)
            .with("transport.subflows", self.subflows.to_string());
        let files = |path: &str| match path {
            "graphs/two-interfaces.toml" => Ok(TWO_INTERFACES_GRAPH.to_owned()),
            _ => Err(std::io::Error::other("no such file in this program")),
        };
        prepare_source(&source, &files, Kind::Ebpf, |_| Scaling::NONE)
    }
}

/// An experiment's runs, seed by seed.
#[derive(Clone, Debug)]
pub(super) struct Runs {
    pub(super) experiment: Experiment,
    pub(super) kernels: Vec<RunSummary>,
    pub(super) simulated: Vec<RunSummary>,
}

/// Evidence of the claims.
#[derive(Clone, Debug)]
pub(super) struct Evidence {
    pub(super) runs: Vec<Runs>,
}

/// One experiment's figures, of kernels and of the simulator.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Row {
    pub(super) experiment: Experiment,
    /// Bits per second.
    pub(super) goodput: Both<Option<Estimate>>,
    /// Runs by the number of links out of the sender's switch that carried data: none, one, and so
    /// on.
    pub(super) links_used: Both<Vec<u32>>,
    /// Goodput of each run on kernels, in bits per second.
    pub(super) goodputs: Vec<f64>,
}

/// A figure of kernels beside that of the simulator.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Both<T> {
    pub(super) kernels: T,
    pub(super) simulator: T,
}

impl Evidence {
    /// The runs of an experiment.
    pub(super) fn of(&self, experiment: Experiment) -> Option<&Runs> {
        self.runs.iter().find(|runs| runs.experiment == experiment)
    }

    /// The figures of all experiments.
    pub(super) fn table(&self) -> Vec<Row> {
        self.runs.iter().map(Runs::row).collect()
    }
}

impl Runs {
    fn row(&self) -> Row {
        let both = [&self.kernels, &self.simulated];
        let [kernels, simulator] = both.map(|runs| Estimate::of(&goodputs(runs)));
        let [used, simulated] = both.map(|runs| histogram(runs));
        Row {
            experiment: self.experiment,
            goodput: Both { kernels, simulator },
            links_used: Both { kernels: used, simulator: simulated },
            goodputs: goodputs(&self.kernels),
        }
    }
}

/// Goodput of each run, in bits per second.
pub(super) fn goodputs(runs: &[RunSummary]) -> Vec<f64> {
    runs.iter().map(|run| run.totals.goodput_bps).collect()
}

/// Links from the first switch, which is the sender's, that carried data in the measuring window.
pub(super) fn links_used(run: &RunSummary) -> usize {
    let Some(first) = run.ports.first().map(|port| &port.from) else { return 0 };
    run.ports.iter().filter(|port| port.from == *first && port.utilisation > USED).count()
}

fn histogram(runs: &[RunSummary]) -> Vec<u32> {
    let used: Vec<usize> = runs.iter().map(links_used).collect();
    let most = used.iter().copied().max().unwrap_or(0);
    (0..=most).map(|links| used.iter().filter(|one| **one == links).count() as u32).collect()
}
