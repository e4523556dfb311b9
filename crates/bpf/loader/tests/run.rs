//! Programs in the real kernel, run on frames and measured.
#![allow(clippy::unwrap_used, reason = "tests")]

use std::path::Path;
use std::process::Command;
use std::sync::mpsc;

use heddle_bpf_loader::{
    Action, Bench, Clients, Error, Generator, Mode, interface_index, left_behind, own_network,
    pass, remove_pins,
};
use heddle_testing::{Need, require_program, skip_without};

#[test]
fn pass_passes_a_frame_as_it_is() {
    if skip_without(Need::Root) {
        return;
    }
    let frame: Vec<u8> = (0..100).collect();
    let run = pass().unwrap().run(&frame, 1).unwrap();
    assert_eq!((run.action, run.data), (Action::Pass, frame));
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
    for clients in [Clients::AsWritten, Clients::Many(65_536), Clients::Shuffled(65_536)] {
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
    assert_eq!(why(&[tcp_frame()], Clients::Shuffled(1000), 1), "1000 clients cannot be shuffled");
}

#[test]
fn only_ip_has_clients() {
    if skip_without(Need::Root) {
        return;
    }
    let mut generator = Generator::new(1).unwrap();
    let refused = generator.send(&[0; 60], Clients::Many(2), 1);
    assert!(matches!(refused, Err(Error::Bench(_))), "{refused:?}");
}

#[test]
fn the_kernel_limits_batches() {
    if skip_without(Need::Root) {
        return;
    }
    let pass = pass().unwrap();
    pass.run_live(&[0; 60], 1000, 64).unwrap();
    assert!(pass.run_live(&[0; 60], 1000, 1000).is_err());
}

/// The namespace has no name, and the thread that looks is in another one.
#[test]
fn links_whose_interface_is_gone_are_left_behind_and_those_of_other_namespaces_are_not() {
    if skip_without(Need::Root) {
        return;
    }
    require_program("ip", "iproute2");
    let folder = format!("/sys/fs/bpf/heddle-left-behind-{}", std::process::id());
    let folder = Path::new(&folder);
    let (attached, is_attached) = mpsc::channel();
    let (looked, has_looked) = mpsc::channel();
    let in_namespace = move || {
        own_network().unwrap();
        ip("link add one type veth peer name two");
        for name in ["one", "two"] {
            let interface = interface_index(name).unwrap();
            pass().unwrap().attach_lasting(folder, interface, Mode::Generic).unwrap();
        }
        attached.send(()).unwrap();
        has_looked.recv().unwrap();
        ip("link delete one");
    };
    std::thread::scope(|scope| {
        let namespace = scope.spawn(in_namespace);
        // An error if the thread has ended.
        is_attached.recv().unwrap();
        assert_eq!(left_behind(folder).unwrap(), [""; 0].map(Path::new), "both are there");
        looked.send(()).unwrap();
        namespace.join().unwrap();
    });
    let left = left_behind(folder).unwrap().len();
    remove_pins(folder).unwrap();
    assert_eq!(left, 2, "of both ends");
}

fn ip(words: &str) {
    let done = Command::new("ip").args(words.split_whitespace()).status().unwrap();
    assert!(done.success(), "{words}");
}
