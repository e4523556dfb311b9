//! Samples of queues and links against the known values of a full link.

use heddle_sim::Outcome;
use heddle_units::{Rate, Time};

use crate::support::{run, scenario};

/// Two hosts that send to one each over one link of 10 Gbps.
fn full_link() -> Outcome {
    let text = r#"
        scheme = "ecmp"
        [fabric]
        kind = "leaf-spine"
        spines = 1
        parallel_links = 1
        hosts_per_leaf = 2
        spine_rate = "10Gbps"
        [transport]
        kind = "tcp"
        control = "dctcp"
        [workload]
        kind = "long"
        pairs = ["host-1 host-3", "host-2 host-4"]
        [measure]
        probe_warm_up = "1ms"
        warm_up = "4ms"
        duration = "10ms"
        sample_every = "70us"
    "#;
    run(&scenario(text, &[]), 1)
}

#[test]
fn samples_are_taken_at_even_times_of_the_links_between_switches() {
    let samples = full_link().samples;
    let names: Vec<_> = samples.ports.iter().map(|p| (p.from.as_str(), p.to.as_str())).collect();
    let expected = [
        ("leaf-1", "spine-1"),
        ("leaf-2", "spine-1"),
        ("spine-1", "leaf-1"),
        ("spine-1", "leaf-2"),
    ];
    assert_eq!(names, expected);
    assert!(samples.ports.iter().all(|port| port.rate == Rate::gbps(10)));
    let times: Vec<Time> = (1..=214).map(|i| Time::micros(70) * i).collect();
    assert_eq!(samples.times, times, "up to 15 ms");
    assert_eq!(samples.times[samples.measured_from], Time::micros(5040), "the first after 5 ms");
    assert_eq!((samples.sent.len(), samples.queued.len()), (214 * 4, 214 * 4));
}

#[test]
fn a_full_link_reads_full_and_its_queue_fits_the_buffer() {
    let outcome = full_link();
    let samples = &outcome.samples;
    let up = samples.port("leaf-1", "spine-1").expect("they are linked");
    let utilisation: Vec<f64> = samples.utilisation_of(up).skip(samples.measured_from).collect();
    // A queue is known to the byte, so a sample may be wrong by one at each end.
    assert!(utilisation.iter().all(|share| (0.9999..1.0001).contains(share)), "{utilisation:?}");
    let queue: Vec<u32> = samples.queue_of(up).collect();
    assert_eq!(queue.len(), 214 - samples.measured_from);
    assert!(queue.iter().all(|&bytes| (1..=375_000).contains(&bytes)), "{queue:?}");
    let behind = samples.port("spine-1", "leaf-2").expect("they are linked");
    assert!(samples.queue_of(behind).all(|bytes| bytes <= 1518), "as fast as what feeds it");
}

#[test]
fn sent_bytes_of_links_are_consistent() {
    let outcome = full_link();
    let samples = &outcome.samples;
    let sent = |from: &str, to: &str| -> u64 {
        let port = samples.port(from, to).expect("they are linked");
        samples.sent.chunks(samples.ports.len()).map(|row| u64::from(row[port])).sum()
    };
    let (up, down) = (sent("leaf-1", "spine-1"), sent("spine-1", "leaf-2"));
    assert!((up - down) < 3 * 1518, "{up} up, {down} down: the rest is on the way");
    let acknowledged = sent("leaf-2", "spine-1") / 64 * 1518;
    assert!(down.abs_diff(acknowledged) < down / 500, "an acknowledgement for each segment");
}
