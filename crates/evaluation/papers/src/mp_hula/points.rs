//! Points of MP-HULA's evaluation: the paper's scenario file with a system, a load, a fabric, a
//! workload.

use heddle_scenario::Source;

use crate::two_pod::{Shape, Sizes, time_limit};
use heddle_claims::Effort;

/// Scheme of the switches under MPTCP.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Routing {
    /// ECMP.
    Ecmp,
    /// HULA.
    Hula,
    /// MP-HULA.
    MpHula,
}

/// Coupling of the congestion windows of a connection's two subflows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Coupling {
    /// Linked increases (RFC 6356).
    Coupled,
    /// Not at all.
    Uncoupled,
}

/// Hosts and switches together, as the figures name them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum System {
    /// TCP over ECMP.
    TcpEcmp,
    /// TCP over HULA.
    TcpHula,
    /// MPTCP of two subflows.
    Mptcp(Coupling, Routing),
    /// TCP over one big switch.
    Ideal,
}

impl System {
    /// Every system with MPTCP of one coupling, in the order of legends.
    pub fn all(coupling: Coupling) -> [System; 6] {
        let mptcp = |routing| System::Mptcp(coupling, routing);
        [
            System::TcpEcmp,
            System::TcpHula,
            mptcp(Routing::Ecmp),
            mptcp(Routing::Hula),
            mptcp(Routing::MpHula),
            System::Ideal,
        ]
    }

    /// Its name in tables and legends, where the coupling is the figure's.
    pub fn title(self) -> &'static str {
        match self {
            System::TcpEcmp => "TCP + ECMP",
            System::TcpHula => "TCP + HULA",
            System::Mptcp(_, Routing::Ecmp) => "MPTCP + ECMP",
            System::Mptcp(_, Routing::Hula) => "MPTCP + HULA",
            System::Mptcp(_, Routing::MpHula) => "MPTCP + MP-HULA",
            System::Ideal => "Ideal",
        }
    }

    fn label(self) -> String {
        let coupling = match self {
            System::Mptcp(Coupling::Uncoupled, _) => ", uncoupled",
            _ => "",
        };
        format!("{}{coupling}", self.title())
    }

    /// The keys of a scenario file with coupled MPTCP and MP-HULA that make it this system.
    pub(crate) fn overrides(self) -> Vec<(&'static str, &'static str)> {
        let (transport, scheme) = match self {
            System::TcpEcmp => (Some(("transport", TCP)), Some("ecmp")),
            System::TcpHula => (Some(("transport", TCP)), Some(HULA)),
            System::Ideal => (Some(("transport", TCP)), Some("ideal")),
            System::Mptcp(coupling, routing) => (coupling.overrides(), routing.overrides()),
        };
        transport.into_iter().chain(scheme.map(|scheme| ("scheme", scheme))).collect()
    }

    /// True if a change of a dotted key means anything to it.
    pub(super) fn takes(self, key: &str) -> bool {
        let routing = match self {
            System::TcpHula | System::Mptcp(_, Routing::Hula) => Routing::Hula,
            System::Mptcp(_, Routing::MpHula) => Routing::MpHula,
            _ => Routing::Ecmp,
        };
        match key {
            "transport.join"
            | "transport.scheduler"
            | "transport.subflows"
            | "transport.version"
            | "fabric.interfaces" => {
                matches!(self, System::Mptcp(..))
            }
            // A change of the whole scheme is one of ECMP's hash.
            "scheme" => routing == Routing::Ecmp && self != System::Ideal,
            "scheme.best_k" | "scheme.long_flows" => routing == Routing::MpHula,
            _ => !key.starts_with("scheme.") || routing != Routing::Ecmp,
        }
    }
}

/// As the files have MP-HULA.
pub(crate) const HULA: &str = r#"{ kind = "hula", probe_period = "200us", flowlet_gap = "100us" }"#;
/// As the files have MPTCP's subflows.
pub(crate) const TCP: &str = r#"{ kind = "tcp", control = "newreno", initial_window = 10, min_rto = "10ms", receive_window = "128KB" }"#;

impl Coupling {
    fn overrides(self) -> Option<(&'static str, &'static str)> {
        match self {
            Coupling::Coupled => None,
            Coupling::Uncoupled => Some(("transport.coupling", "uncoupled")),
        }
    }
}

impl Routing {
    fn overrides(self) -> Option<&'static str> {
        match self {
            Routing::Ecmp => Some("ecmp"),
            Routing::Hula => Some(HULA),
            Routing::MpHula => None,
        }
    }
}

/// One point of a figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Point {
    /// The fabric.
    pub shape: Shape,
    /// The workload.
    pub sizes: Sizes,
    /// The system.
    pub system: System,
    /// Load in percent of 160 Gbps.
    pub load: u8,
}

impl heddle_study::point::Point for Point {
    fn label(&self) -> String {
        let Point { shape, sizes, system, load } = self;
        format!("{} {} {load} % {}", shape.name(), sizes.name(), system.label())
    }

    fn load(&self) -> u8 {
        self.load
    }

    fn takes(&self, key: &str) -> bool {
        self.system.takes(key)
    }

    /// Figure 5's file with this point's overrides.
    fn source(&self, effort: Effort) -> Source {
        let source = Source::new("mp-hula-fig5.toml", FIGURE_5)
            .with("title", format!("MP-HULA: {}", self.label()))
            .with("workload.sizes", self.sizes.name())
            .with("workload.load", self.load_text())
            .with("measure.warm_up", warm_up(effort))
            .with("measure.flows", flows(effort, self.sizes).to_string())
            .with("measure.time_limit", time_limit(effort))
            .with("measure.sample_every", "100us");
        let overrides = self.shape.overrides().iter().copied().chain(self.system.overrides());
        overrides.fold(source, |source, (key, value)| source.with(key, value))
    }
}

pub(crate) const FIGURE_5: &str = include_str!("../../../../../scenarios/mp-hula-fig5.toml");

/// Flows that one run measures.
pub(crate) fn flows(effort: Effort, sizes: Sizes) -> u64 {
    match (effort, sizes) {
        (Effort::Demo, _) => 300,
        (Effort::Quick | Effort::Medium, Sizes::WebSearch) => 3_000,
        (Effort::Quick | Effort::Medium, Sizes::DataMining) => 300,
        (Effort::Full, Sizes::WebSearch) => 20_000,
        (Effort::Full, Sizes::DataMining) => 10_000,
    }
}

/// Time before flows are measured: with a connection for each flow nothing but queues and windows has
/// to settle.
fn warm_up(effort: Effort) -> &'static str {
    match effort {
        Effort::Demo => "20ms",
        Effort::Quick | Effort::Medium | Effort::Full => "100ms",
    }
}

/// A figure with curves over the load: its number, fabric, workload and MPTCP's coupling.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Figure {
    /// Its numbers in the paper.
    pub number: &'static str,
    /// The fabric.
    pub shape: Shape,
    /// The workload.
    pub sizes: Sizes,
    /// Of MPTCP's subflows.
    pub coupling: Coupling,
    /// Loads of its curves in a quick evaluation, in percent.
    quick: &'static [u8],
}

/// The paper's figures of flow completion times.
pub const FIGURES: [Figure; 4] = [
    Figure {
        number: "5 and 6",
        shape: Shape::Symmetric,
        sizes: Sizes::WebSearch,
        coupling: Coupling::Coupled,
        quick: &[30, 50, 70, 90],
    },
    Figure {
        number: "7",
        shape: Shape::Symmetric,
        sizes: Sizes::WebSearch,
        coupling: Coupling::Uncoupled,
        quick: &[50, 80],
    },
    Figure {
        number: "8",
        shape: Shape::Asymmetric,
        sizes: Sizes::WebSearch,
        coupling: Coupling::Coupled,
        quick: &[50, 60],
    },
    Figure {
        number: "10",
        shape: Shape::Symmetric,
        sizes: Sizes::DataMining,
        coupling: Coupling::Coupled,
        quick: &[80],
    },
];

impl Figure {
    /// Loads of its curves, in percent.
    fn loads(self, effort: Effort) -> &'static [u8] {
        match effort {
            Effort::Demo => &[50],
            Effort::Quick | Effort::Medium => self.quick,
            Effort::Full => &[10, 20, 30, 40, 50, 60, 70, 80, 90],
        }
    }

    fn points(self, effort: Effort) -> impl Iterator<Item = Point> {
        let Figure { shape, sizes, coupling, .. } = self;
        let at = move |&load: &u8| {
            System::all(coupling).map(|system| Point { shape, sizes, system, load })
        };
        self.loads(effort).iter().flat_map(at)
    }
}

/// Every curve of the figures.
pub(super) fn curves(effort: Effort) -> Vec<Point> {
    FIGURES.into_iter().flat_map(|figure| figure.points(effort)).collect()
}

#[cfg(test)]
mod tests {
    use heddle_scenario::{Scheme, Transport};

    use super::*;
    use heddle_study::point::Point as _;

    #[test]
    fn every_point_loads() {
        for effort in [Effort::Demo, Effort::Quick, Effort::Medium, Effort::Full] {
            for point in curves(effort) {
                point.scenario(effort).unwrap_or_else(|error| panic!("{}: {error}", point.label()));
            }
        }
    }

    /// Settings of MPTCP's subflows in figure 5's file hold for TCP too.
    #[test]
    fn systems_differ_in_what_they_name_alone() {
        for system in System::all(Coupling::Uncoupled) {
            let point =
                Point { shape: Shape::Symmetric, sizes: Sizes::WebSearch, system, load: 50 };
            let scenario = point.scenario(Effort::Quick).unwrap();
            let (tcp, mptcp) = match (&scenario.transport, system) {
                (Transport::Tcp(tcp), System::TcpEcmp | System::TcpHula | System::Ideal) => {
                    (tcp, None)
                }
                (Transport::Mptcp(mptcp), System::Mptcp(..)) => (&mptcp.tcp, Some(mptcp)),
                (other, system) => panic!("{system:?}: {other:?}"),
            };
            assert_eq!(tcp.min_rto, heddle_units::Time::millis(10));
            assert_eq!(tcp.receive_window, heddle_units::Bytes::kb(128));
            assert!(mptcp.is_none_or(|mptcp| mptcp.subflows == 2));
            let best_k = match scenario.scheme {
                Scheme::MpHula(scheme) => scheme.tables.best_k,
                _ => 1,
            };
            let is_mp_hula = matches!(system, System::Mptcp(_, Routing::MpHula));
            assert_eq!(best_k, if is_mp_hula { 2 } else { 1 });
        }
    }
}
