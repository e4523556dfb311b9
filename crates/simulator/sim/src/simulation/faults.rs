//! Failure and recovery of links, and the convergence of routing.

use heddle_policy::Scheme;
use heddle_scenario::Change;
use heddle_transport::Connection;

use super::Simulation;
use crate::engine::Event;

impl<S: Scheme, C: Connection> Simulation<'_, S, C> {
    /// Takes links down or up, and schedules the convergence of routing.
    pub(super) fn fault(&mut self, index: u32) {
        let event = &self.scenario.events[index as usize];
        for (port, info) in self.fabric.ports.iter().enumerate() {
            if event.links.contains(&info.link) {
                match event.change {
                    Change::Fail => self.network.fail(port as u32, self.now),
                    Change::Recover => self.network.recover(port as u32),
                }
            }
        }
        let at = self.now + self.scenario.fabric.convergence;
        self.network.events.schedule(at, Event::Converged(index));
    }

    /// Updates routing for the links of a fault. Schemes with probes keep their next hops over failed links: they detect failures from
    /// missing probes.
    pub(super) fn converge(&mut self, index: u32) {
        let event = &self.scenario.events[index as usize];
        let is_up = event.change == Change::Recover;
        if !is_up && self.switching.probe_period().is_some() {
            return;
        }
        for &link in &event.links {
            self.routed[link as usize] = is_up;
        }
        // A fabric that would need more sets of next hops than can be numbered keeps its routes.
        if let Ok(routes) = self.fabric.routes(|link| self.routed[link as usize]) {
            let before = std::mem::replace(&mut self.switching.routes, routes);
            self.first_routes.get_or_insert(before);
        }
    }
}
