//! R4: ten minutes in which balancers leave and come back, and backends are added (figure 6d).
//!
//! Connections last N(60 s, 10 s) and start again from new ports. The paper's clients send all the time; here each
//! subflow sends a segment every ten seconds, and in each second in which something happens. One that no longer reaches its backend is
//! broken, and silent until its connection starts again. Whether a connection could take another subflow is read from the token
//! table of the balancer that a join would ask.

use std::collections::BTreeMap;

use heddle_balancer_maps::abi::TokenState;
use serde::Serialize;

use super::System;
use super::session::{Rig, SECOND, Session, percent};
use crate::{Backend, Cluster, Error};

const BALANCERS: usize = 5;
const BACKENDS: usize = 100;
const ADDED: usize = 25;
const END: u32 = 600;
/// Seconds between two segments of a subflow.
const PAUSE: u32 = 10;
/// Seconds between two samples.
const SAMPLE: u32 = 5;

/// What happens, by second.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Event {
    Leaves(usize),
    Returns(usize),
    BackendsAdded,
}

const EVENTS: [(u32, Event); 5] = [
    (120, Event::Leaves(4)),
    (240, Event::Returns(4)),
    (320, Event::BackendsAdded),
    (360, Event::Leaves(3)),
    (480, Event::Returns(3)),
];

/// One system's curves of figure 6d.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Curve {
    /// What spreads the connections.
    pub system: System,
    /// By time.
    pub samples: Vec<Sample>,
    /// Segments that passed two balancers, in percent of all that are no handshake.
    pub detours: f64,
}

/// One moment, in percent of the connections that there are.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Sample {
    /// Seconds.
    pub time: u32,
    /// Connections whose first subflow broke.
    pub connections: f64,
    /// Second subflows that broke.
    pub secondaries: f64,
    /// Connections that no new subflow could join.
    pub affected: f64,
}

/// All curves.
///
/// # Errors
/// What the kernel says: root is needed.
pub fn run(connections: u32, seed: u64) -> Result<Vec<Curve>, Error> {
    let systems = [System::Tcp, System::Published, System::Learn];
    systems.into_iter().map(|system| Town::new(system, connections, seed)?.live()).collect()
}

/// A client that always has a connection.
struct Inhabitant {
    session: Option<Session>,
    /// The second in which its connection ends.
    until: u32,
}

struct Town {
    system: System,
    rig: Rig,
    inhabitants: Vec<Inhabitant>,
    segments: [u64; 2],
}

impl Town {
    /// Connections are met somewhere in their lives.
    fn new(system: System, connections: u32, seed: u64) -> Result<Town, Error> {
        let mut rig = Rig::new(system, BALANCERS, BACKENDS, connections, seed)?;
        let mut inhabitants = Vec::new();
        for _ in 0..connections {
            let left = rig.random().below(60);
            inhabitants.push(Inhabitant { session: None, until: left });
        }
        let mut town = Town { system, rig, inhabitants, segments: [0, 0] };
        for client in 0..connections {
            town.inhabitants[client as usize].session = town.opened(client)?;
        }
        Ok(town)
    }

    fn live(mut self) -> Result<Curve, Error> {
        let mut samples = Vec::new();
        for second in 0..=END {
            self.happen(second)?;
            for client in 0..self.inhabitants.len() as u32 {
                self.step(client, second)?;
            }
            if second.is_multiple_of(SAMPLE) {
                samples.push(self.sample(second));
            }
            self.rig.cluster.advance(SECOND)?;
        }
        let detours = percent(self.segments[1], self.segments[0]);
        Ok(Curve { system: self.system, samples, detours })
    }

    fn happen(&mut self, second: u32) -> Result<(), Error> {
        let cluster = &mut self.rig.cluster;
        for (_, event) in EVENTS.iter().filter(|(at, _)| *at == second) {
            match *event {
                Event::Leaves(balancer) => cluster.kill(balancer)?,
                Event::Returns(balancer) => cluster.revive(balancer)?,
                Event::BackendsAdded => {
                    cluster.backends.extend([Backend { weight: 1, up: true }; ADDED]);
                    cluster.publish()?;
                }
            }
        }
        Ok(())
    }

    fn opened(&mut self, client: u32) -> Result<Option<Session>, Error> {
        let Some(mut session) = self.rig.open(client, None)? else { return Ok(None) };
        if self.system != System::Tcp {
            self.rig.join_second(&mut session)?;
        }
        Ok(Some(session))
    }

    /// What a client does in a second.
    fn step(&mut self, client: u32, second: u32) -> Result<(), Error> {
        let inhabitant = &mut self.inhabitants[client as usize];
        if second >= inhabitant.until {
            return self.start_again(client, second);
        }
        let Some(session) = &mut inhabitant.session else { return Ok(()) };
        if session.alive[0] && speaks(client, second) {
            let [all, detours] = self.rig.talk(session)?;
            self.segments[0] += all;
            self.segments[1] += detours;
        }
        Ok(())
    }

    fn start_again(&mut self, client: u32, second: u32) -> Result<(), Error> {
        if let Some(session) = self.inhabitants[client as usize].session {
            self.rig.close(&session)?;
        }
        let session = self.opened(client)?;
        let lasts = self.rig.random().normal(60.0, 10.0).max(1.0) as u32;
        self.inhabitants[client as usize] = Inhabitant { session, until: second + lasts };
        Ok(())
    }

    fn sample(&self, time: u32) -> Sample {
        let known = known_tokens(&self.rig.cluster);
        let sessions = || self.inhabitants.iter().filter_map(|one| one.session.as_ref());
        let share = |holds: &dyn Fn(&Session) -> bool| {
            percent(
                sessions().filter(|session| holds(session)).count() as u64,
                sessions().count() as u64,
            )
        };
        Sample {
            time,
            connections: share(&|session| !session.alive[0]),
            secondaries: share(&|session| !session.alive[1]),
            affected: share(&|session| {
                known.get(&session.connection.token()) != Some(&session.home)
            }),
        }
    }
}

/// Clients speak in turn; in a second in which something happens, all do.
fn speaks(client: u32, second: u32) -> bool {
    client % PAUSE == second % PAUSE || EVENTS.iter().any(|(at, _)| *at == second)
}

/// The backend of each token, as its owner has it, where joins find it.
fn known_tokens(cluster: &Cluster) -> BTreeMap<u32, usize> {
    let settings = &cluster.setup.settings;
    let mut known = BTreeMap::new();
    for at in cluster.alive() {
        let Some(balancer) = cluster.balancer(at) else { continue };
        for token in balancer.maps.tokens.iter() {
            let confirmed = token.state == TokenState::Confirmed;
            let timeout =
                if confirmed { settings.token_timeout } else { settings.provisional_timeout };
            let live = cluster.now().wrapping_sub(token.seen) < timeout;
            let target = cluster.backend_of(at, token.target).filter(|_| live);
            if let Some(backend) = target.filter(|_| cluster.owner(token.token) == Some(at)) {
                known.insert(token.token, backend);
            }
        }
    }
    known
}
