//! Schemes of switches and of hosts beside each other on one fabric of 100 Gbps: hosts of TCP, MPTCP
//! and Ultra Ethernet, each with the selections of paths that are for them.

mod setup;

pub use setup::Setup;
pub(super) use setup::{PERMUTATION, PERMUTATION_FLOWS};

use super::{Column, Overrides, Point};
use heddle_claims::Effort;
use heddle_study::metric::{
    bound_ratio, mean_all, mean_large, mean_small, operation_ratio, p99_all, reordered_percent,
    retransmitted_percent, unfinished,
};
use heddle_study::summary::RunSummary;

pub(super) const ABOUT: &str = "Switches that balance load and hosts that choose paths, at 100 Gbps and with payloads of 4096 bytes: a fat-tree of 128 hosts (k = 8), \
     and for web search a leaf-spine fabric of 16 hosts with 4 spines. Ports send control packets first, hold 180 KB and mark from 37 to 145 KB. \
     DCTCP hosts: TCP with DCTCP and RACK-TLP; MPTCP: two subflows under LIA, MPTCP-DCTCP: a DCTCP window for each; UET: Ultra Ethernet's hosts with NSCC, over switches that trim. \
     Flowlet gap 10 us, probes each 20 us. x bound: mean completion time over a bound that no scheme goes below; of collective operations, the time of the whole, TCP's handshakes \
     and slow starts included, over that in an empty fabric without them. The permutation's pairs are the same under each seed.";

/// Hosts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Hosts {
    /// DCTCP with RACK-TLP.
    Dctcp,
    /// MPTCP of two subflows, coupled by LIA, with RACK-TLP.
    Mptcp,
    /// The same with a DCTCP window for each subflow.
    MptcpDctcp,
    /// Ultra Ethernet, over switches that trim.
    Uet,
}

impl Hosts {
    /// All of them.
    pub(super) const ALL: [Hosts; 4] = [Hosts::Dctcp, Hosts::Mptcp, Hosts::MptcpDctcp, Hosts::Uet];

    /// In ids.
    pub(super) fn name(self) -> &'static str {
        match self {
            Hosts::Dctcp => "dctcp",
            Hosts::Mptcp => "mptcp",
            Hosts::MptcpDctcp => "mptcp-dctcp",
            Hosts::Uet => "uet",
        }
    }

    pub(super) fn title(self) -> &'static str {
        match self {
            Hosts::Dctcp => "DCTCP",
            Hosts::Mptcp => "MPTCP",
            Hosts::MptcpDctcp => "MPTCP-DCTCP",
            Hosts::Uet => "UET",
        }
    }

    /// The protocol, but for what the fabric's speed decides.
    pub(super) fn transport(self) -> &'static str {
        match self {
            Hosts::Dctcp => r#"kind = "tcp", control = "dctcp", loss_detection = "rack""#,
            Hosts::Mptcp => r#"kind = "mptcp", coupling = "lia", loss_detection = "rack""#,
            Hosts::MptcpDctcp => {
                r#"kind = "mptcp", coupling = "uncoupled", control = "dctcp", loss_detection = "rack""#
            }
            Hosts::Uet => r#"kind = "uet""#,
        }
    }

    fn overrides(self, setup: Setup) -> Overrides {
        let transport = self.transport();
        match self {
            Hosts::Uet => vec![
                ("transport", format!("{{ {transport} }}")),
                ("fabric.trim_above", "178KB".to_owned()),
            ],
            Hosts::Dctcp => vec![("transport", format!("{{ {transport}, {TCP} }}"))],
            Hosts::Mptcp | Hosts::MptcpDctcp => {
                let subflows = setup.planes().max(2);
                let transport = format!("{{ {transport}, subflows = {subflows}, {TCP} }}");
                vec![("transport", transport)]
            }
        }
    }
}

const TCP: &str = r#"mss = 4096, min_rto = "1ms""#;

/// Path selection, by switches or by hosts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum PathSelection {
    /// ECMP.
    Ecmp,
    /// Flowlets at random.
    LetItFlow,
    /// Two random queues and the last best, each packet.
    Drill,
    /// The shortest queue, while nothing is in flight.
    Flowcut,
    /// HULA.
    Hula,
    /// MP-HULA.
    MpHula,
    /// Shuttle.
    Shuttle,
    /// Shuttle that chooses for each packet.
    ShuttlePackets,
    /// A central controller places flows on paths, which their ports name.
    Cflb,
    /// As Linux has it.
    Plb,
    /// Hosts spray packets.
    Spray,
    /// Hosts spray packets over values that were not marked.
    Bitmap,
    /// Hosts spray packets and recycle entropies.
    Reps,
}

impl PathSelection {
    /// True if hosts select the paths, over switches with ECMP.
    pub(super) fn is_by_hosts(self) -> bool {
        self.entropy() != "flow"
    }

    pub(super) fn title(self) -> &'static str {
        match self {
            PathSelection::Ecmp => "ECMP",
            PathSelection::LetItFlow => "LetItFlow",
            PathSelection::Drill => "DRILL",
            PathSelection::Flowcut => "Flowcut",
            PathSelection::Hula => "HULA",
            PathSelection::MpHula => "MP-HULA",
            PathSelection::Shuttle => "Shuttle",
            PathSelection::ShuttlePackets => "Shuttle by packet",
            PathSelection::Cflb => "CFLB",
            PathSelection::Plb => "PLB",
            PathSelection::Spray => "spraying",
            PathSelection::Bitmap => "bitmap",
            PathSelection::Reps => "REPS",
        }
    }

    fn entropy(self) -> &'static str {
        match self {
            PathSelection::Plb => "plb",
            PathSelection::Spray => "spray",
            PathSelection::Bitmap => "bitmap",
            PathSelection::Reps => "reps",
            _ => "flow",
        }
    }

    /// The switches' scheme, by its name.
    pub(super) fn kind(self) -> &'static str {
        match self {
            PathSelection::Ecmp
            | PathSelection::Plb
            | PathSelection::Spray
            | PathSelection::Bitmap
            | PathSelection::Reps => "ecmp",
            PathSelection::LetItFlow => "letitflow",
            PathSelection::Drill => "drill",
            PathSelection::Flowcut => "flowcut",
            PathSelection::Hula => "hula",
            PathSelection::MpHula => "mp-hula",
            PathSelection::Shuttle | PathSelection::ShuttlePackets => "shuttle",
            PathSelection::Cflb => "cflb",
        }
    }

    /// The switches' scheme: a tenth of the papers' times on links ten times as fast.
    fn overrides(self) -> Overrides {
        let times: &[(&str, &str)] = match self {
            PathSelection::LetItFlow => &[("scheme.flowlet_gap", "10us")],
            PathSelection::Hula | PathSelection::MpHula => {
                &[("scheme.flowlet_gap", "10us"), ("scheme.probe_period", "20us")]
            }
            PathSelection::Shuttle => &[
                ("scheme.flowlet_gap", "10us"),
                ("scheme.probe_period", "20us"),
                ("scheme.tau", "10us"),
            ],
            PathSelection::ShuttlePackets => &[
                ("scheme.flowlet_gap", "1ns"),
                ("scheme.probe_period", "20us"),
                ("scheme.tau", "10us"),
            ],
            _ => &[],
        };
        let chosen = [("scheme", self.kind()), ("entropy", self.entropy())];
        let all = chosen.iter().chain(times);
        all.map(|&(key, value)| (key, value.to_owned())).collect()
    }
}

/// Hosts and the selection of their paths.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Rival {
    /// Hosts.
    pub hosts: Hosts,
    /// Path selection.
    pub selection: PathSelection,
}

const RIVALS: [(Hosts, &[PathSelection]); 4] = [
    (
        Hosts::Dctcp,
        &[
            PathSelection::Ecmp,
            PathSelection::LetItFlow,
            PathSelection::Flowcut,
            PathSelection::Hula,
            PathSelection::Shuttle,
            PathSelection::Drill,
            PathSelection::Plb,
            PathSelection::Spray,
            PathSelection::Reps,
        ],
    ),
    (Hosts::Mptcp, &[PathSelection::Ecmp, PathSelection::MpHula, PathSelection::Shuttle]),
    (Hosts::MptcpDctcp, &[PathSelection::Ecmp, PathSelection::MpHula, PathSelection::Shuttle]),
    (
        Hosts::Uet,
        &[
            PathSelection::Ecmp,
            PathSelection::Hula,
            PathSelection::Shuttle,
            PathSelection::ShuttlePackets,
            PathSelection::Cflb,
            PathSelection::Drill,
            PathSelection::Spray,
            PathSelection::Bitmap,
            PathSelection::Reps,
        ],
    ),
];

pub(super) fn points(effort: Effort) -> Vec<Point> {
    let rivals: Vec<Rival> = RIVALS
        .into_iter()
        .flat_map(|(hosts, selections)| {
            selections.iter().map(move |&selection| Rival { hosts, selection })
        })
        .collect();
    let at = |&setup: &Setup| {
        let rivals = &rivals;
        setup.loads().iter().flat_map(move |&load| {
            let rivals = rivals.iter().filter(move |rival| setup.is_for(rival.selection));
            rivals.map(move |&rival| Point::Rivals { setup, load, rival })
        })
    };
    Setup::of(effort).iter().flat_map(at).collect()
}

pub(super) fn setting(setup: Setup, rival: Rival) -> String {
    format!("{}: {}, {}", setup.title(), rival.hosts.title(), rival.selection.title())
}

pub(super) fn overrides(effort: Effort, setup: Setup, load: &str, rival: Rival) -> Overrides {
    let mut overrides = setup.overrides(effort, load);
    overrides.extend(rival.hosts.overrides(setup));
    overrides.extend(rival.selection.overrides());
    overrides
}

/// Times over the shortest possible: a collective operation as a whole, other flows in the mean.
pub(super) fn over_bound(run: &RunSummary) -> Option<f64> {
    operation_ratio(run).or_else(|| bound_ratio(run))
}

pub(super) const COLUMNS: &[Column] = &[
    Column::millis("fct_mean", "mean FCT", mean_all),
    Column::plain("bound_ratio", "x bound", over_bound),
    Column::millis("fct_p99", "p99", p99_all),
    Column::millis("fct_mean_small", "< 100 KB", mean_small),
    Column::millis("fct_mean_large", "> 10 MB", mean_large),
    Column::percent("reordered", "reordered", reordered_percent),
    Column::percent("retransmitted", "retransmitted", retransmitted_percent),
    Column::count("unfinished", "unfinished", unfinished),
];

#[cfg(test)]
mod tests;
