use heddle_scenario::{Scenario, Source, load};

use super::*;

fn scenario() -> Scenario {
    let text = r#"
        [fabric]
        kind = "two-pod"
        convergence = "1ms"
        link_delay = "1us"
        [transport]
        kind = "tcp"
        min_rto = "10ms"
        [scheme]
        kind = "hula"
        [workload]
        kind = "flows"
        sizes = "fixed:100KB"
        load = 0.5
        [measure]
        warm_up = "20ms"
        duration = "50ms"
        sample_every = "100us"
        [[event]]
        at = "30ms"
        fail = ["core-2 agg-4"]
    "#;
    let no_files = |_: &str| Err(std::io::Error::other("none"));
    load(&Source::new("x.toml", text), &no_files).expect("a scenario")
}

#[test]
fn rates_fall_and_times_grow_alike() {
    let scaled = Scaling { rate: 1e-3, size: 1.0 }.apply(&scenario());
    let rates: Vec<Rate> = scaled.fabric.graph.links.iter().map(|link| link.rate).collect();
    assert!(rates.contains(&Rate::mbps(10)) && rates.contains(&Rate::mbps(40)));
    assert_eq!(scaled.fabric.graph.links[0].delay, Time::millis(1));
    assert_eq!(scaled.fabric.convergence, Time::secs(1));
    assert_eq!(scaled.fabric.port, scenario().fabric.port, "buffers stay");
    assert_eq!(scaled.transport.tcp().min_rto, Time::secs(10));
    assert_eq!(scaled.measure.warm_up, Time::secs(20));
    assert_eq!(scaled.measure.until, Until::Time(Time::secs(50)));
    assert_eq!(scaled.measure.sample_every, Some(Time::millis(100)));
    assert_eq!(scaled.events[0].at, Time::secs(30));
    let Scheme::Hula(hula) = scaled.scheme else { panic!("HULA is meant") };
    assert_eq!((hula.probe_period, hula.flowlet_gap), (Time::millis(200), Time::millis(100)));
    let Workload::Flows(flows) = &scaled.workload else { panic!("flows are meant") };
    assert_eq!((flows.capacity, flows.load), (Rate::mbps(160), 0.5));
}

#[test]
fn smaller_flows_shorten_times() {
    let scaled = Scaling { rate: 1e-3, size: 0.1 }.apply(&scenario());
    let Workload::Flows(flows) = &scaled.workload else { panic!("flows are meant") };
    assert!((flows.sizes.mean() - 10_000.0).abs() < 1e-6);
    assert_eq!(scaled.measure.warm_up, Time::secs(2));
}

#[test]
fn no_scaling_changes_nothing() {
    assert_eq!(Scaling::NONE.apply(&scenario()), scenario());
}

/// 160 Gbps at half load are 6.6 million frames; with acknowledgements and 6 links 79 million hops
/// a second. Two processors carry 120 000.
#[test]
fn the_machine_sets_the_rate() {
    assert_eq!(Scaling::for_machine(&scenario(), Kind::Ebpf, 2).rate, 1e-3);
    assert_eq!(Scaling::for_machine(&scenario(), Kind::Ebpf, 8).rate, 5e-3);
    assert_eq!(Scaling::for_machine(&scenario(), Kind::Ebpf, 1 << 20).rate, 1.0);
    assert_eq!(Scaling::for_machine(&scenario(), Kind::Bmv2, 12).rate, 1e-3);
}
