//! Schemes of switches and of hosts beside each other, under the same hosts, buffers and marks.

use super::paths::FAT_TREE;
use super::{Column, Overrides, Point};
use heddle_claims::Effort;
use heddle_study::metric::{
    bound_ratio, mean_all, mean_large, mean_small, p99_all, reordered_percent,
    retransmitted_percent, unfinished,
};

pub(super) const ABOUT: &str = "Switches that balance load and hosts that choose paths, under the same hosts and buffers. DCTCP hosts: TCP with \
     DCTCP, marks at 65 packets, RACK-TLP. Three dup-ACKs: the same with loss detection by duplicate acknowledgements. NewReno and MPTCP \
     (two subflows, LIA) have RACK-TLP and no marks; MPTCP-DCTCP has a DCTCP window for each subflow. Flowlet gap 100 us, probes each 200 us; headers of probes and shims take their share of \
     the links. The bound is one on the mean that no scheme can go below. What splits traffic evenly (ECMP, spraying and what hosts choose \
     without marks) offers a degraded link more than it carries: such a mean grows with the length of the run.";

/// Fabric, faults and traffic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Setup {
    /// The papers' fabric of two pods, 16 hosts a ToR.
    Whole,
    /// The same under MPTCP hosts of two interfaces; TCP hosts have one, and their rows are those
    /// of [`Setup::Whole`].
    TwoInterfaces,
    /// The same without one of eight links between core and aggregation.
    LinkDown,
    /// That link has a tenth of its rate.
    Degraded,
    /// That link loses one packet in a hundred.
    Lossy,
    /// All-to-all on a fat-tree of 128 hosts.
    FatTree,
    /// Each host of the fat-tree to one other.
    Permutation,
    /// All-to-all on a leaf-spine fabric oversubscribed 2 to 1.
    Oversubscribed,
    /// On that fabric, web search and requests that 20 hosts answer at once.
    Incast,
    /// On that fabric, one exchange of all hosts with all others.
    Collective,
}

impl Setup {
    const ALL: [Setup; 10] = [
        Setup::Whole,
        Setup::TwoInterfaces,
        Setup::LinkDown,
        Setup::Degraded,
        Setup::Lossy,
        Setup::FatTree,
        Setup::Permutation,
        Setup::Oversubscribed,
        Setup::Incast,
        Setup::Collective,
    ];

    pub(super) fn title(self) -> &'static str {
        match self {
            Setup::Whole => "two pods",
            Setup::TwoInterfaces => "two interfaces",
            Setup::LinkDown => "link down",
            Setup::Degraded => "link at a tenth",
            Setup::Lossy => "link loses 1 %",
            Setup::FatTree => "fat-tree",
            Setup::Permutation => "permutation",
            Setup::Oversubscribed => "2:1 leaf-spine",
            Setup::Incast => "incast beside web search",
            Setup::Collective => "all-to-all exchange",
        }
    }

    fn is_for(self, rival: Rival) -> bool {
        match self {
            Setup::TwoInterfaces => rival.hosts.has_subflows() && !rival.needs_leaf_spine(),
            Setup::Oversubscribed | Setup::Incast | Setup::Collective => true,
            _ => !rival.needs_leaf_spine(),
        }
    }

    /// Loads in percent: of 160 Gbps between the pods, else of the hosts' links; on the
    /// oversubscribed fabric three quarters of that leave the leaf by uplinks of half the rate, so
    /// that 50 % is 75 % of the uplinks.
    fn loads(self, effort: Effort) -> &'static [u8] {
        match (self, effort) {
            (Setup::Whole, Effort::Full) => &[40, 60, 80, 90],
            (Setup::Whole, _) => &[60, 80],
            (Setup::TwoInterfaces, Effort::Full) => &[60, 80, 90],
            (Setup::TwoInterfaces, _) => &[80],
            (Setup::LinkDown, Effort::Full) => &[45, 60],
            (Setup::LinkDown, _) => &[45],
            (Setup::Degraded | Setup::Incast, _) => &[40],
            (Setup::Lossy | Setup::FatTree | Setup::Permutation, _) => &[60],
            (Setup::Oversubscribed, _) => &[50],
            (Setup::Collective, _) => &[0],
        }
    }

    fn overrides(self, effort: Effort) -> Overrides {
        let flows = match effort {
            Effort::Demo => 100,
            Effort::Quick | Effort::Medium => 1_000,
            Effort::Full => 20_000,
        };
        let measured = ("measure.flows", flows.to_string());
        let mut overrides = self.fabric_and_traffic();
        // An exchange ends by itself.
        if self != Setup::Collective {
            overrides.push(measured);
        }
        overrides
    }

    fn fabric_and_traffic(self) -> Overrides {
        let two_pods = ("fabric.hosts_per_tor", "16".to_owned());
        let on = |fabric: &str, key, value: &str| {
            vec![("fabric", fabric.to_owned()), (key, value.to_owned())]
        };
        match self {
            Setup::Whole | Setup::TwoInterfaces => vec![two_pods],
            Setup::LinkDown => vec![two_pods, ("fabric.failed", format!("[\"{LINK}\"]"))],
            Setup::Degraded => {
                let link = format!(r#"[{{ between = "{LINK}", rate = "4Gbps" }}]"#);
                // ECMP offers the link four times what it carries: flows would pile up until the
                // last measured one ends.
                vec![two_pods, ("fabric.link", link), ("measure.time_limit", "1s".to_owned())]
            }
            Setup::Lossy => {
                let event = format!(r#"[{{ at = "1us", degrade = ["{LINK}"], loss = 0.01 }}]"#);
                vec![two_pods, ("event", event)]
            }
            Setup::FatTree => on(FAT_TREE, "workload.pattern", "all-to-all"),
            Setup::Permutation => on(FAT_TREE, "workload.pattern", "permutation"),
            Setup::Oversubscribed => on(LEAF_SPINE, "workload.pattern", "all-to-all"),
            Setup::Incast => on(LEAF_SPINE, "workload", WEB_AND_INCAST),
            Setup::Collective => {
                let measure = r#"{ probe_warm_up = "1ms", warm_up = "0s" }"#;
                let mut overrides = on(LEAF_SPINE, "workload", EXCHANGE);
                overrides.push(("measure", measure.to_owned()));
                overrides
            }
        }
    }
}

/// One of the links between core and aggregation.
const LINK: &str = "core-2 agg-4";
const LEAF_SPINE: &str = r#"{ kind = "leaf-spine", leaves = 4, spines = 4, hosts_per_leaf = 16, host_rate = "10Gbps", spine_rate = "20Gbps", parallel_links = 1, link_delay = "1us", port_buffer = "375KB", host_buffer = "10MB" }"#;
const WEB_AND_INCAST: &str = r#"[{ name = "web", kind = "flows", sizes = "websearch", pattern = "all-to-all", connections = "per-flow", load = 0.4 }, { name = "incast", kind = "flows", sizes = "fixed:20KB", pattern = "incast", senders = 20, connections = "per-flow", load = 0.02 }]"#;
const EXCHANGE: &str = r#"{ kind = "collective", operation = "all-to-all", size = "16MB" }"#;

/// Hosts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Hosts {
    /// DCTCP with RACK-TLP.
    Dctcp,
    /// DCTCP with three duplicate acknowledgements.
    DupAck,
    /// TCP without marks, with RACK-TLP.
    NewReno,
    /// MPTCP of two subflows, with RACK-TLP.
    Mptcp,
    /// The same with a DCTCP window for each subflow.
    MptcpDctcp,
}

impl Hosts {
    /// All of them.
    pub(super) const ALL: [Hosts; 5] =
        [Hosts::Dctcp, Hosts::DupAck, Hosts::NewReno, Hosts::Mptcp, Hosts::MptcpDctcp];

    /// The name in identifiers of plots.
    pub(super) fn name(self) -> &'static str {
        match self {
            Hosts::Dctcp => "dctcp",
            Hosts::DupAck => "dctcp-dup-acks",
            Hosts::NewReno => "newreno",
            Hosts::Mptcp => "mptcp",
            Hosts::MptcpDctcp => "mptcp-dctcp",
        }
    }

    pub(super) fn title(self) -> &'static str {
        match self {
            Hosts::Dctcp => "DCTCP",
            Hosts::DupAck => "DCTCP, 3 dup-ACKs",
            Hosts::NewReno => "NewReno",
            Hosts::Mptcp => "MPTCP",
            Hosts::MptcpDctcp => "MPTCP-DCTCP",
        }
    }

    fn has_subflows(self) -> bool {
        matches!(self, Hosts::Mptcp | Hosts::MptcpDctcp)
    }

    fn overrides(self, setup: Setup) -> Overrides {
        let two = setup == Setup::TwoInterfaces;
        let (interfaces, window) = if two { ("2", "256KB") } else { ("1", "128KB") };
        let kind = match self {
            Hosts::Dctcp => r#"kind = "tcp", control = "dctcp", loss_detection = "rack""#,
            Hosts::DupAck => r#"kind = "tcp", control = "dctcp""#,
            Hosts::NewReno => r#"kind = "tcp", loss_detection = "rack""#,
            Hosts::Mptcp => r#"kind = "mptcp", coupling = "lia", loss_detection = "rack""#,
            Hosts::MptcpDctcp => {
                r#"kind = "mptcp", coupling = "uncoupled", control = "dctcp", loss_detection = "rack""#
            }
        };
        let transport = format!(
            r#"{{ {kind}, initial_window = 10, min_rto = "10ms", receive_window = "{window}" }}"#
        );
        vec![("transport", transport), ("fabric.interfaces", interfaces.to_owned())]
    }
}

/// Path selection, by switches or by hosts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum PathSelection {
    /// ECMP.
    Ecmp,
    /// Flowlets at random.
    LetItFlow,
    /// Flowlets by the leaves' measurements; of leaf-spine fabrics alone.
    Conga,
    /// Two random queues and the last best, each packet.
    Drill,
    /// The shortest queue, while nothing is in flight.
    Flowcut,
    /// Switches spray packets.
    Spray,
    /// HULA.
    Hula,
    /// MP-HULA.
    MpHula,
    /// Shuttle.
    Shuttle,
    /// Hosts that change a flow's path when it is marked.
    FlowBender,
    /// As Linux has it.
    Plb,
    /// Hosts that spray and recycle entropies.
    Reps,
}

impl PathSelection {
    /// True if hosts select the paths, over switches with ECMP.
    pub(super) fn is_by_hosts(self) -> bool {
        matches!(self, PathSelection::FlowBender | PathSelection::Plb | PathSelection::Reps)
    }

    pub(super) fn title(self) -> &'static str {
        match self {
            PathSelection::Ecmp => "ECMP",
            PathSelection::LetItFlow => "LetItFlow",
            PathSelection::Conga => "CONGA",
            PathSelection::Drill => "DRILL",
            PathSelection::Flowcut => "Flowcut",
            PathSelection::Spray => "spraying",
            PathSelection::Hula => "HULA",
            PathSelection::MpHula => "MP-HULA",
            PathSelection::Shuttle => "Shuttle",
            PathSelection::FlowBender => "FlowBender",
            PathSelection::Plb => "PLB",
            PathSelection::Reps => "REPS",
        }
    }

    fn overrides(self) -> Overrides {
        let scheme = match self {
            PathSelection::Ecmp
            | PathSelection::FlowBender
            | PathSelection::Plb
            | PathSelection::Reps => "ecmp",
            PathSelection::LetItFlow => r#"{ kind = "letitflow", flowlet_gap = "100us" }"#,
            PathSelection::Conga => r#"{ kind = "conga", flowlet_gap = "100us" }"#,
            PathSelection::Drill => "drill",
            PathSelection::Flowcut => "flowcut",
            PathSelection::Spray => "spray",
            PathSelection::Hula => r#"{ kind = "hula", flowlet_gap = "100us" }"#,
            PathSelection::MpHula => r#"{ kind = "mp-hula", flowlet_gap = "100us" }"#,
            PathSelection::Shuttle => r#"{ kind = "shuttle", flowlet_gap = "100us" }"#,
        };
        let entropy = match self {
            PathSelection::FlowBender => "flowbender",
            PathSelection::Plb => "plb",
            PathSelection::Reps => "reps",
            _ => "flow",
        };
        vec![("scheme", scheme.to_owned()), ("entropy", entropy.to_owned())]
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

impl Rival {
    /// True if its scheme runs on leaf-spine fabrics alone.
    fn needs_leaf_spine(self) -> bool {
        self.selection == PathSelection::Conga
    }
}

const RIVALS: [(Hosts, &[PathSelection]); 5] = [
    (
        Hosts::Dctcp,
        &[
            PathSelection::Ecmp,
            PathSelection::LetItFlow,
            PathSelection::Conga,
            PathSelection::Drill,
            PathSelection::Flowcut,
            PathSelection::Spray,
            PathSelection::Hula,
            PathSelection::Shuttle,
            PathSelection::FlowBender,
            PathSelection::Plb,
            PathSelection::Reps,
        ],
    ),
    (Hosts::DupAck, &[PathSelection::Drill, PathSelection::Spray, PathSelection::Reps]),
    (Hosts::NewReno, &[PathSelection::Ecmp, PathSelection::Spray, PathSelection::Hula]),
    (
        Hosts::Mptcp,
        &[PathSelection::Ecmp, PathSelection::Hula, PathSelection::MpHula, PathSelection::Shuttle],
    ),
    (Hosts::MptcpDctcp, &[PathSelection::Hula, PathSelection::MpHula, PathSelection::Shuttle]),
];

pub(super) fn points(effort: Effort) -> Vec<Point> {
    let rivals: Vec<Rival> = RIVALS
        .into_iter()
        .flat_map(|(hosts, selections)| {
            selections.iter().map(move |&selection| Rival { hosts, selection })
        })
        .collect();
    let setups: &[Setup] = match effort {
        Effort::Demo => &[Setup::LinkDown],
        Effort::Quick | Effort::Medium | Effort::Full => &Setup::ALL,
    };
    let at = |&setup: &Setup| {
        let loads = setup.loads(effort).iter();
        let rivals = &rivals;
        loads.flat_map(move |&load| {
            let rivals = rivals.iter().filter(move |rival| setup.is_for(**rival));
            rivals.map(move |&rival| Point::Rivals { setup, load, rival })
        })
    };
    setups.iter().flat_map(at).collect()
}

pub(super) fn setting(setup: Setup, rival: Rival) -> String {
    format!("{}: {}, {}", setup.title(), rival.hosts.title(), rival.selection.title())
}

pub(super) fn overrides(effort: Effort, setup: Setup, rival: Rival) -> Overrides {
    let mut overrides = setup.overrides(effort);
    overrides.extend(rival.hosts.overrides(setup));
    overrides.extend(rival.selection.overrides());
    overrides
}

pub(super) const COLUMNS: &[Column] = &[
    Column::millis("fct_mean", "mean FCT", mean_all),
    Column::plain("bound_ratio", "x bound", bound_ratio),
    Column::millis("fct_p99", "p99", p99_all),
    Column::millis("fct_mean_small", "< 100 KB", mean_small),
    Column::millis("fct_mean_large", "> 10 MB", mean_large),
    Column::percent("reordered", "reordered", reordered_percent),
    Column::percent("retransmitted", "retransmitted", retransmitted_percent),
    Column::count("unfinished", "unfinished", unfinished),
];

#[cfg(test)]
mod tests {
    use super::*;
    use heddle_scenario::{Entropy, Scheme};
    use heddle_study::point::Point as _;

    fn scenario(setup: Setup, rival: Rival) -> heddle_scenario::Scenario {
        let load = setup.loads(Effort::Quick)[0];
        Point::Rivals { setup, load, rival }.scenario(Effort::Quick).unwrap()
    }

    #[test]
    fn hosts_that_choose_paths_have_plain_switches() {
        let reps = Rival { hosts: Hosts::Dctcp, selection: PathSelection::Reps };
        let scenario = scenario(Setup::Whole, reps);
        assert_eq!(scenario.scheme, Scheme::Ecmp);
        assert!(matches!(scenario.entropy, Entropy::Reps(_)));
    }

    #[test]
    fn only_mptcp_hosts_have_two_interfaces() {
        let interfaces =
            |point: Point| point.scenario(Effort::Quick).unwrap().fabric.graph.interfaces();
        for point in points(Effort::Quick) {
            let Point::Rivals { setup, rival, .. } = point else { unreachable!() };
            let expected = if setup == Setup::TwoInterfaces { 2 } else { 1 };
            assert_eq!(interfaces(point), expected, "{}", point.label());
            assert!(expected == 1 || rival.hosts.has_subflows());
        }
    }

    /// Equal rows would look like two results.
    #[test]
    fn no_two_points_are_the_same_scenario() {
        let scenarios: Vec<_> = points(Effort::Quick)
            .into_iter()
            .map(|point| (point, point.scenario(Effort::Quick).unwrap()))
            .collect();
        for (i, (point, scenario)) in scenarios.iter().enumerate() {
            let same = |(_, other): &&(Point, heddle_scenario::Scenario)| {
                let untitled =
                    heddle_scenario::Scenario { title: scenario.title.clone(), ..other.clone() };
                untitled == *scenario
            };
            let twin = scenarios[i + 1..].iter().find(same);
            assert!(twin.is_none(), "{}: {}", point.label(), twin.unwrap().0.label());
        }
    }
}
