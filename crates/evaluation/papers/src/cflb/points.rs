//! Points of CFLB's evaluation: the permutation of long flows, over a fabric, with so many subflows
//! (section 4.2.1).

use heddle_scenario::Source;
use serde::Serialize;

use heddle_claims::Effort;

/// A fabric of about 128 hosts with links of 100 Mbps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Network {
    /// The paper's: a fat-tree of 8-port switches, 128 hosts.
    FatTree,
    /// VL2, whose links between switches have ten times the rate: 120 hosts.
    Vl2,
    /// BCube of 5-port switches and three levels: 125 servers with three links each.
    Bcube,
}

impl Network {
    /// Every fabric.
    pub const ALL: [Network; 3] = [Network::FatTree, Network::Vl2, Network::Bcube];

    /// Its name in titles.
    pub fn title(self) -> &'static str {
        match self {
            Network::FatTree => "Fat-tree",
            Network::Vl2 => "VL2",
            Network::Bcube => "BCube",
        }
    }

    /// Rate at which its hosts can send together, in bits per second: each has a path of its own to
    /// its receiver.
    pub fn capacity(self) -> f64 {
        match self {
            Network::FatTree => 128.0 * 100e6,
            Network::Vl2 => 120.0 * 100e6,
            Network::Bcube => 125.0 * 300e6,
        }
    }

    fn fabric(self) -> Option<&'static str> {
        match self {
            Network::FatTree => None,
            Network::Vl2 => Some(
                r#"{ kind = "vl2", aggregation_ports = 12, intermediate_ports = 4, hosts_per_tor = 10, host_rate = "100Mbps", switch_rate = "1Gbps", link_delay = "10us", port_buffer = "1MB", port_packets = 100, host_buffer = "3MB", host_packets = 1000 }"#,
            ),
            Network::Bcube => Some(
                r#"{ kind = "bcube", ports = 5, levels = 2, rate = "100Mbps", link_delay = "10us", port_buffer = "1MB", port_packets = 100, host_buffer = "3MB", host_packets = 1000 }"#,
            ),
        }
    }
}

/// Choice of the paths of subflows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Choice {
    /// ECMP's hash.
    Hash,
    /// The scheduler, by CFLB.
    Scheduler,
    /// None: one big switch, the most that these hosts can get.
    Ideal,
}

impl Choice {
    /// Those that the paper compares.
    pub const COMPARED: [Choice; 2] = [Choice::Hash, Choice::Scheduler];
    /// All.
    pub const ALL: [Choice; 3] = [Choice::Hash, Choice::Scheduler, Choice::Ideal];

    /// Its name in tables and legends.
    pub fn title(self) -> &'static str {
        match self {
            Choice::Hash => "MPTCP + ECMP",
            Choice::Scheduler => "MPTCP-CFLB",
            Choice::Ideal => "Ideal",
        }
    }
}

/// One bar of the figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Point {
    /// The fabric.
    pub network: Network,
    /// Choice of the paths.
    pub choice: Choice,
    /// Subflows of each connection.
    pub subflows: u8,
}

/// Subflows of the paper's bars.
pub const SUBFLOWS: [u8; 8] = [1, 2, 3, 4, 5, 6, 7, 8];

impl heddle_study::point::Point for Point {
    fn label(&self) -> String {
        let Point { network, choice, subflows } = self;
        format!("{} {} {subflows} subflows", network.title(), choice.title())
    }

    /// Each host sends as fast as it can.
    fn load(&self) -> u8 {
        100
    }

    fn takes(&self, key: &str) -> bool {
        self.choice == Choice::Scheduler || !key.starts_with("scheme.")
    }

    /// Figure 9's file with this point's overrides.
    fn source(&self, effort: Effort) -> Source {
        let (warm_up, duration) = match effort {
            Effort::Demo => ("200ms", "300ms"),
            Effort::Quick | Effort::Medium => ("2s", "1s"),
            Effort::Full => ("5s", "10s"),
        };
        let mut source = Source::new("cflb-fig9-permutation.toml", FIGURE_9)
            .with("title", format!("CFLB: {}", heddle_study::point::Point::label(self)))
            .with("transport.subflows", self.subflows.to_string())
            .with("measure.warm_up", warm_up)
            .with("measure.duration", duration);
        if let Some(fabric) = self.network.fabric() {
            source = source.with("fabric", fabric);
        }
        match self.choice {
            Choice::Hash => source.with("scheme", "ecmp"),
            Choice::Scheduler => source,
            Choice::Ideal => source.with("scheme", "ideal"),
        }
    }
}

const FIGURE_9: &str = include_str!("../../../../../scenarios/cflb-fig9-permutation.toml");

/// The bars: the paper's fabric; "similar results have been observed on other data center
/// topologies such as VL2 and BCube".
pub fn bars(effort: Effort) -> Vec<Point> {
    let subflows: &[u8] = match effort {
        Effort::Demo => &[1, 2],
        Effort::Quick | Effort::Medium => &[1, 2, 4, 8],
        Effort::Full => &SUBFLOWS,
    };
    let points_of = |network: Network| {
        let subflows = if network == Network::FatTree && effort != Effort::Demo {
            &SUBFLOWS
        } else {
            subflows
        };
        subflows.iter().flat_map(move |&subflows| {
            Choice::ALL.map(|choice| Point { network, choice, subflows })
        })
    };
    Network::ALL.into_iter().flat_map(points_of).collect()
}
