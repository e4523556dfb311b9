//! MPTCP connections with two subflows over a cluster, as the experiments use them.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use heddle_balancer_maps::Sizes;
use heddle_balancer_maps::abi::MptcpMode;
use heddle_wire::Version;

use crate::system::System;
use heddle_harness::{
    Cluster, Connection, Delivered, Error, Flow, Outcome, Peers, Random, Setup, service,
};

/// Ticks of 16.8 ms in a second.
pub(crate) const SECOND: u32 = 60;

/// A client sends its SYN at most so often.
const SYN_TRIES: usize = 3;

/// A cluster of balancers of one system, and its clients.
pub(crate) struct Testbed {
    pub(crate) cluster: Cluster,
    system: System,
    random: Random,
}

/// A connection that has been opened.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Session {
    pub(crate) connection: Connection,
    pub(crate) second: Flow,
    /// Its backend.
    pub(crate) backend: usize,
    /// True for the first and the second subflow while they reach it.
    pub(crate) alive: [bool; 2],
}

impl Testbed {
    pub(crate) fn new(
        system: System,
        balancers: usize,
        backends: usize,
        connections: u32,
        seed: u64,
    ) -> Result<Testbed, Error> {
        let mode = match system {
            System::Tcp => MptcpMode::Off,
            System::Alone | System::Learn => MptcpMode::Learn,
            System::Published => MptcpMode::Assign,
        };
        let peers = if system == System::Alone { Peers::Unknown } else { Peers::Known };
        let defaults = Setup::default();
        // Two subflows, and as much again for what others register; a third of the rest is what
        // hashing leaves empty.
        let sizes = Sizes { flows: connections * 6, tokens: connections * 3, ..defaults.sizes };
        let settings = heddle_balancer_maps::abi::Settings {
            syn_timeout: 10 * SECOND,
            flow_timeout: 120 * SECOND,
            closing_timeout: 5 * SECOND,
            provisional_timeout: 10 * SECOND,
            token_timeout: 120 * SECOND,
            refresh: 30 * SECOND,
            ..defaults.settings
        };
        let setup = Setup { balancers, backends, mode, peers, sizes, settings, ..defaults };
        Ok(Testbed { cluster: Cluster::new(setup)?, system, random: Random::new(seed) })
    }

    /// A flow of this client, from a random port.
    pub(crate) fn flow(&mut self, client: u32) -> Flow {
        let address = IpAddr::V4(Ipv4Addr::from_bits(0x1400_0000 + client));
        let port = 1024 + self.random.below(0xffff - 1024) as u16;
        Flow { client: SocketAddr::new(address, port), service: service(address) }
    }

    pub(crate) fn random(&mut self) -> &mut Random {
        &mut self.random
    }

    /// Opens a connection of this client's first subflow at a balancer: its backend has it; none if
    /// no backend got it.
    pub(crate) fn open(
        &mut self,
        client: u32,
        at: Option<usize>,
    ) -> Result<Option<Session>, Error> {
        let (primary, second) = (self.flow(client), self.flow(client));
        let version = if self.system == System::Published { Version::V0 } else { Version::V1 };
        let mut connection = Connection { version, ..Connection::new(primary, self.random.bits()) };
        let sent = self.deliver_syn(&primary, at, &connection.syn())?;
        if let (System::Published, Some(keyed)) = (self.system, connection.keyed(&sent)) {
            connection = keyed;
        }
        self.deliver(&primary, at, &connection.third_ack())?;
        self.deliver(&primary, at, &connection.data(0))?;
        let Outcome::Backend(backend) = sent.outcome else { return Ok(None) };
        Ok(Some(Session { connection, second, backend, alive: [true, false] }))
    }

    /// Opens the second subflow.
    pub(crate) fn join_second(&self, session: &mut Session) -> Result<(), Error> {
        session.alive[1] = self.join_arrives(session, &session.second, None)?;
        if session.alive[1] {
            self.cluster.arrive(&session.second, &session.second.joined_ack())?;
        }
        Ok(())
    }

    /// Sends a join from this flow; true if it reaches the connection's backend.
    pub(crate) fn join_arrives(
        &self,
        session: &Session,
        subflow: &Flow,
        at: Option<usize>,
    ) -> Result<bool, Error> {
        let sent = self.deliver(subflow, at, &session.connection.join(subflow))?;
        Ok(sent.outcome == Outcome::Backend(session.backend))
    }

    /// Sends a segment of each subflow that is alive, and notes which still are. Returns the
    /// segments sent, and how many of them passed two balancers.
    pub(crate) fn send_segments(&self, session: &mut Session) -> Result<[u64; 2], Error> {
        let mut counts = [0, 0];
        for (index, flow) in [session.connection.primary, session.second].iter().enumerate() {
            if !session.alive[index] {
                continue;
            }
            let sent = self.cluster.arrive(flow, &flow.data(100))?;
            session.alive[index] = sent.outcome == Outcome::Backend(session.backend);
            counts[0] += 1;
            counts[1] += u64::from(sent.via.len() > 1);
        }
        Ok(counts)
    }

    /// Ends both subflows.
    pub(crate) fn close(&self, session: &Session) -> Result<(), Error> {
        for flow in [&session.connection.primary, &session.second] {
            self.cluster.arrive(flow, &flow.fin())?;
        }
        Ok(())
    }

    /// Sends a SYN, again where it is dropped, as TCP does: one SYN in 65,536 is when half of the keys
    /// are the balancer's own, since it makes at most 16 (`KEY_TRIES`).
    fn deliver_syn(
        &self,
        flow: &Flow,
        at: Option<usize>,
        frame: &[u8],
    ) -> Result<Delivered, Error> {
        let mut sent = self.deliver(flow, at, frame)?;
        for _ in 1..SYN_TRIES {
            if sent.outcome != Outcome::Dropped {
                break;
            }
            sent = self.deliver(flow, at, frame)?;
        }
        Ok(sent)
    }

    /// Sends a frame to this balancer, or to the one that the router chooses for the flow.
    fn deliver(&self, flow: &Flow, at: Option<usize>, frame: &[u8]) -> Result<Delivered, Error> {
        match at {
            Some(balancer) => self.cluster.send(balancer, frame),
            None => self.cluster.arrive(flow, frame),
        }
    }
}

pub(crate) fn percent(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { 100.0 * part as f64 / whole as f64 }
}
