//! Balancers that fail and come back, as machines, links and daemons do.

use std::collections::BTreeSet;
use std::thread::sleep;
use std::time::Duration;

use serde::Serialize;

use crate::{BusyProcessors, Daemons, Etcd, Lab, LabError, NextHop, Setup, equal, eventually};

/// Threads that keep all processors busy: many for each processor of a small machine.
const BUSY_THREADS: usize = 16;

/// Limit on the time until all balancers agree who is there.
const AGREEMENT: Duration = Duration::from_secs(60);

/// A failure of balancers, or what may be mistaken for one.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fault {
    /// The machine loses power: links, program, maps and daemon are gone. It comes back empty.
    Machine,
    /// The link is down; program and daemon go on behind it.
    Link,
    /// The daemon is killed. The program goes on, and the router goes on sending to it.
    Daemon,
    /// The daemon is stopped in order and started again, as for an upgrade: a new program replaces
    /// the old one.
    Restart,
    /// The daemon halts (SIGSTOP) and goes on. Nothing has failed.
    Pause,
    /// All processors of the machine are busy. Nothing has failed.
    Busy,
}

impl Fault {
    /// All of them.
    pub const ALL: [Fault; 6] =
        [Fault::Machine, Fault::Link, Fault::Daemon, Fault::Restart, Fault::Pause, Fault::Busy];

    /// True if packets to the balancer are lost.
    #[must_use]
    pub fn cuts(self) -> bool {
        matches!(self, Fault::Machine | Fault::Link)
    }
}

/// Balancers with their daemons, the membership store, and the router's routes to those that
/// announce the VIPs.
#[derive(Debug)]
pub struct Cluster<'a> {
    lab: &'a Lab,
    daemons: Daemons<'a>,
    etcd: Option<Etcd<'a>>,
    announced: BTreeSet<usize>,
    busy: Option<BusyProcessors>,
}

impl<'a> Cluster<'a> {
    /// Starts the daemons with a static list of balancers, and waits until each is healthy and
    /// knows all others.
    ///
    /// # Errors
    /// If one is not.
    pub fn with_static_list(lab: &'a Lab, setup: Setup) -> Result<Cluster<'a>, LabError> {
        Cluster::start(lab, setup, None)
    }

    /// As [`Cluster::with_static_list`], with the list in etcd.
    ///
    /// # Errors
    /// As that; or if etcd does not start.
    pub fn with_etcd(lab: &'a Lab, setup: Setup) -> Result<Cluster<'a>, LabError> {
        let etcd = Etcd::start(lab)?;
        let setup = Setup { etcd: Some(etcd.url()), ..setup };
        Cluster::start(lab, setup, Some(etcd))
    }

    fn start(lab: &'a Lab, setup: Setup, etcd: Option<Etcd<'a>>) -> Result<Cluster<'a>, LabError> {
        let daemons = Daemons::start(lab, setup)?;
        let announced = (0..lab.balancers().len()).collect();
        let cluster = Cluster { lab, daemons, etcd, announced, busy: None };
        for index in 0..lab.balancers().len() {
            cluster.daemons.wait_until_healthy(index)?;
        }
        cluster.wait_until_agreed()?;
        Ok(cluster)
    }

    /// The daemons.
    #[must_use]
    pub fn daemons(&self) -> &Daemons<'a> {
        &self.daemons
    }

    /// The daemons, to be changed.
    #[must_use]
    pub fn daemons_mut(&mut self) -> &mut Daemons<'a> {
        &mut self.daemons
    }

    /// The membership store, if it is etcd.
    #[must_use]
    pub fn etcd_mut(&mut self) -> Option<&mut Etcd<'a>> {
        self.etcd.as_mut()
    }

    /// Makes balancers fail at the same time. The router withdraws the routes to those that lose
    /// packets `withdrawal` later.
    ///
    /// # Errors
    /// If the system refuses a step.
    pub fn begin(
        &mut self,
        fault: Fault,
        victims: &[usize],
        withdrawal: Duration,
    ) -> Result<(), LabError> {
        for &victim in victims {
            match fault {
                Fault::Machine => self.lab.remove_link(self.lab.balancer(victim))?,
                Fault::Link => self.lab.cut(self.lab.balancer(victim))?,
                Fault::Daemon => self.daemons.kill(victim),
                Fault::Restart => self.daemons.stop(victim),
                Fault::Pause => self.daemons.pause(victim),
                Fault::Busy => self.busy = Some(BusyProcessors::start(BUSY_THREADS)),
            }
        }
        if fault.cuts() {
            sleep(withdrawal);
            self.announced.retain(|index| !victims.contains(index));
            self.announce()?;
        }
        if fault == Fault::Machine {
            for &victim in victims {
                self.daemons.kill(victim);
                self.daemons.remove_program(victim);
            }
        }
        Ok(())
    }

    /// Brings balancers back. Each is given packets again as soon as it is healthy: a routing
    /// daemon's session takes longer.
    ///
    /// # Errors
    /// If one does not become healthy.
    pub fn end(&mut self, fault: Fault, victims: &[usize]) -> Result<(), LabError> {
        for &victim in victims {
            match fault {
                Fault::Machine => {
                    self.lab.add_link(self.lab.balancer(victim))?;
                    self.daemons.restart(victim)?;
                }
                Fault::Link => self.lab.restore(self.lab.balancer(victim))?,
                Fault::Daemon | Fault::Restart => self.daemons.restart(victim)?,
                Fault::Pause => self.daemons.resume(victim),
                Fault::Busy => self.busy = None,
            }
        }
        for &victim in victims {
            self.daemons.wait_until_healthy(victim)?;
        }
        if fault.cuts() {
            self.announced.extend(victims);
            self.announce()?;
        }
        Ok(())
    }

    /// Waits until each running balancer has all running balancers as members, and no others.
    ///
    /// # Errors
    /// If they do not agree within a minute.
    pub fn wait_until_agreed(&self) -> Result<(), LabError> {
        let running: Vec<usize> = (0..self.lab.balancers().len())
            .filter(|i| self.daemons.process(*i).is_some())
            .collect();
        let expected = running.iter().map(|i| self.lab.balancer(*i).name().to_string()).collect();
        eventually(AGREEMENT, || {
            running.iter().try_for_each(|&index| {
                let members = self.daemons.members(index).map_err(|error| error.to_string())?;
                equal(&members, &expected)
                    .map_err(|text| format!("members of heddled on balancer-{index}: {text}"))
            })
        })
    }

    /// The balancers to which the router sends.
    #[must_use]
    pub fn announced(&self) -> &BTreeSet<usize> {
        &self.announced
    }

    fn announce(&self) -> Result<(), LabError> {
        let hops: Vec<NextHop> = self.announced.iter().copied().map(NextHop::Balancer).collect();
        self.lab.route_vip(&hops)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn machines_and_links_lose_packets_and_nothing_else_does() {
        let cutting: Vec<Fault> = Fault::ALL.into_iter().filter(|fault| fault.cuts()).collect();
        assert_eq!(cutting, [Fault::Machine, Fault::Link]);
    }
}
