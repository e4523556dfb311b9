//! Deaths, returns, false alarms and reloads of one of three balancers in any order, under traffic:
//! every packet of a live flow reaches its backend, and every join its connection's.

use heddle_harness::{Backend, Cluster, Connection, Error, Flow, Outcome, Random, Setup};

use crate::traces::world::{connection, flow, open, with_port};

/// Packets that a client sends again before it is a failure.
const TRIES: usize = 6;

#[derive(Clone, Copy)]
struct Live {
    connection: Option<Connection>,
    flow: Flow,
    home: usize,
}

struct Churn {
    cluster: Cluster,
    random: Random,
    live: Vec<Live>,
    clients: u16,
    ports: u16,
}

impl Churn {
    /// Sends a frame where the router sends it, again if a dead balancer was asked; the time
    /// between is a retransmission's.
    fn send(&mut self, flow: &Flow, frame: &[u8]) -> usize {
        let mut ways = Vec::new();
        for _ in 0..TRIES {
            let sent = self.cluster.send(self.cluster.route(flow).unwrap(), frame).unwrap();
            match sent.outcome {
                Outcome::Backend(backend) => return backend,
                Outcome::Lost => ways.push(sent.via),
                other => panic!("{other:?} via {:?}", sent.via),
            }
            // By then it is known to be dead.
            self.wait(12);
            self.cluster.publish().unwrap();
        }
        panic!("lost via {ways:?}");
    }

    fn wait(&mut self, ticks: u32) {
        for _ in 0..ticks {
            self.cluster.advance(1).unwrap();
            self.cluster.beat().unwrap();
        }
    }

    fn open(&mut self) {
        self.clients += 1;
        let connection = connection(self.clients);
        let flow = connection.primary;
        let frames = [connection.syn(), connection.third_ack(), connection.first_data(10)];
        let homes: Vec<usize> = frames.iter().map(|frame| self.send(&flow, frame)).collect();
        assert!(homes.iter().all(|&home| home == homes[0]), "{homes:?}");
        self.live.push(Live { connection: Some(connection), flow, home: homes[0] });
    }

    fn open_plain(&mut self) {
        self.clients += 1;
        let flow = flow(self.clients);
        let home = self.send(&flow, &flow.syn(&[]));
        self.live.push(Live { connection: None, flow, home });
    }

    fn join(&mut self) {
        let at = self.random.below(self.live.len() as u32) as usize;
        let (Some(connection), home) = (self.live[at].connection, self.live[at].home) else {
            return;
        };
        self.ports += 1;
        let subflow = with_port(connection.primary, 1000 + self.ports);
        for frame in [connection.join(&subflow), subflow.joined_ack(), subflow.data(10)] {
            assert_eq!(self.send(&subflow, &frame), home, "a join");
        }
        self.live.push(Live { connection: Some(connection), flow: subflow, home });
    }

    /// Some packets of every flow.
    fn talk(&mut self, packets: usize) {
        for at in 0..self.live.len() {
            let Live { connection, flow, home } = self.live[at];
            let frame = if connection.is_some() { flow.data(10) } else { flow.ack(&[], 10) };
            for _ in 0..packets {
                assert_eq!(self.send(&flow, &frame), home, "{flow:?}");
            }
        }
    }

    /// Traffic of all kinds.
    fn traffic(&mut self) {
        for _ in 0..2 {
            self.open();
            self.open_plain();
            self.join();
            self.join();
        }
        self.talk(1);
    }

    /// Tells balancers one by one, in any order, with traffic in between.
    fn tell(&mut self, view: impl Fn(usize) -> Vec<usize>) -> Result<(), Error> {
        let mut rest: Vec<usize> = self.cluster.alive().collect();
        while !rest.is_empty() {
            let next = rest.swap_remove(self.random.below(rest.len() as u32) as usize);
            self.cluster.publish_to(next, &view(next))?;
            self.traffic();
        }
        self.cluster.publish()
    }

    fn death_and_return(&mut self) -> Result<(), Error> {
        let dead = self.random.below(3) as usize;
        self.cluster.crash(dead);
        // Detection takes 6 ticks; meanwhile it is suspect.
        self.talk(1);
        self.wait(6);
        let alive: Vec<usize> = self.cluster.alive().collect();
        self.tell(|_| alive.clone())?;
        self.talk(5);
        self.cluster.restart(dead)?;
        self.wait(1);
        self.tell(|_| vec![0, 1, 2])?;
        self.talk(5);
        Ok(())
    }

    /// One balancer takes another for dead that lives.
    fn false_alarm(&mut self) -> Result<(), Error> {
        let (wrong, victim) = (self.random.below(3) as usize, self.random.below(2) as usize);
        let victim = (wrong + 1 + victim) % 3;
        let view: Vec<usize> = (0..3).filter(|&balancer| balancer != victim).collect();
        self.cluster.publish_to(wrong, &view)?;
        self.traffic();
        self.talk(5);
        self.cluster.publish_to(wrong, &[0, 1, 2])?;
        self.traffic();
        self.talk(5);
        Ok(())
    }

    /// A backend is added at the balancers one after the other. Joins to connections on it arrive
    /// when all know it.
    fn reload(&mut self) -> Result<(), Error> {
        self.cluster.backends.push(Backend::of_weight(1));
        let mut rest: Vec<usize> = self.cluster.alive().collect();
        while !rest.is_empty() {
            let next = rest.swap_remove(self.random.below(rest.len() as u32) as usize);
            self.cluster.publish_to(next, &[0, 1, 2])?;
            self.join();
            self.open();
            self.open_plain();
            self.talk(1);
        }
        self.wait(1);
        self.cluster.publish()?;
        self.talk(5);
        Ok(())
    }
}

/// A change of the cluster.
type Change = fn(&mut Churn) -> Result<(), Error>;

/// Four events of these kinds, in an order that the seed gives.
fn churn(seed: u64, events: &[Change]) {
    let mut setup = Setup { balancers: 3, backends: 5, ..Setup::default() };
    setup.settings.heartbeat = 2;
    let Some(mut cluster) = open(setup) else { return };
    cluster.beat().unwrap();
    let random = Random::new(seed);
    let mut churn = Churn { cluster, random, live: Vec::new(), clients: 0, ports: 0 };
    churn.traffic();
    for _ in 0..4 {
        let event = churn.random.below(events.len() as u32);
        events[event as usize](&mut churn).unwrap();
        // The longest-lived end.
        let ended = churn.live.len().saturating_sub(60);
        churn.live.drain(..ended);
    }
}

#[test]
fn no_order_of_deaths_and_false_alarms_breaks_a_flow_or_a_join() {
    for seed in 0..3 {
        churn(seed, &[Churn::death_and_return, Churn::death_and_return, Churn::false_alarm]);
    }
}

#[test]
fn no_order_of_reloads_and_false_alarms_breaks_a_flow_or_a_join() {
    for seed in 0..2 {
        churn(seed, &[Churn::reload, Churn::false_alarm]);
    }
}
