//! Failure, recovery and impairment of links, and the convergence of routing.

use heddle_policy::Scheme;
use heddle_scenario::Change;

use super::Simulation;
use crate::engine::Event;

impl<S: Scheme> Simulation<'_, S> {
    /// Takes links down or up, and schedules the convergence of routing, which does not notice
    /// impairments.
    pub(super) fn fault(&mut self, index: u32) {
        let event = &self.scenario.events[index as usize];
        let (network, now) = (&mut self.network, self.now);
        for (port, info) in (0..).zip(&self.fabric.ports) {
            if event.changes(info.link, info.owner) {
                let link = &self.fabric.graph.links[info.link as usize];
                match &event.change {
                    Change::Fail => network.fail(port, now),
                    Change::Recover => network.recover(port),
                    Change::Degrade(impairment) => {
                        network.degrade(now, port, info.link, impairment);
                    }
                    Change::Repair => {
                        network.repair(now, port, (self.fabric.rate_of(info), link.delay));
                    }
                }
            }
        }
        if event.change.is_up().is_none() {
            return;
        }
        let at = self.now + self.scenario.fabric.convergence;
        self.network.events.schedule(at, Event::Converged(index));
    }

    /// Updates routing for the links of a fault. Schemes with probes keep their next hops over
    /// failed links: they detect failures from missing probes.
    pub(super) fn converge(&mut self, index: u32) {
        let event = &self.scenario.events[index as usize];
        let is_up = event.change.is_up() == Some(true);
        self.tell_hosts(&event.links, is_up);
        if !is_up && self.switching.probe_period().is_some() {
            return;
        }
        for &link in &event.links {
            self.routed[link as usize] = is_up;
        }
        // A fabric that would need more sets of next hops than can be numbered keeps its routes.
        let is_up = |link: u32| self.routed[link as usize];
        if let Ok(routes) = self.switching.find_routes(&self.fabric, is_up) {
            let before = std::mem::replace(&mut self.switching.routes, routes);
            self.first_routes.get_or_insert(before);
        }
    }

    /// Hosts with several interfaces learn which of them, and of each other's, routing still uses.
    fn tell_hosts(&mut self, links: &[u32], is_up: bool) {
        let Some(interfaces) = &mut self.hosts.interfaces else { return };
        for &link in links {
            self.routed_to_hosts[link as usize] = is_up;
        }
        let is_up = |link: u32| self.routed_to_hosts[link as usize];
        let routes = self.switching.find_routes(&self.fabric, is_up);
        interfaces.learn(&self.fabric, routes.ok(), is_up);
    }
}
