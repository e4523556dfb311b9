//! Scenarios to start from.

use serde::Serialize;

/// A scenario file of the repository.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Preset {
    /// The entry in the list of scenarios.
    pub label: &'static str,
    /// The text of the file.
    pub text: &'static str,
    /// The number of flows that take a browser seconds; files of papers have many more.
    pub flows: u32,
    /// Schemes to compare at first.
    pub schemes: [&'static str; 2],
}

/// The scenarios, in the order of the list.
pub const PRESETS: [Preset; 3] = [
    Preset {
        label: "HULA's fabric: two pods, TCP",
        text: include_str!("../../../../scenarios/hula-fig5.toml"),
        flows: 500,
        schemes: ["ecmp", "hula"],
    },
    Preset {
        label: "MP-HULA's fabric: two pods, MPTCP",
        text: include_str!("../../../../scenarios/mp-hula-fig5.toml"),
        flows: 500,
        schemes: ["hula", "mp-hula"],
    },
    Preset {
        label: "A small leaf-spine fabric",
        text: include_str!("../../../../scenarios/small-leaf-spine.toml"),
        flows: 200,
        schemes: ["ecmp", "conga"],
    },
];
