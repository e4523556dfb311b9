//! Numbers of best hops in a switch and of subflows in a connection, in a fabric with more paths
//! than in the paper's fabric: four next hops at each ToR and aggregation switch, 16 paths between
//! pods.

use super::{Column, Overrides, Point};
use crate::mp_hula::points::{HULA, TCP, flows};
use crate::two_pod::Sizes;
use heddle_claims::Effort;
use heddle_study::metric::{
    mean_all, mean_large, mean_paths, mean_small, p99_all, reordered_percent, shared_link_percent,
};

pub(super) const ABOUT: &str = "Web search on a k = 8 fat-tree of 128 hosts, all links at 10 Gbps, any host to any other, coupled \
     MPTCP; k is the number of best hops.";

/// The switches' scheme.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Routing {
    /// ECMP.
    Ecmp,
    /// HULA.
    Hula,
    /// MP-HULA with so many best hops.
    MpHula(u8),
}

impl Routing {
    /// Its name in legends.
    pub fn title(self) -> String {
        match self {
            Routing::Ecmp => "ECMP".to_owned(),
            Routing::Hula => "HULA".to_owned(),
            Routing::MpHula(k) => format!("MP-HULA k = {k}"),
        }
    }
}

/// All-to-all load of the hosts' links. A flow can fill a link of the fabric, so that collisions
/// cost at low loads already.
const LOADS: [u8; 2] = [40, 60];

pub(super) fn points(effort: Effort) -> Vec<Point> {
    let (loads, subflows): (&[u8], &[u8]) = match effort {
        Effort::Demo => (&LOADS[..1], &[2]),
        Effort::Quick | Effort::Medium => (&LOADS[..1], &[2, 4, 8]),
        Effort::Full => (&LOADS, &[2, 3, 4, 6, 8]),
    };
    let mptcp = [Routing::Ecmp, Routing::Hula].into_iter().chain((1..=4).map(Routing::MpHula));
    let mptcp = mptcp.flat_map(|routing| subflows.iter().map(move |&n| (routing, n)));
    let settings: Vec<(Routing, u8)> =
        [(Routing::Ecmp, 1), (Routing::Hula, 1)].into_iter().chain(mptcp).collect();
    let at = |&load: &u8| {
        let point = move |&(routing, subflows)| Point::Paths { load, routing, subflows };
        settings.iter().map(point).collect::<Vec<_>>()
    };
    loads.iter().flat_map(at).collect()
}

pub(super) fn setting(routing: Routing, subflows: u8) -> String {
    let routing = routing.title();
    match subflows {
        1 => format!("TCP, {routing}"),
        n => format!("MPTCP x {n}, {routing}"),
    }
}

/// A k = 8 fat-tree, 128 hosts.
const FAT_TREE: &str = r#"{ kind = "fat-tree", k = 8, rate = "10Gbps", link_delay = "1us", port_buffer = "375KB", host_buffer = "10MB" }"#;

pub(super) fn overrides(effort: Effort, routing: Routing, subflows: u8) -> Overrides {
    let flows = match effort {
        Effort::Quick | Effort::Medium => 2_000,
        effort => flows(effort, Sizes::WebSearch),
    };
    let transport = match subflows {
        1 => ("transport", TCP.to_owned()),
        n => ("transport.subflows", n.to_string()),
    };
    let scheme = match routing {
        Routing::Ecmp => ("scheme", "ecmp".to_owned()),
        Routing::Hula => ("scheme", HULA.to_owned()),
        Routing::MpHula(k) => ("scheme.best_k", k.to_string()),
    };
    let fabric = ("fabric", FAT_TREE.to_owned());
    let pattern = ("workload.pattern", "all-to-all".to_owned());
    let sampled = ("measure.sample_every", "100us".to_owned());
    vec![fabric, pattern, transport, scheme, sampled, ("measure.flows", flows.to_string())]
}

pub(super) const COLUMNS: &[Column] = &[
    Column::millis("fct_mean", "mean FCT", mean_all),
    Column::millis("fct_p99", "p99", p99_all),
    Column::millis("fct_mean_small", "< 100 KB", mean_small),
    Column::millis("fct_mean_large", "> 10 MB", mean_large),
    Column::percent("shared_link", "shared a link", shared_link_percent),
    Column::plain("paths", "paths in use", mean_paths),
    Column::percent("reordered", "reordered", reordered_percent),
];
