//! Cost of a decision, and its effect on a router's rate (figure 8).
//!
//! The paper measured a whole Linux router: 600 kpps by turns, 570 with a hash by CRC16, 560 with
//! CFLB by RC5, 500 by Skip32. Here the decision alone is measured; all else that a router does
//! with a packet is taken to cost what it cost the paper's, 1/600 kpps.

use std::hint::black_box;

use heddle_policy::cflb::Fields;
use heddle_study::cpu_time::thread_seconds;
use serde::Serialize;

use super::hashes::{CflbRouter, Chooser, Empty, Hash, HashModulo, RoundRobin, Salting};
use super::mix::Mix;
use heddle_claims::stats::quantile;
use heddle_policy::cflb::{CflbConfig, Cipher, Field, PortRange, Rules};

/// Packets per second that the paper's router forwards when it chooses by turns.
pub const PAPERS_ROUND_ROBIN: f64 = 600_000.0;

/// The name of the chooser that choosers are compared with: what remains is the cost of the choice.
pub const ROUND_ROBIN: &str = "round robin";

/// Flows whose packets are decided about, one packet of each.
const PACKETS: usize = 4096;

/// Decisions about each packet in one round.
const TIMES: usize = 16;

/// Next hops, as in figure 8.
const NEXT_HOPS: u16 = 2;

/// Cost of one chooser's decision.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Cost {
    /// The chooser's name.
    pub chooser: String,
    /// Processor time of one decision in nanoseconds, the loop around it included: the median of
    /// the rounds.
    pub nanoseconds: f64,
    /// Packets per second of the paper's router, if it spent on a decision what this machine spends
    /// beyond choosing by turns.
    pub papers_rate: f64,
}

/// Those that are measured: two baselines, the hashes, and CFLB with B = 4 (shifts would do), 16
/// and 3.
pub fn subjects() -> Vec<Chooser> {
    let hash = |hash| {
        let function = HashModulo { hash, salting: Salting::Appended };
        Chooser::new(function.name(), function)
    };
    let baselines =
        [Chooser::new("empty", Empty), Chooser::new(ROUND_ROBIN, RoundRobin::default())];
    let hashes =
        [Hash::Crc16, Hash::Crc16Sliced, Hash::Crc32, Hash::Toeplitz, Hash::Xxh64, Hash::Md5];
    baselines.into_iter().chain(hashes.map(hash)).chain(routers()).collect()
}

fn routers() -> impl Iterator<Item = Chooser> {
    let source_port = Field::SourcePort(PortRange::ALL);
    [
        (Cipher::Rc5, Field::Ports, 4),
        (Cipher::Rc5, Field::Ports, 16),
        (Cipher::Rc5, Field::Ports, 3),
        (Cipher::Skip32, Field::Ports, 4),
        (Cipher::Feistel, Field::Ports, 4),
        (Cipher::Feistel, source_port, 4),
    ]
    .into_iter()
    .filter_map(|(cipher, field, radix)| {
        let function = CflbRouter::new(CflbConfig { field, cipher, radix, rules: Rules::Even })?;
        Some(Chooser::new(function.name(), function))
    })
}

/// Measures each chooser on this thread, the choosers by turns within a round, so that a slow
/// moment of the machine hits all alike. Rates are compared with the chooser named [`ROUND_ROBIN`],
/// or with no cost at all if there is none. Empty without rounds.
pub fn measure(choosers: &[Chooser], rounds: usize) -> Vec<Cost> {
    if rounds == 0 {
        return Vec::new();
    }
    let packets = packets();
    let mut times = vec![Vec::with_capacity(rounds); choosers.len()];
    for _ in 0..rounds {
        for (chooser, times) in choosers.iter().zip(&mut times) {
            times.push(round(chooser, &packets));
        }
    }
    let medians: Vec<f64> = times.into_iter().map(median).collect();
    let by_turns = choosers.iter().position(|chooser| chooser.name == ROUND_ROBIN);
    let base = by_turns.map_or(0.0, |i| medians[i]);
    let cost = |(chooser, &nanoseconds): (&Chooser, &f64)| Cost {
        chooser: chooser.name.clone(),
        nanoseconds,
        papers_rate: rate_with(nanoseconds - base),
    };
    choosers.iter().zip(&medians).map(cost).collect()
}

/// Packets per second of the paper's router when a decision takes so many nanoseconds more than
/// choosing by turns.
pub fn rate_with(more_nanoseconds: f64) -> f64 {
    1.0 / (1.0 / PAPERS_ROUND_ROBIN + more_nanoseconds / 1e9)
}

/// One packet of each of the first flows of a backbone.
fn packets() -> Vec<Fields> {
    let mut next = 0;
    let is_new = |flow: u32| {
        let new = flow == next;
        next += u32::from(new);
        new
    };
    let mut is_new = is_new;
    let first = Mix::Backbone.packets(1, u64::MAX).filter(|packet| is_new(packet.flow));
    first.map(|packet| packet.fields).take(PACKETS).collect()
}

/// Nanoseconds for a decision.
fn round(chooser: &Chooser, packets: &[Fields]) -> f64 {
    let function = black_box(&chooser.function);
    let start = thread_seconds();
    for _ in 0..TIMES {
        for fields in packets {
            black_box(function.next_hop(black_box(fields), 1, black_box(NEXT_HOPS)));
        }
    }
    1e9 * (thread_seconds() - start) / (TIMES * packets.len()) as f64
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    quantile(&times, 0.5).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 1/570 kpps - 1/600 kpps is 87.7 ns, 1/560 is 119 ns more, 1/500 333 ns: what the paper's
    /// figures say of its choosers.
    #[test]
    fn the_papers_rates_are_costs() {
        for (more, rate) in [(0.0, 600.0), (87.719, 570.0), (119.048, 560.0), (333.333, 500.0)] {
            assert!((rate_with(more) / 1000.0 - rate).abs() < 0.01, "{more}");
        }
    }

    #[test]
    fn packets_differ() {
        let mut tuples: Vec<_> = packets().iter().map(super::super::hashes::Tuple::new).collect();
        tuples.sort_unstable();
        tuples.dedup();
        assert_eq!(tuples.len(), PACKETS);
    }

    /// MD5 hashes a block of 64 bytes in 64 steps: on no machine does that take as little as
    /// nothing.
    #[test]
    fn every_subject_is_measured() {
        let subjects = subjects();
        let costs = measure(&subjects, 3);
        assert!(costs.iter().zip(&subjects).all(|(cost, subject)| cost.chooser == subject.name));
        let cost_of = |name: &str| costs.iter().find(|cost| cost.chooser == name).unwrap();
        assert_eq!(cost_of(ROUND_ROBIN).papers_rate, PAPERS_ROUND_ROBIN);
        assert!(cost_of("md5").nanoseconds > cost_of("empty").nanoseconds);
        assert!(cost_of("md5").papers_rate < cost_of("empty").papers_rate);
        assert_eq!(measure(&subjects, 0), []);
    }
}
