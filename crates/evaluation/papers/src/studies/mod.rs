//! Studies of what MP-HULA's paper leaves to future work (section 5): more paths and other
//! settings, priorities; and failures in mid-run, which it does not show; and two of schemes of
//! switches and hosts beside each other, and of their flowlet gaps.

mod failures;
mod figures;
mod gaps;
mod paths;
mod priorities;
mod rivals;
mod table;

use heddle_scenario::Source;

use crate::mp_hula::points::{FIGURE_5, System};
use heddle_claims::Effort;
use heddle_study::point::{in_order, no_files};

pub use failures::{Broken, FAILS_AT, RECOVERS_AT, throughput};
pub use figures::report;
pub use gaps::Pods;
pub use paths::Routing;
pub use priorities::LongFlows;
pub use rivals::{Hosts, PathSelection, Rival, Setup};
pub use table::{Column, Row, Table, markdown};

/// One study.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Study {
    /// Best hops and subflows on a fat-tree of 128 hosts.
    Paths,
    /// Long flows that leave the best hop to short ones.
    Priorities,
    /// A link and a switch that fail and come back.
    Failures,
    /// Schemes of switches and of hosts beside each other.
    Rivals,
    /// Flowlet schemes with other gaps.
    Gaps,
}

impl Study {
    /// All of them.
    pub const ALL: [Study; 5] =
        [Study::Paths, Study::Priorities, Study::Failures, Study::Rivals, Study::Gaps];

    /// Its name on the command line and in files.
    pub fn name(self) -> &'static str {
        match self {
            Study::Paths => "paths",
            Study::Priorities => "priorities",
            Study::Failures => "failures",
            Study::Rivals => "rivals",
            Study::Gaps => "gaps",
        }
    }

    /// The headline.
    pub fn title(self) -> &'static str {
        match self {
            Study::Paths => "How many best hops, how many subflows",
            Study::Priorities => "Long flows leave the best hop to short ones",
            Study::Failures => "A link and a switch fail and come back",
            Study::Rivals => "Switches and hosts that balance load, beside each other",
            Study::Gaps => "Flowlet schemes with other gaps",
        }
    }

    /// Its simulations in a sentence or two.
    pub fn about(self) -> &'static str {
        match self {
            Study::Paths => paths::ABOUT,
            Study::Priorities => priorities::ABOUT,
            Study::Failures => failures::ABOUT,
            Study::Rivals => rivals::ABOUT,
            Study::Gaps => gaps::ABOUT,
        }
    }

    /// Its points, in order.
    pub fn points(self, effort: Effort) -> Vec<Point> {
        in_order(match self {
            Study::Paths => paths::points(effort),
            Study::Priorities => priorities::points(effort),
            Study::Failures => failures::points(effort),
            Study::Rivals => rivals::points(effort),
            Study::Gaps => gaps::points(effort),
        })
    }

    /// Columns of its table.
    pub fn columns(self) -> &'static [Column] {
        match self {
            Study::Paths => paths::COLUMNS,
            Study::Priorities => priorities::COLUMNS,
            Study::Failures => failures::COLUMNS,
            Study::Rivals | Study::Gaps => rivals::COLUMNS,
        }
    }
}

/// One point of a study.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Point {
    /// Of [`Study::Paths`].
    Paths {
        /// Load in percent of the hosts' links.
        load: u8,
        /// The switches' scheme.
        routing: Routing,
        /// 1 is TCP.
        subflows: u8,
    },
    /// Of [`Study::Priorities`].
    Priorities {
        /// Load in percent of 160 Gbps.
        load: u8,
        /// Treatment of long flows.
        long_flows: LongFlows,
    },
    /// Of [`Study::Failures`].
    Failures {
        /// Link or switch that fails.
        broken: Broken,
        /// Hosts and switches.
        system: System,
    },
    /// Of [`Study::Rivals`].
    Rivals {
        /// Fabric, faults and traffic.
        setup: Setup,
        /// Load in percent.
        load: u8,
        /// Hosts and the selection of their paths.
        rival: Rival,
    },
    /// Of [`Study::Gaps`].
    Gaps {
        /// The fabric.
        pods: Pods,
        /// Load in percent.
        load: u8,
        /// Hosts and the selection of their paths, by flowlets.
        rival: Rival,
        /// Flowlet gap in microseconds.
        micros: u16,
    },
}

impl Point {
    /// The study that it is of.
    pub fn study(self) -> Study {
        match self {
            Point::Paths { .. } => Study::Paths,
            Point::Priorities { .. } => Study::Priorities,
            Point::Failures { .. } => Study::Failures,
            Point::Rivals { .. } => Study::Rivals,
            Point::Gaps { .. } => Study::Gaps,
        }
    }

    /// Its setting but for the load: the name of its row and curve.
    pub fn setting(self) -> String {
        match self {
            Point::Paths { routing, subflows, .. } => paths::setting(routing, subflows),
            Point::Priorities { long_flows, .. } => long_flows.title().to_owned(),
            Point::Failures { broken, system } => {
                format!("{}, {}", broken.title(), system.title())
            }
            Point::Rivals { setup, rival, .. } => rivals::setting(setup, rival),
            Point::Gaps { pods, rival, micros, .. } => gaps::setting(pods, rival, micros),
        }
    }
}

impl heddle_study::point::Point for Point {
    fn label(&self) -> String {
        format!("{}: {} {} %", self.study().name(), self.setting(), self.load())
    }

    fn load(&self) -> u8 {
        match *self {
            Point::Paths { load, .. }
            | Point::Priorities { load, .. }
            | Point::Rivals { load, .. }
            | Point::Gaps { load, .. } => load,
            Point::Failures { .. } => failures::LOAD,
        }
    }

    /// No key is tried here but those that the points name.
    fn takes(&self, _: &str) -> bool {
        true
    }

    /// The permutation of [`Study::Rivals`].
    fn file(path: &str) -> std::io::Result<String> {
        match path {
            rivals::PERMUTATION => Ok(rivals::PERMUTATION_FLOWS.to_owned()),
            other => no_files(other),
        }
    }

    /// Figure 5's file with this point's overrides.
    fn source(&self, effort: Effort) -> Source {
        let source = Source::new("mp-hula-fig5.toml", FIGURE_5)
            .with("title", self.label())
            .with("workload.load", self.load_text());
        let overrides = match *self {
            Point::Paths { routing, subflows, .. } => paths::overrides(effort, routing, subflows),
            Point::Priorities { long_flows, .. } => priorities::overrides(effort, long_flows),
            Point::Failures { broken, system } => failures::overrides(broken, system),
            Point::Rivals { setup, rival, .. } => {
                rivals::overrides(effort, setup, &self.load_text(), rival)
            }
            Point::Gaps { pods, rival, micros, .. } => gaps::overrides(effort, pods, rival, micros),
        };
        overrides.into_iter().fold(source, |source, (key, value)| source.with(key, value))
    }
}

/// Dotted keys and their values.
type Overrides = Vec<(&'static str, String)>;

#[cfg(test)]
mod tests {
    use super::*;
    use heddle_study::point::Point as _;

    #[test]
    fn every_point_loads() {
        for study in Study::ALL {
            for effort in [Effort::Demo, Effort::Quick, Effort::Medium, Effort::Full] {
                for point in study.points(effort) {
                    let loaded = point.scenario(effort);
                    loaded.unwrap_or_else(|error| panic!("{}: {error}", point.label()));
                    assert_eq!(point.study(), study);
                }
            }
        }
    }
}
