//! Programs in the real kernel, run on frames.

use heddle_balancer_maps::abi::{Count, DecapCounter};
use heddle_balancer_maps::{
    Action, Balancer, Bench, Clients, Clock, Decap, Error, Sizes, Sources, pass,
};
use heddle_testing::{Need, skip_without};

#[test]
fn pass_passes_a_frame_as_it_is() {
    if skip_without(Need::Root) {
        return;
    }
    let frame: Vec<u8> = (0..100).collect();
    let run = pass().unwrap().run(&frame, 1).unwrap();
    assert_eq!((run.action, run.data), (Action::Pass, frame));
}

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
fn a_bench_takes_its_wrapper_off() {
    if skip_without(Need::Root) {
        return;
    }
    let (mut bench, pass) = (Bench::new().unwrap(), pass().unwrap());
    for clients in [Clients::AsWritten, Clients::Many(65_536)] {
        let cost = bench.measure(&pass, &[tcp_frame(), tcp_frame()], clients, 3).unwrap();
        assert_eq!((cost.action, cost.packets), (Action::Pass, 300_000));
        // A program that passes is one instruction more than none.
        assert!(cost.wrapper > 5.0 && cost.program.abs() < cost.wrapper, "{cost:?}");
    }
}

#[test]
fn a_bench_refuses_what_it_cannot_measure() {
    if skip_without(Need::Root) {
        return;
    }
    let (mut bench, pass) = (Bench::new().unwrap(), pass().unwrap());
    let mut why = |frames: &[Vec<u8>], clients, batches| match bench
        .measure(&pass, frames, clients, batches)
    {
        Err(Error::Bench(why)) => why,
        other => panic!("{other:?}"),
    };
    assert!(why(&[], Clients::AsWritten, 1).starts_with("0 frames"));
    assert!(why(&vec![tcp_frame(); 1025], Clients::AsWritten, 1).starts_with("1025 frames"));
    assert_eq!(why(&[vec![0; 1601]], Clients::AsWritten, 1), "a frame has 1601 bytes");
    assert_eq!(
        why(&[vec![0; 60]], Clients::Many(2), 1),
        "many clients need frames of IPv4 or IPv6"
    );
    assert_eq!(why(&[tcp_frame()], Clients::AsWritten, 0), "no batch");
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
    assert_eq!(decap.count(DecapCounter::Stripped).unwrap().packets, 0);
}
