//! Programs in the real kernel, run on frames.

use heddle_balancer_maps::abi::{Count, DecapCounter};
use heddle_balancer_maps::{Action, Balancer, Clock, Decap, Sizes, Sources, Ticks};
use heddle_testing::{Need, skip_without};
use rustix::time::{ClockId, clock_gettime};

/// As studies have them: each with its maps, and each run by a thread of its own.
#[test]
fn many_balancers_live_in_one_process() {
    if skip_without(Need::Root) {
        return;
    }
    let load = |now| {
        let mut balancer = Balancer::load(&Sizes::small(), Clock::Settings).unwrap();
        balancer.maps.settings.set_now(now).unwrap();
        balancer
    };
    let balancers: Vec<_> = (0..4).map(load).collect();
    std::thread::scope(|scope| {
        for (now, balancer) in (0..).zip(balancers) {
            scope.spawn(move || {
                let run = balancer.program.run(&[0; 64], 1).unwrap();
                assert_eq!(run.action, Action::Pass);
                assert_eq!(balancer.maps.settings.get().unwrap().now, now);
            });
        }
    });
}

/// 14 bytes of Ethernet, 20 of IPv4, 20 of TCP: nothing but their places matters here.
fn tcp_frame() -> Vec<u8> {
    let mut frame = vec![0; 54];
    frame[12..14].copy_from_slice(&[0x08, 0x00]);
    frame
}

#[test]
fn the_backends_program_counts_what_is_no_tunnel() {
    if skip_without(Need::Root) {
        return;
    }
    let decap = Decap::load(6080, Sources::Listed).unwrap();
    let run = decap.program.run(&tcp_frame(), 3).unwrap();
    assert_eq!((run.action, run.data), (Action::Pass, tcp_frame()));
    assert_eq!(decap.count(DecapCounter::Other).unwrap(), Count { packets: 3, bytes: 3 * 54 });
    assert_eq!(decap.count(DecapCounter::Decapsulated).unwrap().packets, 0);
}

/// Nanoseconds of CLOCK_MONOTONIC, with which jiffies advance.
fn monotonic() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

/// A tick is 2^24 ns. The program reads its clock between two readings of this test's.
#[test]
fn ticks_advance_with_the_monotonic_clock() {
    if skip_without(Need::Root) {
        return;
    }
    let ticks = Ticks::load().unwrap();
    let (before, first) = (monotonic(), ticks.now().unwrap());
    let wanted = first.wrapping_add(20);
    let last = loop {
        match ticks.now().unwrap() {
            now if now.wrapping_sub(wanted) < 1 << 31 => break now,
            _ => std::thread::sleep(std::time::Duration::from_millis(1)),
        }
    };
    let passed = u64::from(last.wrapping_sub(first)) << 24;
    let most = monotonic() - before;
    // A tick more or less, and a jiffy of 10 ms at most. Slower it may seem: a processor that is
    // late updates jiffies late.
    let margin = (1 << 24) + 10_000_000;
    assert!(passed < most + margin, "{passed} of {most} ns");
}

#[test]
fn a_balancer_has_the_time_that_it_is_told() {
    if skip_without(Need::Root) {
        return;
    }
    let mut balancer = Balancer::load(&Sizes::small(), Clock::Settings).unwrap();
    balancer.maps.settings.set_now(77).unwrap();
    assert_eq!(balancer.now().unwrap(), 77);
    let balancer = Balancer::load(&Sizes::small(), Clock::Kernel).unwrap();
    let (before, now) = (Ticks::load().unwrap().now().unwrap(), balancer.now().unwrap());
    assert!(now.wrapping_sub(before) < 1 << 31, "{before}, then {now}");
}
