//! Helpers of the traces.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use heddle_balancer_maps::abi::{FlowState, Settings, TokenState};
use heddle_balancer_maps::maps;
use heddle_harness::{Cluster, Connection, Delivered, Events, Flow, Outcome, Setup, service};
use heddle_testing::{Need, skip_without};

/// Frames that the first balancer explains before it sends them. Comparing all maps takes milliseconds a frame.
const EXPLAINED: usize = 12;

/// A cluster; none if tests that need root are skipped. Of all that is sent in the traces,
/// explaining changes nothing.
#[track_caller]
#[allow(clippy::needless_pass_by_value)] // As `Cluster::new` takes it.
pub fn open(setup: Setup) -> Option<Cluster> {
    if skip_without(Need::Root) {
        return None;
    }
    Some(Cluster::new(Setup { explained: EXPLAINED, ..setup }).unwrap())
}

/// A client's flow to the service: clients differ in address and port.
pub fn flow(client: u16) -> Flow {
    let [high, low] = client.to_be_bytes();
    from(IpAddr::V4(Ipv4Addr::new(198, 18, high, low)), 40_000)
}

pub fn flow_v6(client: u16) -> Flow {
    from(IpAddr::V6(Ipv6Addr::new(0x2001, 0xdb8, 1, 0, 0, 0, 0, client)), 40_000)
}

pub fn from(address: IpAddr, port: u16) -> Flow {
    Flow { client: SocketAddr::new(address, port), service: service(address) }
}

/// As `flow`, with another port.
pub fn with_port(flow: Flow, port: u16) -> Flow {
    from(flow.client.ip(), port)
}

pub fn connection(client: u16) -> Connection {
    Connection::new(flow(client), client.into())
}

/// A frame of TCP with another sequence number than `Flow` gives it, which is 0 in a SYN and 1 behind it.
pub fn numbered(mut frame: Vec<u8>, sequence: u32) -> Vec<u8> {
    let ip = if frame[14] >> 4 == 6 { 40 } else { 20 };
    frame[14 + ip + 4..][..4].copy_from_slice(&sequence.to_be_bytes());
    frame
}

/// A connection whose token this balancer owns.
pub fn owned_by(cluster: &Cluster, balancer: usize, from: u16) -> Connection {
    let owned = |connection: &Connection| cluster.owner(connection.token()) == Some(balancer);
    (from..).map(connection).find(owned).unwrap()
}

/// A connection whose token these two keep, in this order.
pub fn kept_by(cluster: &Cluster, first: usize, second: usize) -> Connection {
    let keepers = |c: &Connection| (cluster.owner(c.token()), cluster.second(c.token()));
    (1..).map(connection).find(|c| keepers(c) == (Some(first), Some(second))).unwrap()
}

/// The first of some flows for which it holds.
pub fn find(flows: impl IntoIterator<Item = Flow>, holds: impl Fn(Flow) -> bool) -> Flow {
    flows.into_iter().find(|&flow| holds(flow)).unwrap()
}

pub fn backend(delivered: &Delivered) -> usize {
    match delivered.outcome {
        Outcome::Backend(backend) => backend,
        other => panic!("{other:?} via {:?}", delivered.via),
    }
}

pub trait Traced {
    /// Sends a frame in at a balancer: its backend.
    fn to(&self, balancer: usize, frame: &[u8]) -> usize;
    /// Sends a frame in at a balancer, and what that counted.
    fn seen(&mut self, balancer: usize, frame: &[u8]) -> (Delivered, Events);
    /// SYN, third ACK, first data, more data: the backend of all of them.
    fn connect(&self, balancer: usize, connection: &Connection) -> usize;
    /// SYN, third ACK, data of a plain flow.
    fn plain(&self, balancer: usize, flow: &Flow) -> usize;
    /// SYN with MP_JOIN, third ACK, data.
    fn join(&self, balancer: usize, connection: &Connection, subflow: &Flow) -> usize;
    /// The backend that the hash gives to a flow, as a SYN at a balancer that learns nothing of it
    /// shows.
    fn hashed(&self, flow: &Flow) -> usize;
    fn entry(&self, balancer: usize, flow: &Flow) -> Option<maps::Flow>;
    fn token(&self, balancer: usize, token: u32) -> Option<maps::Token>;
    fn token_state(&self, balancer: usize, connection: &Connection) -> Option<TokenState> {
        self.token(balancer, connection.token()).map(|entry| entry.state)
    }
    fn state(&self, balancer: usize, flow: &Flow) -> Option<FlowState> {
        self.entry(balancer, flow).map(|entry| entry.state)
    }
}

impl Traced for Cluster {
    fn to(&self, balancer: usize, frame: &[u8]) -> usize {
        let sent = self.send(balancer, frame).unwrap();
        assert_eq!(sent.packet(), &frame[14..], "as the client sent it");
        backend(&sent)
    }

    fn seen(&mut self, balancer: usize, frame: &[u8]) -> (Delivered, Events) {
        self.watch(|cluster| cluster.send(balancer, frame)).unwrap()
    }

    fn connect(&self, balancer: usize, connection: &Connection) -> usize {
        let frames = [
            connection.syn(),
            connection.third_ack(),
            connection.first_data(100),
            connection.data(100),
            connection.data(1400),
        ];
        all_to(self, balancer, &frames)
    }

    fn plain(&self, balancer: usize, flow: &Flow) -> usize {
        all_to(self, balancer, &[flow.syn(&[]), flow.ack(&[], 0), flow.ack(&[], 100)])
    }

    fn join(&self, balancer: usize, connection: &Connection, subflow: &Flow) -> usize {
        let frames = [connection.join(subflow), subflow.joined_ack(), subflow.data(100)];
        all_to(self, balancer, &frames)
    }

    fn hashed(&self, flow: &Flow) -> usize {
        let asked = self.alive().next().unwrap();
        backend_of(self, asked, self.explain(asked, &flow.syn(&[])).unwrap().trace.unwrap().target)
    }

    fn entry(&self, balancer: usize, flow: &Flow) -> Option<maps::Flow> {
        let flows = &self.balancer(balancer)?.maps.flows;
        let is = |e: &maps::Flow| (e.client, e.port) == (flow.client.ip(), flow.client.port());
        flows.iter().find(is)
    }

    fn token(&self, balancer: usize, token: u32) -> Option<maps::Token> {
        self.balancer(balancer)?.maps.tokens.iter().find(|entry| entry.token == token)
    }
}

/// Changes a balancer's settings.
pub fn set(cluster: &mut Cluster, at: usize, change: impl FnOnce(&mut Settings)) {
    let settings = &mut cluster.balancer_mut(at).unwrap().maps.settings;
    let mut changed = settings.get().unwrap();
    change(&mut changed);
    settings.set(&changed).unwrap();
}

pub fn backend_of(cluster: &Cluster, balancer: usize, target: u16) -> usize {
    cluster.backend_of(balancer, target).unwrap()
}

fn all_to(cluster: &Cluster, balancer: usize, frames: &[Vec<u8>]) -> usize {
    let backends: Vec<usize> = frames.iter().map(|frame| cluster.to(balancer, frame)).collect();
    assert!(backends.iter().all(|&backend| backend == backends[0]), "{backends:?}");
    backends[0]
}
