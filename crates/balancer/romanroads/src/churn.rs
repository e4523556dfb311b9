//! R4: ten minutes in which balancers leave and come back, and backends are added (figure 6d).
//!
//! Connections last N(60 s, 10 s) and start again from new ports. The paper's clients send all the
//! time; here each subflow sends a segment every ten seconds, and in each second in which something
//! happens. One that no longer reaches its backend is broken, and silent until its connection
//! starts again. Whether a connection could take another subflow is read from the token table of
//! the balancer that a join would ask.

use std::collections::BTreeMap;

use heddle_balancer_maps::abi::TokenState;
use serde::Serialize;

use crate::system::System;
use crate::testbed::{SECOND, Session, Testbed, percent};
use heddle_harness::{Backend, Cluster, Error};

const BALANCERS: usize = 5;
const BACKENDS: usize = 100;
const ADDED: usize = 25;
const END: u32 = 600;
/// Seconds between two segments of a subflow.
const PAUSE: u32 = 10;
/// Seconds between two samples.
const SAMPLE: u32 = 5;

/// An event of the ten minutes.
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
pub(crate) struct Curve {
    /// The system.
    pub(crate) system: System,
    /// By time.
    pub(crate) samples: Vec<Sample>,
    /// Segments that passed two balancers, in percent of all that are no handshake.
    pub(crate) detours: f64,
}

/// One moment, in percent of the connections that there are.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(crate) struct Sample {
    /// Seconds.
    pub(crate) time: u32,
    /// Connections whose first subflow broke.
    pub(crate) connections: f64,
    /// Second subflows that broke.
    pub(crate) secondaries: f64,
    /// Connections that no new subflow could join.
    pub(crate) affected: f64,
}

/// All curves.
///
/// # Errors
/// Those of the kernel: root is needed.
pub(crate) fn run(connections: u32, seed: u64) -> Result<Vec<Curve>, Error> {
    let systems = [System::Tcp, System::Published, System::Learn];
    systems.into_iter().map(|system| Population::new(system, connections, seed)?.run()).collect()
}

/// A client that always has a connection.
struct Client {
    session: Option<Session>,
    /// The second in which its connection ends.
    until: u32,
}

struct Population {
    system: System,
    testbed: Testbed,
    clients: Vec<Client>,
    segments: [u64; 2],
}

impl Population {
    /// Connections are met somewhere in their lives.
    fn new(system: System, connections: u32, seed: u64) -> Result<Population, Error> {
        let mut testbed = Testbed::new(system, BALANCERS, BACKENDS, connections, seed)?;
        let mut clients = Vec::new();
        for _ in 0..connections {
            let left = testbed.random().below(60);
            clients.push(Client { session: None, until: left });
        }
        let mut population = Population { system, testbed, clients, segments: [0, 0] };
        for client in 0..connections {
            population.clients[client as usize].session = population.open(client)?;
        }
        Ok(population)
    }

    fn run(mut self) -> Result<Curve, Error> {
        let mut samples = Vec::new();
        for second in 0..=END {
            self.apply_events(second)?;
            for client in 0..self.clients.len() as u32 {
                self.step(client, second)?;
            }
            if second.is_multiple_of(SAMPLE) {
                samples.push(self.sample(second));
            }
            self.testbed.cluster.advance(SECOND)?;
        }
        let detours = percent(self.segments[1], self.segments[0]);
        Ok(Curve { system: self.system, samples, detours })
    }

    fn apply_events(&mut self, second: u32) -> Result<(), Error> {
        let cluster = &mut self.testbed.cluster;
        for (_, event) in EVENTS.iter().filter(|(at, _)| *at == second) {
            match *event {
                Event::Leaves(balancer) => cluster.kill(balancer)?,
                Event::Returns(balancer) => cluster.revive(balancer)?,
                Event::BackendsAdded => {
                    cluster.backends.extend([Backend::of_weight(1); ADDED]);
                    cluster.publish()?;
                }
            }
        }
        Ok(())
    }

    fn open(&mut self, client: u32) -> Result<Option<Session>, Error> {
        let Some(mut session) = self.testbed.open(client, None)? else { return Ok(None) };
        if self.system != System::Tcp {
            self.testbed.join_second(&mut session)?;
        }
        Ok(Some(session))
    }

    /// One second of a client: its connection ends, or sends.
    fn step(&mut self, client: u32, second: u32) -> Result<(), Error> {
        let client_state = &mut self.clients[client as usize];
        if second >= client_state.until {
            return self.restart(client, second);
        }
        let Some(session) = &mut client_state.session else { return Ok(()) };
        if session.alive[0] && sends(client, second) {
            let [all, detours] = self.testbed.send_segments(session)?;
            self.segments[0] += all;
            self.segments[1] += detours;
        }
        Ok(())
    }

    fn restart(&mut self, client: u32, second: u32) -> Result<(), Error> {
        if let Some(session) = self.clients[client as usize].session {
            self.testbed.close(&session)?;
        }
        let session = self.open(client)?;
        let lasts = self.testbed.random().normal(60.0, 10.0).max(1.0) as u32;
        self.clients[client as usize] = Client { session, until: second + lasts };
        Ok(())
    }

    fn sample(&self, time: u32) -> Sample {
        let known = known_tokens(&self.testbed.cluster);
        let sessions = || self.clients.iter().filter_map(|one| one.session.as_ref());
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
                known.get(&session.connection.token()) != Some(&session.backend)
            }),
        }
    }
}

/// True if a client sends in a second: clients take turns; in a second with an event, all send.
fn sends(client: u32, second: u32) -> bool {
    client % PAUSE == second % PAUSE || EVENTS.iter().any(|(at, _)| *at == second)
}

/// The backend of each token, as its owner has it, where joins find it.
fn known_tokens(cluster: &Cluster) -> BTreeMap<u32, usize> {
    let settings = cluster.settings();
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
