//! Experiments of CFLB's claims: structure of fabrics, evenness and cost of decisions, one
//! connection many times.

use heddle_fabric::{Fabric, Stats, stats};
use heddle_scenario::{Source, load_fabric};
use serde::Serialize;

use super::connections::{PathsUsed, Saturation};
use super::hashes::{Chooser, choosers};
use super::mix::Mix;
use super::points::{Choice, SUBFLOWS};
use super::speed::{Cost, measure, subjects};
use super::spread::{Plan, Spread, spread};
use heddle_claims::Effort;
use heddle_study::paper::EvaluationError;
use heddle_study::point::no_files;

/// A measurement that is no bar of figure 9.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Experiment {
    /// Figures 1 and 2.
    Diversity(Model),
    /// Figures 6 and 7: a mix of flows through routers.
    Spread(Mix, Routers),
    /// Figure 8.
    Cost,
    /// Figure 10.
    SevenLinks(Choice),
    /// Figure 11.
    TwoInterfaces(Choice),
}

/// The paper's fabrics of "approximately 600 servers"; their sizes are not said.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Model {
    /// k = 14: 686 servers.
    FatTree,
    /// Aggregation switches of 20 ports and intermediate ones of 6: 30 ToRs, 600 servers. "The
    /// maximum number of next hops is 10."
    Vl2,
    /// 5-port switches, four levels: 625 servers.
    Bcube,
}

impl Model {
    /// All of them.
    pub const ALL: [Model; 3] = [Model::FatTree, Model::Vl2, Model::Bcube];

    /// Its name, with its size.
    pub const fn title(self) -> &'static str {
        match self {
            Model::FatTree => "Fat-tree, k = 14",
            Model::Vl2 => "VL2, 20 and 6 ports",
            Model::Bcube => "BCube, n = 5, k = 3",
        }
    }

    const fn file(self) -> &'static str {
        match self {
            Model::FatTree => "[fabric]\nkind = \"fat-tree\"\nk = 14\n",
            Model::Vl2 => {
                "[fabric]\nkind = \"vl2\"\naggregation_ports = 20\nintermediate_ports = 6\n"
            }
            Model::Bcube => "[fabric]\nkind = \"bcube\"\nports = 5\nlevels = 3\n",
        }
    }

    fn stats(self) -> Result<Stats, EvaluationError> {
        let file = load_fabric(&Source::new(self.title(), self.file()), &no_files)?;
        let fabric = Fabric::new(&file.fabric.graph)?;
        let routes = fabric.routes(|_| true)?;
        Ok(stats(&fabric, &routes))
    }
}

/// Routers in a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Routers {
    /// One with two next hops (figure 6a).
    One,
    /// Four with two next hops each (figure 6b).
    FourInARow,
    /// One with four next hops (figure 7).
    OneOfFour,
}

impl Routers {
    /// Routers and intervals of the measurement.
    pub const fn plan(self) -> Plan {
        match self {
            Routers::One => Plan::FIGURE_6A,
            Routers::FourInARow => Plan::FIGURE_6B,
            Routers::OneOfFour => Plan::FIGURE_7,
        }
    }

    /// All choosers that can serve them.
    pub fn choosers(self) -> Vec<Chooser> {
        choosers(self.plan().next_hops)
    }
}

/// Packets of the paper's trace.
const PACKETS: u64 = 10_000_000;

/// Packets of the other mixes, which are no figures of the paper's.
const FEWER_PACKETS: u64 = 2_000_000;

/// Rounds of the measurement of costs.
const ROUNDS: usize = 25;

/// Result of an experiment.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Measured {
    /// Of [`Experiment::Diversity`].
    Diversity(Stats),
    /// Of [`Experiment::Spread`].
    Spread(Vec<Spread>),
    /// Of [`Experiment::Cost`].
    Cost(Vec<Cost>),
    /// Of [`Experiment::SevenLinks`].
    SevenLinks(PathsUsed),
    /// Of [`Experiment::TwoInterfaces`].
    TwoInterfaces(Saturation),
}

impl Measured {
    /// The structure of a fabric, if it is that.
    pub fn diversity(&self) -> Option<&Stats> {
        if let Measured::Diversity(stats) = self { Some(stats) } else { None }
    }

    /// Evenness of each chooser on a mix, if it is that.
    pub fn spread(&self) -> Option<&[Spread]> {
        if let Measured::Spread(spreads) = self { Some(spreads) } else { None }
    }

    /// Cost of each chooser's decision, if it is that.
    pub fn cost(&self) -> Option<&[Cost]> {
        if let Measured::Cost(costs) = self { Some(costs) } else { None }
    }

    /// The paths of seven subflows, if it is that.
    pub fn seven_links(&self) -> Option<&PathsUsed> {
        if let Measured::SevenLinks(used) = self { Some(used) } else { None }
    }

    /// Goodput into two interfaces, if it is that.
    pub fn two_interfaces(&self) -> Option<&Saturation> {
        if let Measured::TwoInterfaces(saturation) = self { Some(saturation) } else { None }
    }
}

impl heddle_study::paper::Experiment for Experiment {
    type Outcome = Measured;

    /// The cost is measured once for each seed.
    fn seeds(self, effort: Effort) -> &'static [u64] {
        match self {
            // Structure: nothing is drawn.
            Experiment::Diversity(_) => &[1],
            _ => effort.seeds(),
        }
    }

    /// The paper has one profile, which changes nothing.
    fn run(self, seed: u64, _: &[(&str, &str)]) -> Result<Measured, EvaluationError> {
        Ok(match self {
            Experiment::Diversity(model) => Measured::Diversity(model.stats()?),
            Experiment::Spread(mix, routers) => Measured::Spread(spread_mix(mix, routers, seed)),
            Experiment::Cost => Measured::Cost(measure(&subjects(), ROUNDS)),
            Experiment::SevenLinks(choice) => Measured::SevenLinks(PathsUsed::run(choice, seed)?),
            Experiment::TwoInterfaces(choice) => {
                Measured::TwoInterfaces(Saturation::run(choice, &SUBFLOWS, seed)?)
            }
        })
    }
}

fn spread_mix(mix: Mix, routers: Routers, seed: u64) -> Vec<Spread> {
    let count = if mix == Mix::Backbone { PACKETS } else { FEWER_PACKETS };
    let packets = mix.packets(seed, count).map(Ok::<_, std::convert::Infallible>);
    match spread(packets, &routers.choosers(), &routers.plan()) {
        Ok(spreads) => spreads,
        Err(never) => match never {},
    }
}
