//! Programs in the real kernel, run on frames.

use heddle_balancer_maps::abi::{Count, DecapCounter};
use heddle_balancer_maps::{Action, Balancer, Clock, Decap, Sizes, Sources};
use heddle_testing::{Need, skip_without};

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
