//! Changes of rate and delay with packets in the queue; losses by their distribution.

use heddle_scenario::{Impairment, Share};

use super::*;

const WHOLE: (Rate, Time) = (RATE, DELAY);

fn rate(gbps: u64) -> Impairment {
    Impairment { rate: Some(Rate::gbps(gbps)), ..Impairment::default() }
}

/// Arrivals less the delay, in bytes at the whole rate.
fn ends(network: &mut Network) -> Vec<Time> {
    network.arrivals(LATER).into_iter().map(|(at, ..)| at - DELAY).collect()
}

#[test]
fn waiting_packets_take_the_new_rate_and_the_one_in_transmission_the_old() {
    let mut network = one_port(limits(100_000), None);
    (0..4).for_each(|_| network.send_data(Time::ZERO, 1500));
    network.degrade(bytes(100), 0, 0, &rate(5));
    network.check(bytes(100));
    network.send_data(bytes(200), 1000);
    let at_half = [1500, 1500 + 3000, 1500 + 6000, 1500 + 9000, 1500 + 11_000];
    assert_eq!(ends(&mut network), at_half.map(bytes));
}

#[test]
fn a_repaired_port_sends_as_before() {
    let mut network = one_port(limits(100_000), None);
    network.degrade(Time::ZERO, 0, 0, &rate(5));
    (0..3).for_each(|_| network.send_data(Time::ZERO, 1500));
    network.repair(bytes(3000 + 100), 0, WHOLE);
    assert_eq!(ends(&mut network), [3000, 6000, 7500].map(bytes), "the second had started");
}

#[test]
fn a_packet_behind_the_one_in_transmission_alone_takes_the_new_rate() {
    let mut network = one_port(limits(100_000), None);
    (0..3).for_each(|_| network.send_data(Time::ZERO, 1500));
    // The first has arrived, the second is in transmission, the third waits.
    let now = DELAY + bytes(1500);
    assert_eq!(network.arrivals(now).len(), 1);
    network.degrade(now, 0, 0, &rate(1));
    assert_eq!(ends(&mut network), [3000, 3000 + 15_000].map(bytes));
}

#[test]
fn packets_do_not_overtake_each_other_when_the_delay_falls() {
    let mut network = one_port(limits(100_000), None);
    let slow = Impairment { delay: Some(Time::micros(50)), ..Impairment::default() };
    network.degrade(Time::ZERO, 0, 0, &slow);
    (0..3).for_each(|_| network.send_data(Time::ZERO, 1500));
    network.repair(bytes(100), 0, WHOLE);
    let mut at = Vec::new();
    while let Some((now, Event::Arrival(port))) = network.events.pop() {
        at.extend(network.arrive(now, port).map(|_| now));
    }
    let first = bytes(1500) + Time::micros(50);
    assert_eq!(at, [first, first, first], "the first keeps its delay, the others wait for it");
}

#[test]
fn a_packet_that_is_sent_after_the_delay_has_fallen_does_not_overtake_either() {
    let mut network = one_port(limits(100_000), None);
    let slow = Impairment { delay: Some(Time::micros(50)), ..Impairment::default() };
    network.degrade(Time::ZERO, 0, 0, &slow);
    network.send_data(Time::ZERO, 1500);
    network.repair(bytes(2000), 0, WHOLE);
    network.send_data(bytes(3000), 1500);
    let mut at = Vec::new();
    while let Some((now, Event::Arrival(port))) = network.events.pop() {
        at.extend(network.arrive(now, port).map(|_| now));
    }
    let first = bytes(1500) + Time::micros(50);
    assert_eq!(at, [first, first], "the second waits for the first");
}

#[test]
fn a_port_loses_its_share_of_packets() {
    let mut network = one_port(limits(100_000), None);
    let loss = Impairment { loss: Share::new(0.1), ..Impairment::default() };
    network.degrade(Time::ZERO, 0, 0, &loss);
    for n in 0..10_000 {
        network.send_data(bytes(2000) * n, 1500);
        network.arrivals(bytes(2000) * n);
    }
    // Binomial: 1000 on average, standard deviation 30; five of them are a chance of 6 in 10
    // million.
    let lost = network.port_stats[0].failure_drops;
    assert!((850..1150).contains(&lost), "{lost}");
}

#[test]
fn a_blackhole_takes_whole_flows() {
    let mut network = one_port(limits(100_000), None);
    let blackhole = Impairment { blackhole: Share::new(0.25), ..Impairment::default() };
    network.degrade(Time::ZERO, 0, 3, &blackhole);
    let mut lost_of = |flow: u32| {
        let before = network.port_stats[0].failure_drops;
        for n in 0..4 {
            let now = LATER * u64::from(4 * flow + n);
            network.send_of_flow(now, flow);
            network.arrivals(now + LATER / 2);
        }
        network.port_stats[0].failure_drops - before
    };
    let lost: Vec<u64> = (0..1000).map(&mut lost_of).collect();
    assert!(lost.iter().all(|&packets| packets == 0 || packets == 4), "all packets or none");
    // Binomial: 250 on average, standard deviation 13.7.
    let flows = lost.iter().filter(|&&packets| packets == 4).count();
    assert!((180..320).contains(&flows), "{flows}");
}
