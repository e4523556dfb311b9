//! Options of the switches: duties beside forwarding, and the source of their routes.

use std::num::NonZeroU32;

use heddle_scenario::{Scenario, Scheme};

use super::{Kind, Missing, bird};

/// Options of a data plane.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// One in so many packets has a postcard at each switch; none: no packet has.
    pub postcards: Option<NonZeroU32>,
    /// The source of routes.
    pub routes: RouteSource,
}

/// A source of the switches' routes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RouteSource {
    /// The scenario, which all switches have as a file, and its convergence time.
    #[default]
    Scenario,
    /// BIRD, by BGP: switches have no scenario.
    Bird,
}

/// An option that a run cannot have, and what to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unusable {
    /// The reason.
    pub message: String,
    /// The fix.
    pub help: String,
}

impl Options {
    /// Looks for the programs that they need.
    ///
    /// # Errors
    /// The first that is missing.
    pub fn check_programs(self) -> Result<(), Missing> {
        match self.routes == RouteSource::Bird && !bird::is_installed() {
            true => Err(Missing::new("BIRD is not installed", "apt-get install bird2")),
            false => Ok(()),
        }
    }

    /// Checks them against a data plane and a scenario.
    ///
    /// # Errors
    /// The first that these cannot have.
    pub fn check(self, plane: Kind, scenario: &Scenario) -> Result<(), Unusable> {
        let refused = |message: &str, help: &str| {
            Err(Unusable { message: message.into(), help: help.into() })
        };
        let by_bird = self.routes == RouteSource::Bird;
        if plane != Kind::Ebpf && self.postcards.is_some() {
            return refused("only heddle-switch writes postcards", "--dataplane ebpf");
        }
        if plane != Kind::Ebpf && by_bird {
            return refused("only heddle-switch takes BIRD's routes", "--dataplane ebpf");
        }
        if by_bird && matches!(scenario.scheme, Scheme::Cflb(_)) {
            let message = "CFLB needs an order of next hops that all switches share";
            return refused(message, "another scheme, or no --routes");
        }
        Ok(())
    }
}
