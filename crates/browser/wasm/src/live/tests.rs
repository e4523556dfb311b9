use heddle_sim::PortName;

use super::*;
use crate::choice::Choice;
use crate::prepare::map;
use crate::presets::PRESETS;

#[derive(Default)]
struct Kept(Vec<(f64, Vec<u8>, Vec<f64>, u32)>);

impl Listener for Kept {
    fn row(&mut self, row: Row<'_>) {
        self.0.push((row.at, row.levels.to_vec(), row.flows.to_vec(), row.dropped));
    }
}

fn small(link: &str, fails_at: &str, recovers_at: &str) -> Scenario {
    let choice = Choice {
        text: PRESETS[3].text.to_owned(),
        link: link.to_owned(),
        fails_at: fails_at.to_owned(),
        recovers_at: recovers_at.to_owned(),
        ..Choice::default()
    };
    choice.resolve().unwrap().1
}

/// Ports of all lanes of a drawing, in the opposite order, of 8 Gbps: 1000 bytes in a microsecond.
fn samples(lanes: &[(String, String)]) -> Samples {
    let port = |(from, to): &(String, String)| PortName {
        from: from.clone(),
        to: to.clone(),
        parallel: None,
        rate: Rate(8_000_000_000),
    };
    Samples { ports: lanes.iter().rev().map(port).collect(), ..Samples::default() }
}

fn add_row(samples: &mut Samples, at: Time, sent: &[u32], dropped: u32) {
    samples.times.push(at);
    samples.sent.extend(sent);
    samples.dropped.extend(std::iter::repeat_n(0, sent.len() - 1).chain([dropped]));
}

#[test]
fn a_row_has_the_levels_of_the_last_sample_and_the_flows_since_the_one_before() {
    let scenario = small("", "", "");
    let drawing = map(&scenario);
    let mut kept = Kept::default();
    let mut live = Live::new(&scenario, &drawing, &mut kept);
    let count = live.lanes.len();
    let mut samples = samples(&live.lanes);
    // The last port is the first lane: half of 1000 bytes in the first microsecond, all of 2000 in
    // the two that follow.
    let mut sent = vec![0; count];
    sent[count - 1] = 500;
    add_row(&mut samples, Time::micros(1), &sent, 0);
    live.sampled(&samples);
    let flow = FlowRecord {
        id: 1,
        index: 0,
        workload: 0,
        start: Time::ZERO,
        from: 0,
        to: 1,
        size: heddle_units::Bytes(3000),
        fct: Time::micros(2),
        ideal_fct: Time::micros(1),
    };
    live.finished(&flow);
    sent[count - 1] = 2000;
    add_row(&mut samples, Time::micros(3), &sent, 7);
    live.sampled(&samples);
    live.finished(&flow);
    live.finish(Time::micros(4));
    let Kept(rows) = kept;
    assert_eq!((rows[0].0, rows[0].1[0], rows[0].1[1]), (1e-6, 125, 0));
    assert!(rows[0].2.is_empty() && rows[0].3 == 0);
    assert_eq!((rows[1].1[0], rows[1].2.as_slice(), rows[1].3), (FULL, &[3000.0, 2e-6][..], 7));
    assert_eq!((rows.len(), rows[2].0, rows[2].2.len()), (3, 4e-6, 2), "none is lost at the end");
}

#[test]
fn a_link_is_down_in_both_directions_while_it_has_failed() {
    let scenario = small("leaf-2 spine-1", "10us", "20us");
    let drawing = map(&scenario);
    let mut kept = Kept::default();
    let mut live = Live::new(&scenario, &drawing, &mut kept);
    let mut samples = samples(&live.lanes);
    let sent = vec![0; live.lanes.len()];
    for micros in [10, 11, 20, 21] {
        add_row(&mut samples, Time::micros(micros), &sent, 0);
        live.sampled(&samples);
    }
    let down: Vec<usize> =
        kept.0.iter().map(|row| row.1.iter().filter(|&&level| level == DOWN).count()).collect();
    assert_eq!(down, [0, 2, 2, 0], "a sample is of the time before it");
}

#[test]
fn a_link_that_is_down_from_the_start_stays_down() {
    let scenario = small("leaf-2 spine-1", "", "");
    let drawing = map(&scenario);
    let mut kept = Kept::default();
    let live = Live::new(&scenario, &drawing, &mut kept);
    let down = (0..live.lanes.len()).filter(|&lane| !live.is_up(lane, Time::secs(1))).count();
    assert_eq!(down, 2);
}

/// Two links between each leaf and each spine: one of them fails, and each lane has a port of its
/// own.
#[test]
fn parallel_links_are_apart() {
    let text = PRESETS[3].text.replace("parallel_links = 1", "parallel_links = 2");
    let choice = Choice {
        text,
        link: "leaf-1 spine-1 #2".into(),
        fails_at: "0s".into(),
        ..Choice::default()
    };
    let scenario = choice.resolve().unwrap().1;
    let drawing = map(&scenario);
    let mut kept = Kept::default();
    let live = Live::new(&scenario, &drawing, &mut kept);
    let ports = ports_of(&live.lanes, &samples(&live.lanes));
    let mut apart: Vec<usize> = ports.into_iter().flatten().collect();
    apart.sort_unstable();
    assert_eq!(apart, (0..live.lanes.len()).collect::<Vec<_>>());
    let down: Vec<usize> =
        (0..live.lanes.len()).filter(|&lane| !live.is_up(lane, Time::secs(1))).collect();
    let ends: Vec<&str> = down.iter().map(|&lane| live.lanes[lane].0.as_str()).collect();
    assert_eq!(ends, ["leaf-1", "spine-1"]);
}
