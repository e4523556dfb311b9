//! The balancer's own health, as `/healthz` and the gauges have it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The conditions under which this balancer does its work: none while one holds, or the reason why
/// it does not.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "HealthCauses")]
pub struct Health {
    /// It has only just started: not everything is known yet that its work depends on.
    pub starting: Option<String>,
    /// Neither backends nor other balancers answer, or did not until just now.
    pub isolated: Option<String>,
    /// The maps do not follow the plan.
    pub maps_out_of_sync: Option<String>,
    /// Backends' health checks have stopped.
    pub health_checks_stopped: Option<String>,
    /// Next hops are not kept up to date.
    pub neighbour_watcher_stopped: Option<String>,
    /// The program is missing on an interface, or its state there is not known.
    pub programs_detached: Option<String>,
    /// Other tasks of the daemon have stopped.
    pub tasks_stopped: Option<String>,
}

impl Health {
    /// The reasons why the balancer is not healthy; none: it is.
    pub fn causes(&self) -> impl Iterator<Item = &str> {
        let all = [
            &self.starting,
            &self.isolated,
            &self.maps_out_of_sync,
            &self.health_checks_stopped,
            &self.neighbour_watcher_stopped,
            &self.programs_detached,
            &self.tasks_stopped,
        ];
        all.into_iter().flatten().map(String::as_str)
    }
}
