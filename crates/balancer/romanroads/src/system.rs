//! The systems that are compared.

use serde::Serialize;

/// A system that balances the connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum System {
    /// A balancer that knows no MPTCP: the paper's TCPLB (mode off).
    Tcp,
    /// Learning where each balancer is alone with what it learns: the paper's P3.
    Alone,
    /// As published: balancers assign keys, a token's owner keeps its joins, no other balancer
    /// knows (mode assign, version 0).
    Published,
    /// Heddle: learning, answers, owners of flows, refresh (mode learn, version 1).
    Learn,
}

impl System {
    /// Its name in tables and plots.
    pub(crate) const fn title(self) -> &'static str {
        match self {
            System::Tcp => "MPTCP-unaware (TCPLB)",
            System::Alone => "Learning alone (P3)",
            System::Published => "RomanRoads as published",
            System::Learn => "Heddle, learning",
        }
    }
}
