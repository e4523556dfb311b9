//! The router's routes to the VIPs, and failures of links.

use std::net::IpAddr;

use crate::{Lab, LabError, Node};

/// A next hop of the router's route to a VIP.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NextHop {
    /// A balancer, from 0.
    Balancer(usize),
    /// A backend, from 0: without a balancer, or with ECMP as the balancer.
    Backend(usize),
}

impl Lab {
    /// Spreads packets to the VIPs over `hops` by ECMP. Without hops the VIPs are unreachable.
    ///
    /// As with real routers, a change gives flows that were not concerned other hops, too.
    ///
    /// # Errors
    /// If the router refuses.
    ///
    /// # Panics
    /// If a hop has a number that is not in the lab.
    pub fn route_vip(&self, hops: &[NextHop]) -> Result<(), LabError> {
        for vip in self.vips() {
            let family = if vip.is_ipv4() { "-4" } else { "-6" };
            if hops.is_empty() {
                self.router().run(&format!("ip {family} route flush exact {vip}"))?;
                continue;
            }
            let next: String = hops.iter().map(|hop| self.next_hop(*hop, vip)).collect();
            self.router().run(&format!("ip {family} route replace {vip}{next}"))?;
        }
        Ok(())
    }

    fn next_hop(&self, hop: NextHop, vip: IpAddr) -> String {
        let node = match hop {
            NextHop::Balancer(index) => self.balancer(index),
            NextHop::Backend(index) => self.backend(index),
        };
        format!(" nexthop via {} dev lan", node.address_like(vip))
    }

    /// Takes the link of a balancer or a backend down. The router goes on sending to it until
    /// [`Lab::route_vip`] changes the route.
    ///
    /// # Errors
    /// If the router refuses.
    pub fn cut(&self, node: &Node) -> Result<(), LabError> {
        self.set_port(node, "down")
    }

    /// Brings the link of a balancer or a backend up again.
    ///
    /// # Errors
    /// If the router refuses.
    pub fn restore(&self, node: &Node) -> Result<(), LabError> {
        self.set_port(node, "up")
    }

    fn set_port(&self, node: &Node, state: &str) -> Result<(), LabError> {
        match self.port_of(node) {
            Some(port) => self.router().ip(&format!("link set {port} {state}\n")),
            None => Ok(()),
        }
    }
}
