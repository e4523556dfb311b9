//! What the router does with the VIP, and cables that are pulled.

use std::net::IpAddr;

use crate::{Lab, LabError, Node};

/// Where the router may send what is for the VIP.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Hop {
    /// To a balancer, from 0.
    Balancer(usize),
    /// Straight to a backend, from 0: no balancer, or ECMP as the balancer.
    Backend(usize),
}

impl Lab {
    /// Spreads what is for the VIPs over `hops` by ECMP; over none: nobody can reach them.
    ///
    /// As with real routers, a change gives flows that were not concerned other hops, too.
    ///
    /// # Errors
    /// If the router refuses.
    ///
    /// # Panics
    /// If a hop has a number that is not in the lab.
    pub fn route_vip(&self, hops: &[Hop]) -> Result<(), LabError> {
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

    fn next_hop(&self, hop: Hop, vip: IpAddr) -> String {
        let node = match hop {
            Hop::Balancer(index) => self.balancer(index),
            Hop::Backend(index) => self.backend(index),
        };
        format!(" nexthop via {} dev lan", node.address_like(vip))
    }

    /// Pulls the cable of a balancer or a backend. The router goes on sending to it until [`Lab::route_vip`] says otherwise.
    ///
    /// # Errors
    /// If the router refuses.
    pub fn cut(&self, node: &Node) -> Result<(), LabError> {
        self.set_port(node, "down")
    }

    /// Puts the cable back.
    ///
    /// # Errors
    /// If the router refuses.
    pub fn mend(&self, node: &Node) -> Result<(), LabError> {
        self.set_port(node, "up")
    }

    fn set_port(&self, node: &Node, state: &str) -> Result<(), LabError> {
        match self.ports().find(|(other, _)| other.namespace == node.namespace) {
            Some((_, port)) => self.router().ip(&format!("link set {port} {state}\n")),
            None => Ok(()),
        }
    }
}
