//! Floods on the real program: what they cost those who are connected, and those who come.
//!
//! A small table, a part of it in use by honest connections; then packets with made up senders,
//! four times as many as the table has places, and more of them between any two packets of those
//! who come meanwhile. Prints the table of docs/src/balancer/floods.md.

use std::net::{IpAddr, Ipv4Addr};

use crate::traces::world::{Traced, connection, flow, from, open, with_port};
use heddle_balancer_maps::Sizes;
use heddle_balancer_maps::abi::{FlowState, Limit, TokenState};
use heddle_harness::{Cluster, Connection, Flow, Outcome, Random, Setup};

/// Honest plain flows, and MPTCP connections with a join each.
const PLAIN: u16 = 200;
const CONNECTIONS: u16 = 50;
/// Places in both tables: 128 buckets and 48 extra ones.
const PLACES: u32 = 704;
/// Flows that come during a flood, of each kind.
const COMING: u16 = 40;
/// Shots between two packets of one who comes.
const BETWEEN: u32 = 20;
/// Age of the honest connections when the flood begins: beyond `refresh`.
const SETTLED: u32 = 3300;
/// Shots in a tick.
const RATE: u32 = 100;
const MOST_JOINS: u8 = 8;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Flood {
    Syn,
    Capable,
    Ack,
    Keys,
    KeysLimited,
    CapableKeys,
    UnknownJoin,
    Join,
    Handshake,
    Request,
    Confirmed,
    Udp,
    UdpFlow,
    UdpTalk,
}

impl Flood {
    /// One made up client's packets.
    fn shot(self, random: &mut Random, victim: &Connection) -> Vec<Vec<u8>> {
        let client = Ipv4Addr::from_bits(100 << 24 | random.below(1 << 22));
        let flow = from(IpAddr::V4(client), 1024 + random.below(60_000) as u16);
        let forged = Connection::new(flow, random.bits());
        match self {
            Flood::Syn => vec![flow.syn(&[])],
            Flood::Capable => vec![forged.syn()],
            Flood::Ack => vec![flow.ack(&[], 0)],
            Flood::Keys | Flood::KeysLimited => vec![forged.third_ack()],
            Flood::CapableKeys => vec![forged.syn(), forged.third_ack()],
            Flood::UnknownJoin => vec![forged.join(&flow)],
            Flood::Join => vec![victim.join(&flow)],
            Flood::Handshake => vec![flow.syn(&[]), flow.ack(&[], 0)],
            Flood::Request => vec![flow.syn(&[]), flow.ack(&[], 0), flow.ack(&[], 100)],
            Flood::Confirmed => vec![forged.syn(), forged.third_ack(), forged.data(0)],
            Flood::Udp => vec![flow.datagram(100)],
            Flood::UdpFlow => vec![flow.datagram(100); 2],
            Flood::UdpTalk => vec![flow.datagram(100); 3],
        }
    }
}

/// A cluster of one under fire.
struct Siege {
    cluster: Cluster,
    flood: Flood,
    random: Random,
    shots: u32,
    honest: Vec<(Flow, usize)>,
    connections: Vec<(Connection, usize)>,
    came: u16,
}

/// Effects of a flood.
#[derive(Debug)]
struct Effects {
    /// Honest flows that the table lost before anybody came.
    by_flood: usize,
    /// Honest flows, joins among them, and tokens that the tables lost.
    flows: usize,
    joins: usize,
    tokens: usize,
    /// Honest flows whose packets went elsewhere.
    moved: usize,
    /// Of those who came during the flood, and after each recovery time.
    served: Vec<(u32, Served)>,
}

/// Of [`COMING`] each: new plain flows that went to one backend, and that the table knew
/// afterwards; joins of new connections, and of old ones, that reached their connection's backend
/// with all their packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Served {
    plain: u16,
    remembered: u16,
    new_joins: u16,
    old_joins: u16,
}

const ALL: Served =
    Served { plain: COMING, remembered: COMING, new_joins: COMING, old_joins: COMING };

/// Times at which new flows are checked again: SYNs and provisional tokens have expired, UDP flows,
/// all flows.
const AFTER: [u32; 3] = [600, 1200, 18_000];

impl Siege {
    fn begin(flood: Flood) -> Option<Siege> {
        let sizes = Sizes { flows: 512, tokens: 512, ..Setup::default().sizes };
        let mut setup = Setup { sizes, ..Setup::default() };
        setup.settings.most_joins = MOST_JOINS;
        if flood == Flood::KeysLimited {
            setup.settings.learn = Limit { per_tick: 1, burst: 32 };
        }
        let cluster = open(setup)?;
        assert_eq!(cluster.balancer(0).unwrap().maps.flows.room(), PLACES as usize);
        let plain = (0..PLAIN).map(flow).map(|flow| (flow, cluster.plain(0, &flow)));
        let mut honest: Vec<(Flow, usize)> = plain.collect();
        let connections = (PLAIN..PLAIN + CONNECTIONS).map(connection);
        let connections: Vec<_> = connections.map(|c| (c, cluster.connect(0, &c))).collect();
        for (connection, home) in &connections {
            let subflow = with_port(connection.primary, 50_000);
            assert_eq!(cluster.join(0, connection, &subflow), *home);
            honest.extend([(connection.primary, *home), (subflow, *home)]);
        }
        let random = Random::new(flood as u64);
        let mut siege = Siege { cluster, flood, random, shots: 0, honest, connections, came: 0 };
        siege.rest(SETTLED);
        Some(siege)
    }

    fn fire(&mut self, shots: u32) {
        for _ in 0..shots {
            for frame in self.flood.shot(&mut self.random, &self.connections[0].0) {
                self.cluster.send(0, &frame).unwrap();
            }
            self.shots += 1;
            if self.shots.is_multiple_of(RATE) {
                self.cluster.advance(1).unwrap();
            }
        }
    }

    /// Sends a packet with shots behind it, and returns its end.
    fn send(&mut self, frame: &[u8], shots: u32) -> Outcome {
        let outcome = self.cluster.send(0, frame).unwrap().outcome;
        self.fire(shots);
        outcome
    }

    /// Sends packets; returns their end if it is the same for all.
    fn all(&mut self, frames: &[Vec<u8>], shots: u32) -> Option<Outcome> {
        let outcomes: Vec<Outcome> = frames.iter().map(|frame| self.send(frame, shots)).collect();
        outcomes.iter().all(|outcome| *outcome == outcomes[0]).then_some(outcomes[0])
    }

    /// An honest client that was not there before.
    fn next(&mut self) -> Connection {
        self.came += 1;
        connection(10_000 + self.came)
    }

    fn serve(&mut self, shots: u32) -> Served {
        let mut served = Served { plain: 0, remembered: 0, new_joins: 0, old_joins: 0 };
        for number in 0..usize::from(COMING) {
            let flow = self.next().primary;
            let outcome = self.all(&[flow.syn(&[]), flow.ack(&[], 0), flow.ack(&[], 100)], shots);
            served.plain += u16::from(outcome.is_some());
            let known = self.cluster.state(0, &flow) == Some(FlowState::Established);
            served.remembered += u16::from(known);
            self.leave(&flow);
            let new = self.next();
            let opening = [new.syn(), new.third_ack(), new.first_data(100), new.data(100)];
            let home = self.all(&opening, shots);
            served.new_joins += u16::from(self.joins(&new, home, shots));
            self.leave(&new.primary);
            // The first connection is the victim of its own kind of flood.
            let (old, home) = self.connections[1 + number];
            served.old_joins += u16::from(self.joins(&old, Some(Outcome::Backend(home)), shots));
        }
        served
    }

    fn joins(&mut self, connection: &Connection, home: Option<Outcome>, shots: u32) -> bool {
        let subflow = with_port(self.next().primary, 50_001);
        let frames = [connection.join(&subflow), subflow.joined_ack(), subflow.data(100)];
        let at = self.all(&frames, shots);
        self.leave(&subflow);
        at.is_some() && at == home
    }

    /// A client that came goes again.
    fn leave(&self, flow: &Flow) {
        self.cluster.send(0, &flow.fin()).unwrap();
    }

    /// Time passes, and honest connections go on.
    fn rest(&mut self, ticks: u32) {
        for _ in 0..ticks / 300 {
            self.cluster.advance(300).unwrap();
            for (flow, _) in &self.honest {
                self.cluster.send(0, &flow.data(100)).unwrap();
            }
        }
    }

    fn lost(&self, of: impl Fn(&Flow) -> bool) -> usize {
        let known = |flow: &Flow| {
            self.cluster.state(0, flow).is_some_and(|state| state == FlowState::Established)
        };
        self.honest.iter().filter(|(flow, _)| of(flow) && !known(flow)).count()
    }

    fn run(mut self) -> Effects {
        self.fire(4 * PLACES);
        let by_flood = self.lost(|_| true);
        let during = self.serve(BETWEEN);
        let confirmed = |(connection, _): &&(Connection, usize)| {
            self.cluster.token_state(0, connection) == Some(TokenState::Confirmed)
        };
        let tokens = self.connections.len() - self.connections.iter().filter(confirmed).count();
        let (joins, all) = (self.lost(|flow| flow.client.port() == 50_000), self.lost(|_| true));
        let moved = self.honest.iter().filter(|(flow, home)| {
            self.cluster.send(0, &flow.data(100)).unwrap().outcome != Outcome::Backend(*home)
        });
        let moved = moved.count();
        let mut served = vec![(0, during)];
        let mut waited = 0;
        for after in AFTER {
            self.rest(after - waited);
            waited = after;
            served.push((after, self.serve(0)));
        }
        Effects { by_flood, flows: all - joins, joins, tokens, moved, served }
    }
}

fn effects(flood: Flood) -> Option<Effects> {
    let effects = Siege::begin(flood)?.run();
    let share = |number: u16| format!("{:.0} %", 100.0 * f64::from(number) / f64::from(COMING));
    let row = |served: &Served| {
        [served.plain, served.remembered, served.new_joins, served.old_joins].map(share).join(" | ")
    };
    let whole = effects.served.iter().skip(1).find(|(_, served)| *served == ALL);
    let recovery = whole.map_or("-".to_owned(), |(ticks, _)| format!("{ticks}"));
    let lost = [effects.by_flood, effects.flows, effects.joins, effects.tokens, effects.moved]
        .map(|n| n.to_string());
    let during = row(&effects.served[0].1);
    println!("| {flood:?} | {} | {during} | {recovery} |", lost.join(" | "));
    Some(effects)
}

/// No flow is lost that was there, but for established flows that the hash explains, when joins
/// find no other place: those go where they went until backends change.
fn keeps_what_was(effects: &Effects) {
    let Effects { by_flood, joins, tokens, moved, .. } = *effects;
    assert_eq!((by_flood, joins, tokens, moved), (0, 0, 0, 0), "{effects:?}");
    let (_, during) = effects.served[0];
    assert_eq!(during.plain, COMING, "a plain flow always has its hash");
}

fn recovers_after(effects: &Effects, ticks: u32) {
    let at = effects.served.iter().find(|(after, _)| *after == ticks);
    assert_eq!(at.unwrap().1, ALL, "{effects:?}");
}

/// Packets that open something give way to others that do.
#[test]
fn one_packet_each() {
    let floods = [Flood::Syn, Flood::Capable, Flood::Ack, Flood::Keys, Flood::CapableKeys];
    for flood in floods.into_iter().chain([Flood::UnknownJoin, Flood::Join, Flood::Udp]) {
        let Some(effects) = effects(flood) else { return };
        keeps_what_was(&effects);
        assert_eq!(effects.flows, 0, "{effects:?}");
        let (_, during) = effects.served[0];
        let least = during.remembered.min(during.new_joins).min(during.old_joins);
        assert!(least >= COMING * 9 / 10, "{effects:?}");
        recovers_after(&effects, 600);
    }
}

/// The limit of keys from flows that never opened is for all: those whose SYN's entry gave way need
/// it too.
#[test]
fn keys_within_limits() {
    let Some(effects) = effects(Flood::KeysLimited) else { return };
    keeps_what_was(&effects);
    assert!(effects.served[0].1.new_joins >= COMING / 2, "{effects:?}");
    recovers_after(&effects, 600);
}

/// Made up clients that go on look like true ones to who does not see the answers. Their flows give
/// way as openings do, until they are a second old and go on still.
#[test]
fn several_packets_each() {
    let floods = [Flood::Handshake, Flood::Request, Flood::Confirmed, Flood::UdpFlow];
    for flood in floods.into_iter().chain([Flood::UdpTalk]) {
        let Some(effects) = effects(flood) else { return };
        keeps_what_was(&effects);
        assert_eq!(effects.flows, 0, "{effects:?}");
        let (_, during) = effects.served[0];
        let least = during.remembered.min(during.new_joins).min(during.old_joins);
        assert!(least >= COMING * 9 / 10, "{effects:?}");
        recovers_after(&effects, 600);
    }
}

/// Connections of some seconds, whose clients went on behind the first, against ten times as many blind openings as
/// the table has tokens.
#[test]
fn blind_openings_displace_no_young_token() {
    const YOUNG: u16 = 200;
    let sizes = Sizes { tokens: 4096, flows: 1 << 16, ..Setup::default().sizes };
    let Some(mut cluster) = open(Setup { sizes, ..Setup::default() }) else { return };
    let young: Vec<_> = (0..YOUNG).map(connection).map(|c| (c, cluster.connect(0, &c))).collect();
    for _ in 0..3 {
        cluster.advance(61).unwrap();
        for (connection, home) in &young {
            assert_eq!(cluster.to(0, &connection.data(100)), *home);
        }
    }
    let mut random = Random::new(1);
    for shot in 0..40_000 {
        for frame in Flood::Confirmed.shot(&mut random, &young[0].0) {
            cluster.send(0, &frame).unwrap();
        }
        if shot % RATE == 0 {
            cluster.advance(1).unwrap();
        }
    }
    let lost = young.iter().filter(|(connection, home)| {
        let join = connection.join(&with_port(connection.primary, 50_000));
        cluster.send(0, &join).unwrap().outcome != Outcome::Backend(*home)
    });
    assert_eq!(lost.count(), 0);
}
