//! Random histories: connections go on, are silent, and move between balancers, while backends drain and strangers
//! forge packets in their names. Every packet of a connection reaches its backend.
//!
//! `HEDDLE_SEEDS=FIRST..LAST` takes other histories than the few of each test run.

use std::fmt::Write;
use std::ops::Range;

use heddle_harness::{Cluster, Connection, Flow, Random, Setup, fragments};

use crate::traces::world::{
    Traced, backend, connection, flow, flow_v6, numbered, open, set, with_port,
};

const BALANCERS: u32 = 3;
const BACKENDS: u32 = 5;

/// Things that happen in a history.
const STEPS: u32 = 1500;

/// Packets behind a change until other balancers know the flow.
const SETTLED: u32 = 3;

const HOUR: u32 = 216_000;

/// Numbers of forged packets. A SYN's that lies up to 252 MB before a flow's own can take a flow that moves within two
/// seconds (security.md).
const NUMBERS: Range<u32> = 1 << 28..u32::MAX - (1 << 28);

/// Kinds of a client's flows.
enum Kind {
    Plain,
    First(Connection),
    Joined,
}

/// A TCP flow of a client.
struct Live {
    flow: Flow,
    kind: Kind,
    home: usize,
    /// The balancer that routers send it to.
    at: usize,
    /// Bytes sent.
    sent: u32,
    /// Packets since backends changed, or the flow moved: behind the first ones other balancers know the flow.
    settled: u32,
    /// Its history, for a failure's message.
    log: String,
}

impl Live {
    fn data(&self) -> Vec<u8> {
        let frame = match &self.kind {
            Kind::Plain => self.flow.ack(&[], 10),
            Kind::First(connection) => connection.data(10),
            Kind::Joined => self.flow.data(10),
        };
        numbered(frame, 1000 + self.sent)
    }
}

/// A cluster and the connections through it.
struct World {
    cluster: Cluster,
    random: Random,
    flows: Vec<Live>,
    /// The strangers' own connections, one at each backend.
    strangers: Vec<Connection>,
    /// Balancers that came back empty: heartbeats say that the others' tables have changed since.
    restarted: [bool; BALANCERS as usize],
    seed: u64,
    step: u32,
}

impl World {
    /// Fifteen plain flows, half of them of IPv6, and fifteen connections of two subflows; all go on for a second.
    fn new(cluster: Cluster, seed: u64) -> World {
        let (random, restarted) = (Random::new(seed), [false; BALANCERS as usize]);
        let strangers = (0..BACKENDS as usize).map(|home| {
            let at_home = |own: &Connection| cluster.hashed(&own.primary) == home;
            let own = (500..).map(connection).find(at_home).unwrap();
            assert_eq!(cluster.connect(0, &own), home);
            own
        });
        let strangers = strangers.collect();
        let mut world =
            World { cluster, random, flows: Vec::new(), strangers, restarted, seed, step: 0 };
        for number in 1..=15 {
            let at = world.random.below(BALANCERS) as usize;
            let plain = if number % 2 == 0 { flow(number) } else { flow_v6(number) };
            let home = world.cluster.plain(at, &plain);
            world.add(plain, Kind::Plain, home, at);
            let opened = connection(number + 100);
            let home = world.cluster.connect(at, &opened);
            let subflow = with_port(opened.primary, 7);
            let joined_at = world.random.below(BALANCERS) as usize;
            assert_eq!(world.cluster.join(joined_at, &opened, &subflow), home);
            world.add(opened.primary, Kind::First(opened), home, at);
            world.add(subflow, Kind::Joined, home, joined_at);
        }
        world.cluster.advance(61).unwrap();
        (0..world.flows.len()).for_each(|index| (0..3).for_each(|_| world.send(index)));
        world
    }

    fn add(&mut self, flow: Flow, kind: Kind, home: usize, at: usize) {
        self.flows.push(Live { flow, kind, home, at, sent: 0, settled: 0, log: String::new() });
    }

    fn note(&mut self, index: usize, what: &str) {
        let (now, at) = (self.cluster.now(), self.flows[index].at);
        writeln!(self.flows[index].log, "  {now} at {at}: {what}").unwrap();
    }

    /// The flow's next packet.
    fn send(&mut self, index: usize) {
        let live = &mut self.flows[index];
        live.sent += 10;
        live.settled += 1;
        let sent = self.cluster.send(live.at, &live.data()).unwrap();
        let (reached, via, home) = (backend(&sent), sent.via, live.home);
        self.note(index, &format!("data to {reached} via {via:?}"));
        let (seed, step, log) = (self.seed, self.step, &self.flows[index].log);
        assert_eq!(reached, home, "seed {seed}, step {step}:\n{log}");
    }

    /// A stranger's packet in the flow's name, as anybody can send it who knows addresses and ports. No SYN of a
    /// join: behind one a flow whose balancer has no entry of it has none for `syn` (security.md).
    fn forge(&mut self, index: usize) {
        let Live { flow, at, .. } = self.flows[index];
        let own = self.strangers[self.random.below(BACKENDS) as usize];
        let (what, frame) = match self.random.below(10) {
            0 | 1 => ("FIN", flow.fin()),
            2 | 3 => ("RST", flow.rst()),
            4 | 5 => ("SYN with MP_CAPABLE", Connection { primary: flow, ..own }.syn()),
            6 => ("first fragment", fragments(&flow.ack(&[], 1500), 1200, 7).remove(0)),
            7 => ("ICMP error", flow.too_big(1300)),
            _ => ("SYN", flow.syn(&[])),
        };
        let number = NUMBERS.start + self.random.below(NUMBERS.end - NUMBERS.start);
        let is_segment = !["first fragment", "ICMP error"].contains(&what);
        let frame = if is_segment { numbered(frame, number) } else { frame };
        let sent = self.cluster.send(at, &frame).unwrap();
        self.note(
            index,
            &format!("forged {what} {number} to {:?} via {:?}", sent.outcome, sent.via),
        );
    }

    /// All flows go on: as long as one is silent behind a change, others need not know where it goes, nor within a
    /// second of a forged FIN or RST (security.md).
    fn settle(&mut self) {
        self.advance(61);
        let unsettled = |&index: &usize| self.flows[index].settled < SETTLED;
        let unsettled: Vec<usize> = (0..self.flows.len()).filter(unsettled).collect();
        unsettled.iter().for_each(|&index| (0..SETTLED).for_each(|_| self.send(index)));
    }

    fn changed(&mut self, what: &str) {
        for index in 0..self.flows.len() {
            self.flows[index].settled = 0;
            self.note(index, what);
        }
    }

    fn publish(&mut self) {
        self.cluster.publish().unwrap();
        let alive: Vec<usize> = self.cluster.alive().collect();
        for at in alive.into_iter().filter(|&at| self.restarted[at]) {
            set(&mut self.cluster, at, |settings| settings.ask_always = 1);
        }
    }

    fn drain_or_return(&mut self) {
        self.settle();
        let chosen = self.random.below(BACKENDS) as usize;
        let weight = 1 - self.cluster.backends[chosen].weight;
        self.cluster.backends[chosen].weight = weight;
        if self.cluster.backends.iter().all(|backend| backend.weight == 0) {
            self.cluster.backends[chosen].weight = 1;
        }
        self.publish();
        self.changed(&format!("backend {chosen} has weight {weight}"));
    }

    /// A balancer dies, and its flows come to another one; or the one that is dead comes back, empty.
    fn kill_or_revive(&mut self) {
        self.settle();
        let dead =
            (0..BALANCERS as usize).find(|&balancer| self.cluster.balancer(balancer).is_none());
        if let Some(dead) = dead {
            self.cluster.revive(dead).unwrap();
            self.restarted[dead] = true;
            self.publish();
            self.advance(1);
            self.changed(&format!("{dead} is back"));
            return;
        }
        let killed = self.random.below(BALANCERS) as usize;
        self.cluster.crash(killed);
        self.publish();
        for index in 0..self.flows.len() {
            if self.flows[index].at == killed {
                self.flows[index].at = self.somewhere();
            }
        }
        self.changed(&format!("{killed} died"));
    }

    /// A balancer that is alive.
    fn somewhere(&mut self) -> usize {
        let alive: Vec<usize> = self.cluster.alive().collect();
        alive[self.random.below(alive.len() as u32) as usize]
    }

    fn advance(&mut self, ticks: u32) {
        self.cluster.advance(ticks).unwrap();
        self.cluster.beat().unwrap();
    }

    fn go_on(&mut self) {
        let index = self.random.below(self.flows.len() as u32) as usize;
        match self.random.below(100) {
            0..40 => self.forge(index),
            40..70 => (0..=self.random.below(3)).for_each(|_| self.send(index)),
            70..90 => {
                let ticks = [1, 10, 62, 130][self.random.below(4) as usize];
                self.advance(ticks);
            }
            90..96 if self.flows[index].settled >= SETTLED => {
                self.flows[index].at = self.somewhere();
                self.flows[index].settled = 0;
                self.note(index, "moved");
            }
            96 => self.advance(700),
            97 => self.kill_or_revive(),
            98.. => self.drain_or_return(),
            _ => {}
        }
        self.step += 1;
    }
}

fn seeds() -> Range<u64> {
    let Ok(seeds) = std::env::var("HEDDLE_SEEDS") else { return 1..3 };
    let (first, last) = seeds.split_once("..").unwrap();
    first.parse().unwrap()..last.parse().unwrap()
}

#[test]
fn strangers_move_no_flow() {
    let backends = BACKENDS as usize;
    for seed in seeds() {
        let mut setup = Setup { balancers: BALANCERS as usize, backends, ..Setup::default() };
        let settings = &mut setup.settings;
        settings.flow_timeout = HOUR;
        settings.token_timeout = HOUR;
        // A forged FIN, or a SYN behind it, has an entry expire by these where the hash explains it (security.md).
        (settings.closing_timeout, settings.syn_timeout) = (HOUR, HOUR);
        let Some(cluster) = open(setup) else { return };
        let mut world = World::new(cluster, seed);
        (0..STEPS).for_each(|_| world.go_on());
    }
}
