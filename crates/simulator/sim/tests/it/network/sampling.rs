//! Samples of queues and links against the known values of a full link.

use heddle_sim::Outcome;
use heddle_units::{Rate, Time};

use crate::network::support::{run, scenario};

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
fn samples_are_taken_at_even_times_and_at_the_end_of_the_links_between_switches() {
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
    let even = (1..=214).map(|i| Time::micros(70) * i);
    let times: Vec<Time> = even.chain([Time::millis(15)]).collect();
    assert_eq!(samples.times, times, "20 us are left of 15 ms");
    assert_eq!(samples.intervals().last(), Some(Time::micros(20)));
    assert_eq!(samples.times[samples.measured_from], Time::micros(5040), "the first after 5 ms");
    assert_eq!((samples.sent.len(), samples.queued.len()), (215 * 4, 215 * 4));
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
    assert_eq!(queue.len(), 215 - samples.measured_from);
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

/// The name that a scenario's events take; a link alone needs no number.
#[test]
fn parallel_links_have_names_of_their_own() {
    let names = |parallel: &str| -> Vec<String> {
        let text = "scheme = \"ecmp\"\nworkload = { kind = \"long\", pairs = [\"host-1 host-2\"] }\n\
            [fabric]\nkind = \"leaf-spine\"\nspines = 1\nhosts_per_leaf = 1\n\
            [measure]\nduration = \"1us\"\nwarm_up = \"1us\"\nsample_every = \"1ms\"\n";
        let sampled = [("fabric.parallel_links", parallel), ("measure.sample", "[\"leaf-2\"]")];
        let samples = run(&scenario(text, &sampled), 1).samples;
        samples.ports.iter().map(|port| port.link()).collect()
    };
    assert_eq!(names("1"), ["host-2 leaf-2", "leaf-2 host-2", "leaf-2 spine-1", "spine-1 leaf-2"]);
    assert_eq!(names("2")[2..4], ["leaf-2 spine-1 #1", "leaf-2 spine-1 #2"]);
    assert_eq!(names("2")[4..], ["spine-1 leaf-2 #1", "spine-1 leaf-2 #2"]);
}

/// Two senders of 10 Gbps each and one receiver, with the links that a `sample` names. Times after
/// the last sample have no events of ports.
fn incast(sample: &str) -> Outcome {
    let text = r#"
        scheme = "ecmp"
        [fabric]
        kind = "leaf-spine"
        spines = 2
        hosts_per_leaf = 2
        parallel_links = 1
        port_buffer = "30KB"
        mark_above = "15KB"
        [workload]
        kind = "long"
        pairs = ["host-1 host-3", "host-2 host-3"]
        [measure]
        probe_warm_up = "1ms"
        warm_up = "4ms"
        duration = "10ms"
        sample_every = "50us"
    "#;
    run(&scenario(text, &[("measure.sample", sample)]), 1)
}

/// The last hop is the only one that cannot carry what arrives: it is full, its queue fits the
/// buffer, and each drop and mark of a switch is its own.
#[test]
fn the_last_hop_of_an_incast_has_its_queue_drops_and_marks() {
    let outcome = incast(r#"["leaf-2 host-3"]"#);
    let samples = &outcome.samples;
    let names: Vec<_> = samples.ports.iter().map(|p| (p.from.as_str(), p.to.as_str())).collect();
    assert_eq!(names, [("host-3", "leaf-2"), ("leaf-2", "host-3")]);
    assert_eq!(samples.times.last(), Some(&Time::millis(15)), "sampled to the end");
    let last_hop = samples.port("leaf-2", "host-3").expect("sampled");
    let window = samples.utilisation_of(last_hop).skip(samples.measured_from);
    let window: Vec<f64> = window.collect();
    let mean = window.iter().sum::<f64>() / window.len() as f64;
    assert!((0.95..1.0001).contains(&mean), "{mean}");
    assert!(samples.queue_of(last_hop).all(|bytes| bytes <= 30_000));
    let sum = |of: &[u32]| of.chunks(2).map(|row| u64::from(row[last_hop])).sum::<u64>();
    let counters = outcome.port_counters.iter().find(|port| port.to == "host-3").expect("it drops");
    assert_eq!(sum(&samples.dropped), counters.dropped);
    assert_eq!(sum(&samples.marked), counters.ecn_marked);
    assert_eq!(counters.dropped, outcome.totals.dropped);
    // Hosts' own ports mark as well.
    let mut others = outcome.port_counters.iter().filter(|port| port.to != "host-3");
    assert!(others.all(|port| port.from.starts_with("host-")), "{:?}", outcome.port_counters);
    assert!(counters.dropped > 0 && counters.ecn_marked > 0, "{counters:?}");
}

/// Sampling changes nothing that is simulated.
#[test]
fn groups_of_links_are_those_of_hosts_and_those_between_switches() {
    let ports = |sample: &str| incast(sample).samples.ports.len();
    assert_eq!(ports(r#"["switches"]"#), 2 * 4);
    assert_eq!(ports(r#"["hosts"]"#), 2 * 4);
    assert_eq!(ports(r#"["switches", "hosts", "host-1"]"#), 2 * 8, "each once");
    assert_eq!(ports(r#"["spine-2"]"#), 2 * 2);
    let of_hosts = incast(r#"["hosts"]"#);
    assert_eq!(of_hosts.long_flows, incast(r#"["switches"]"#).long_flows);
    let host_port = of_hosts.samples.port("host-1", "leaf-1").expect("sampled");
    assert!(
        of_hosts.samples.queue_of(host_port).any(|bytes| bytes > 0),
        "hosts wait for their own link"
    );
}
