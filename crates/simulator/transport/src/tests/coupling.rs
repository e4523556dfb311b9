//! Coupled windows in fluid models: rounds of one round-trip time, in which every window is
//! acknowledged once, with losses that hit segments at random. The equilibrium is known in closed
//! form, or by comparison with TCP.

use std::vec::Vec;

use heddle_units::Time;

use crate::congestion::{Acked, CongestionControl, gain};
use crate::mptcp::Coupling;
use crate::{Control, TcpConfig};

const MSS: u64 = 1000;
const RTT: Time = Time::millis(10);
const COUPLED: [Coupling; 3] = [Coupling::Lia, Coupling::Olia, Coupling::Balia];

/// The subflows of one connection; TCP has one.
struct Connection {
    coupling: Coupling,
    windows: Vec<CongestionControl>,
    /// Sums of the windows after each round, in segments.
    sums: Vec<f64>,
}

impl Connection {
    /// Past slow start: from ten segments each.
    fn new(coupling: Coupling, subflows: usize) -> Connection {
        let control =
            if coupling == Coupling::Uncoupled { Control::NewReno } else { Control::Coupled };
        let config = TcpConfig { control, mss: MSS as u16, ..TcpConfig::default() };
        let mut window = CongestionControl::new(&config);
        window.on_loss(20 * MSS, MSS);
        Connection {
            coupling,
            windows: (0..subflows).map(|_| window.clone()).collect(),
            sums: (0..subflows).map(|_| 0.0).collect(),
        }
    }

    /// One segment of a subflow's window is acknowledged.
    fn acknowledge(&mut self, own: usize) {
        let states: Vec<_> = self.windows.iter().map(|window| window.path_state(RTT)).collect();
        let window = &mut self.windows[own];
        let flight = window.cwnd;
        let ack = Acked {
            now: Time::ZERO,
            bytes: MSS,
            flight,
            una: MSS,
            nxt: flight,
            mss: MSS,
            srtt: RTT,
            echo: false,
        };
        window.set_gain(gain(self.coupling, &states, own));
        window.observe(&ack);
        window.on_ack(&ack);
    }

    fn segments(&self, own: usize) -> u64 {
        self.windows[own].cwnd / MSS
    }

    fn lose(&mut self, own: usize) {
        let flight = self.windows[own].cwnd;
        self.windows[own].on_loss(flight, MSS);
    }

    fn note(&mut self) {
        for (sum, window) in self.sums.iter_mut().zip(&self.windows) {
            *sum += window.cwnd as f64 / MSS as f64;
        }
    }

    fn total(&self) -> f64 {
        self.sums.iter().sum()
    }
}

/// xorshift64*: fractions from 0 to 1.
struct Chance(u64);

impl Chance {
    fn draw(&mut self) -> f64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 11) as f64 / (1u64 << 53) as f64
    }
}

/// Mean windows of subflows whose segments are lost with the given probabilities.
fn under_loss(coupling: Coupling, probabilities: &[f64]) -> Vec<f64> {
    const ROUNDS: u32 = 20_000;
    let mut chance = Chance(7);
    let mut connection = Connection::new(coupling, probabilities.len());
    for _ in 0..ROUNDS {
        for (own, &probability) in probabilities.iter().enumerate() {
            let segments = connection.segments(own);
            (0..segments).for_each(|_| connection.acknowledge(own));
            if (0..segments).any(|_| chance.draw() < probability) {
                connection.lose(own);
            }
        }
        connection.note();
    }
    connection.sums.iter().map(|sum| sum / f64::from(ROUNDS)).collect()
}

fn assert_near(what: &str, seen: f64, expected: f64, tolerance: f64) {
    let error = seen / expected - 1.0;
    assert!(error.abs() < tolerance, "{what}: {seen:.2}, theory {expected:.2}");
}

/// RFC 6356 goals 1 and 2: the whole does as well as TCP on the best path, and no better.
#[test]
fn the_whole_is_as_large_as_tcp_on_the_best_path() {
    let tcp = under_loss(Coupling::Uncoupled, &[0.001])[0];
    for coupling in COUPLED {
        for paths in [&[0.001, 0.001][..], &[0.001, 0.004], &[0.001, 0.002, 0.001]] {
            let whole: f64 = under_loss(coupling, paths).iter().sum();
            assert_near(&std::format!("{coupling:?} {paths:?}"), whole, tcp, 0.2);
        }
    }
    let whole: f64 = under_loss(Coupling::Uncoupled, &[0.001, 0.001]).iter().sum();
    assert_near("uncoupled", whole, 2.0 * tcp, 0.05);
}

/// Goal 3. With four times the loss, LIA's window is a quarter (windows go as 1 / p). BALIA's
/// balance of increase and decrease on the worse path is (1 + alpha) (4 + alpha) / 10 = 1.5 p_2 /
/// p_1, so alpha = 5.39, the ratio of the windows. OLIA's would leave it altogether, if it were not
/// best now and then by chance.
#[test]
fn windows_leave_the_worse_path() {
    let [lia, olia, balia] = COUPLED.map(|coupling| under_loss(coupling, &[0.001, 0.004]));
    assert_near("LIA", lia[0] / lia[1], 4.0, 0.2);
    assert_near("BALIA", balia[0] / balia[1], 5.39, 0.2);
    assert!(olia[1] < balia[1], "{olia:?} {balia:?}");
}

/// A connection shares a drop-tail link of 400 segments, buffer included, with three TCPs. The
/// excess is dropped.
fn share_of_a_link(coupling: Coupling, subflows: usize) -> f64 {
    const CAPACITY: u64 = 400;
    let mut chance = Chance(7);
    let mut connections = [subflows, 1, 1, 1].map(|n| Connection::new(Coupling::Uncoupled, n));
    connections[0] = Connection::new(coupling, subflows);
    for _ in 0..5_000 {
        for connection in &mut connections {
            for own in 0..connection.windows.len() {
                (0..connection.segments(own)).for_each(|_| connection.acknowledge(own));
            }
        }
        drop_excess(&mut connections, CAPACITY, &mut chance);
        connections.iter_mut().for_each(Connection::note);
    }
    let [own, tcps @ ..] = &connections;
    own.total() / (tcps.iter().map(Connection::total).sum::<f64>() / tcps.len() as f64)
}

/// Drops as many segments as are above the capacity, each of them alike likely; a window shrinks
/// once a round.
fn drop_excess(connections: &mut [Connection], capacity: u64, chance: &mut Chance) {
    let mut sent = Vec::new();
    for (id, connection) in connections.iter().enumerate() {
        let windows = 0..connection.windows.len();
        sent.extend(windows.map(|own| (id, own, connection.segments(own))));
    }
    let total: u64 = sent.iter().map(|(.., segments)| segments).sum();
    let dropped: Vec<u64> =
        (capacity..total).map(|_| (chance.draw() * total as f64) as u64).collect();
    let mut first = 0;
    for (id, own, segments) in sent {
        if dropped.iter().any(|at| (first..first + segments).contains(at)) {
            connections[id].lose(own);
        }
        first += segments;
    }
}

#[test]
fn subflows_on_one_link_take_one_share() {
    for subflows in [1, 2, 4] {
        for coupling in COUPLED {
            let share = share_of_a_link(coupling, subflows);
            assert_near(&std::format!("{coupling:?}, {subflows} subflows"), share, 1.0, 0.25);
        }
        let share = share_of_a_link(Coupling::Uncoupled, subflows);
        assert_near("uncoupled", share, subflows as f64, 0.25);
    }
}
