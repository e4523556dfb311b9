//! Fabrics, faults and traffic of the rivals.

use super::PathSelection;
use crate::studies::Overrides;
use heddle_claims::Effort;

/// Fabric, faults and traffic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Setup {
    /// Each of 128 hosts sends 2 MB to one other, all at once.
    Permutation,
    /// The same with a link between core and aggregation dead from 100 us on, which routing does not
    /// learn in time.
    DeadLink,
    /// Web search between all hosts of a leaf-spine fabric.
    Web,
    /// The permutation with that link at a quarter of its rate.
    SlowLink,
    /// 32 hosts send 2 MB each to one at once.
    Incast,
    /// Web search with a link at a quarter of its rate.
    WebSlowLink,
    /// A ring all-reduce of so many hosts; neighbours of the ring are in other pods.
    Ring(u8),
    /// All-to-all of so many hosts.
    AllToAll(u8),
    /// Web search of hosts with one link to each of so many planes, which share the host's rate.
    WebPlanes(u8),
}

impl Setup {
    const ALL: [Setup; 12] = [
        Setup::Permutation,
        Setup::DeadLink,
        Setup::Web,
        Setup::SlowLink,
        Setup::Incast,
        Setup::WebSlowLink,
        Setup::Ring(64),
        Setup::Ring(128),
        Setup::AllToAll(64),
        Setup::AllToAll(128),
        Setup::WebPlanes(2),
        Setup::WebPlanes(4),
    ];

    pub(super) fn of(effort: Effort) -> &'static [Setup] {
        match effort {
            Effort::Demo => &[Setup::Permutation],
            Effort::Quick => &[Setup::Permutation, Setup::DeadLink, Setup::Web],
            Effort::Medium | Effort::Full => &Setup::ALL,
        }
    }

    pub(in crate::studies) fn title(self) -> &'static str {
        match self {
            Setup::Permutation => "permutation",
            Setup::SlowLink => "permutation, slow link",
            Setup::DeadLink => "permutation, dead link",
            Setup::Incast => "incast of 32",
            Setup::Ring(64) => "ring of 64",
            Setup::Ring(_) => "ring of 128",
            Setup::AllToAll(64) => "all-to-all of 64",
            Setup::AllToAll(_) => "all-to-all of 128",
            Setup::Web => "web search",
            Setup::WebSlowLink => "web search, slow link",
            Setup::WebPlanes(2) => "web search, two planes",
            Setup::WebPlanes(_) => "web search, four planes",
        }
    }

    /// Links of each host.
    pub(super) fn planes(self) -> u8 {
        match self {
            Setup::WebPlanes(planes) => planes,
            _ => 1,
        }
    }

    /// CFLB's senders have one interface.
    pub(super) fn is_for(self, selection: PathSelection) -> bool {
        selection != PathSelection::Cflb || self.planes() == 1
    }

    /// Loads of the hosts' links in percent; 0 where all starts at once.
    pub(super) fn loads(self) -> &'static [u8] {
        match self {
            Setup::Web => &[60, 80],
            Setup::WebSlowLink | Setup::WebPlanes(_) => &[60],
            _ => &[0],
        }
    }

    pub(super) fn overrides(self, effort: Effort, load: &str) -> Overrides {
        let fabric = ("fabric", self.fabric());
        let (workload, measure) = self.traffic(effort, load);
        let mut overrides = vec![fabric, ("workload", workload), ("measure", measure)];
        overrides.extend(self.fault());
        overrides
    }

    /// Buffers and marks are the public uet-htsim's for these round trips.
    fn fabric(self) -> String {
        let shape = match self {
            Setup::Web | Setup::WebSlowLink | Setup::WebPlanes(_) => leaf_spine(self.planes()),
            _ => r#"kind = "fat-tree", k = 8, rate = "100Gbps""#.to_owned(),
        };
        format!("{{ {shape}, {PORTS} }}")
    }

    fn fault(self) -> Overrides {
        match self {
            Setup::SlowLink => vec![("fabric.link", slow("core-1 agg-1"))],
            Setup::WebSlowLink => vec![("fabric.link", slow("leaf-1 spine-1"))],
            Setup::DeadLink => {
                let event = r#"[{ at = "1100us", fail = ["core-1 agg-1"] }]"#;
                vec![("fabric.convergence", "1s".to_owned()), ("event", event.to_owned())]
            }
            _ => Vec::new(),
        }
    }

    fn traffic(self, effort: Effort, load: &str) -> (String, String) {
        // TCP on a dead path does not end.
        let at_once = r#"{ probe_warm_up = "1ms", warm_up = "0s", time_limit = "50ms" }"#;
        let workload = match self {
            Setup::Permutation | Setup::SlowLink | Setup::DeadLink => {
                format!(r#"{{ kind = "replay", file = "{PERMUTATION}" }}"#)
            }
            Setup::Incast => {
                let measure = r#"{ probe_warm_up = "1ms", warm_up = "0s", flows = 32 }"#;
                return (INCAST.to_owned(), measure.to_owned());
            }
            Setup::Ring(hosts) => collective("ring-all-reduce", hosts, 17),
            Setup::AllToAll(hosts) => collective("all-to-all", hosts, 1),
            Setup::Web | Setup::WebSlowLink | Setup::WebPlanes(_) => {
                return (web(load), measured(effort));
            }
        };
        (workload, at_once.to_owned())
    }
}

/// The pairs of the permutation.
pub(in crate::studies) const PERMUTATION: &str = "permutation-128.csv";
/// The file of that name.
pub(in crate::studies) const PERMUTATION_FLOWS: &str =
    include_str!("../../../../../../scenarios/flows/permutation-128.csv");

const PORTS: &str = r#"link_delay = "1us", control_first = true, port_buffer = "180KB", red = { min = "37KB", max = "145KB", probability = 1.0, weight = 1.0, on_departure = true }"#;
/// One request: the load lets no second one come in time.
const INCAST: &str = r#"{ kind = "flows", sizes = "fixed:2MB", pattern = "incast", senders = 32, connections = "per-flow", load = 0.001 }"#;

fn slow(link: &str) -> String {
    format!(r#"[{{ between = "{link}", rate = "25Gbps" }}]"#)
}

/// 16 hosts of 100 Gbps below four leaves, which have a link to each of four spines; with planes
/// four leaves in each, and at least two spines.
fn leaf_spine(planes: u8) -> String {
    let (leaves, hosts, host_rate) = (4 * planes, 4 / planes, 100 / planes);
    let spines = (2 * planes).max(4);
    let spine_rate = 400 / u16::from(spines);
    format!(
        r#"kind = "leaf-spine", leaves = {leaves}, spines = {spines}, hosts_per_leaf = {hosts}, planes = {planes}, tors_per_host = {planes}, host_rate = "{host_rate}Gbps", spine_rate = "{spine_rate}Gbps", parallel_links = 1"#
    )
}

/// Of the first hosts, each rank `stride` hosts after the one before it.
fn collective(operation: &str, hosts: u8, stride: u32) -> String {
    let count = u32::from(hosts);
    let ranks = (0..count).map(|rank| format!("\"host-{}\"", rank * stride % count + 1));
    let ranks = ranks.collect::<Vec<_>>().join(", ");
    format!(
        r#"{{ kind = "collective", operation = "{operation}", size = "2MB", hosts = [{ranks}] }}"#
    )
}

fn web(load: &str) -> String {
    format!(
        r#"{{ kind = "flows", sizes = "websearch", pattern = "all-to-all", connections = "per-flow", load = {load} }}"#
    )
}

fn measured(effort: Effort) -> String {
    let flows = match effort {
        Effort::Demo => 50,
        Effort::Quick | Effort::Medium => 300,
        Effort::Full => 20_000,
    };
    format!(
        r#"{{ probe_warm_up = "1ms", warm_up = "1ms", flows = {flows}, time_limit = "300ms" }}"#
    )
}
