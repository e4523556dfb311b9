//! A balancer that goes and comes again: maps and links that outlive it.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::network::{ip, veth};
use aya::maps::{Array, Map, MapData};
use etherparse::PacketBuilder;
use heddle_balancer_maps::abi::{Counter, HEDDLE_ABI, Settings};
use heddle_balancer_maps::{
    Attached, Balancer, Error, Mode, Sizes, detach, interface_index, links_of, pass, remove_pins,
};
use heddle_bpf_loader::{Clients, Generator, own_network};
use heddle_testing::{Need, skip_without};

/// A BPF file system of the test's own, mounted until it is dropped.
struct FileSystem(PathBuf);

impl FileSystem {
    fn mount(test: &str) -> Self {
        let path = std::env::temp_dir().join(format!("heddle-{}-{test}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        let none = rustix::mount::MountFlags::empty();
        rustix::mount::mount("bpf", &path, "bpf", none, None).unwrap();
        Self(path)
    }
}

impl Drop for FileSystem {
    fn drop(&mut self) {
        let lazily = rustix::mount::UnmountFlags::DETACH;
        let _ = rustix::mount::unmount(&self.0, lazily);
        let _ = std::fs::remove_dir(&self.0);
    }
}

#[test]
fn the_next_balancer_finds_maps_and_takes_the_link() {
    if skip_without(Need::Root) {
        return;
    }
    let system = FileSystem::mount("link");
    let (directory, near) = (system.0.join("heddle"), veth());
    let load = || Balancer::load_pinned(&directory, &Sizes::small()).unwrap();

    let mut first = load();
    first.maps.settings.set(&Settings { refresh: 42, ..Settings::default() }).unwrap();
    assert_eq!(first.attach(near, Mode::Native).unwrap(), Attached::Afresh);
    let before = shown();
    drop(first);
    assert_eq!(shown(), before, "the program stays when its daemon goes");

    let mut second = load();
    assert_eq!(second.maps.settings.get().unwrap().refresh, 42);
    assert_eq!(second.attach(near, Mode::Native).unwrap(), Attached::InPlace);
    assert_ne!(shown(), before);

    drop(second);
    detach(&directory, near).unwrap();
    // The kernel lets go of links in its own time.
    let attached = || ip("-d link show near").contains("prog/xdp");
    let gone = (0..100).any(|_| {
        std::thread::sleep(Duration::from_millis(20));
        !attached()
    });
    assert!(gone);
    remove_pins(&directory).unwrap();
    assert!(!directory.exists());
}

#[test]
fn the_program_that_passes_stays_and_is_replaced_and_detached() {
    if skip_without(Need::Root) {
        return;
    }
    let system = FileSystem::mount("pass");
    let (directory, near) = (system.0.join("pass"), veth());
    let attach = || pass().unwrap().attach_lasting(&directory, near, Mode::Native).unwrap();
    assert_eq!([attach(), attach()], [Attached::Afresh, Attached::InPlace]);
    let program = shown().parse().unwrap();
    assert_eq!(links_of(program).unwrap().len(), 1, "it stays without a process");
    assert_eq!(links_of(u32::MAX).unwrap(), [0; 0]);
    detach(&directory, near).unwrap();
    assert!(matches!(detach(&directory, near), Err(Error::Pins { .. })), "it is gone");
}

/// A link keeps its mode: that of another one takes its place.
#[test]
fn a_program_is_attached_in_the_mode_that_is_asked_for() {
    if skip_without(Need::Root) {
        return;
    }
    let system = FileSystem::mount("mode");
    let (directory, near) = (system.0.join("pass"), veth());
    let attach = |mode| pass().unwrap().attach_lasting(&directory, near, mode).unwrap();
    let is_generic = || ip("-d link show near").contains("xdpgeneric");
    for (mode, attached) in [
        (Mode::Native, Attached::Afresh),
        (Mode::Generic, Attached::Afresh),
        (Mode::Generic, Attached::InPlace),
        (Mode::Native, Attached::Afresh),
        (Mode::Native, Attached::InPlace),
    ] {
        assert_eq!(attach(mode), attached, "{mode:?}");
        assert_eq!(is_generic(), mode == Mode::Generic, "{mode:?}");
    }
    attach(Mode::Generic);
    detach(&directory, near).unwrap();
    assert!(matches!(detach(&directory, near), Err(Error::Pins { .. })), "it is gone");
}

/// Two namespaces have interfaces of one number, as the first ones of containers.
#[test]
fn pins_of_one_namespace_are_no_others() {
    if skip_without(Need::Root) {
        return;
    }
    let system = FileSystem::mount("namespaces");
    let directory = system.0.join("decap");
    let attach = || {
        own_network().unwrap();
        ip("link add near index 77 type veth peer name far");
        let attached = pass().unwrap().attach_lasting(&directory, 77, Mode::Native).unwrap();
        assert_eq!(attached, Attached::Afresh);
        shown()
    };
    let first = attach();
    let second = std::thread::scope(|scope| {
        let other = scope.spawn(|| {
            let attached = attach();
            detach(&directory, 77).unwrap();
            attached
        });
        other.join().unwrap()
    });
    assert_ne!(first, second);
    assert_eq!(shown(), first, "the first namespace's program stays");
    detach(&directory, 77).unwrap();
}

/// The program that is attached to `near`.
fn shown() -> String {
    let shown = ip("-d link show near");
    let (_, rest) = shown.split_once("prog/xdp id ").expect("a program is attached");
    rest.split(' ').next().unwrap().to_owned()
}

/// One balancer after the other takes the place of the one before, while frames come in: each is
/// counted by one of them.
#[test]
fn an_upgrade_loses_no_packet() {
    // Fewer than a veth's queue holds: it would drop the rest on a busy machine.
    const BATCH: u32 = 64;
    if skip_without(Need::Root) {
        return;
    }
    let system = FileSystem::mount("upgrade");
    let (directory, near) = (system.0.join("heddle"), veth());
    ip("link set near up");
    ip("link set far up");
    let far = interface_index("far").unwrap();
    let next = || {
        let mut balancer = Balancer::load_pinned(&directory, &Sizes::small()).unwrap();
        (balancer.attach(far, Mode::Native).unwrap(), balancer)
    };
    let (_, first) = next();
    // A UDP datagram for no service.
    let mut frame = Vec::new();
    let datagram = PacketBuilder::ethernet2([2; 6], [4; 6]).ipv4([192, 0, 2, 1], [192, 0, 2, 2], 9);
    datagram.udp(9, 9).write(&mut frame, &[0; 20]).unwrap();
    let upgraded = AtomicBool::new(false);
    let counted = || first.maps.counters.get(0, Counter::PassNoVip).unwrap().packets;
    let sent = std::thread::scope(|scope| {
        let sender = scope.spawn(|| {
            let mut generator = Generator::new(near).unwrap();
            let (mut sent, start) = (0, Instant::now());
            while !upgraded.load(Ordering::Relaxed) && start.elapsed() < Duration::from_secs(300) {
                generator.send(&frame, Clients::AsWritten, BATCH).unwrap();
                sent += u64::from(BATCH);
                while counted() < sent && start.elapsed() < Duration::from_secs(300) {
                    std::thread::yield_now();
                }
            }
            sent
        });
        for _ in 0..5 {
            assert_eq!(next().0, Attached::InPlace);
        }
        upgraded.store(true, Ordering::Relaxed);
        sender.join().unwrap()
    });
    // The link itself sends a few frames when it comes up.
    let counted = counted();
    assert!((sent..sent + 100).contains(&counted), "{counted} of {sent}");
}

#[test]
fn a_link_whose_interface_went_is_made_afresh() {
    if skip_without(Need::Root) {
        return;
    }
    let system = FileSystem::mount("orphan");
    let (directory, near) = (system.0.join("heddle"), veth());
    let mut balancer = Balancer::load_pinned(&directory, &Sizes::small()).unwrap();
    balancer.attach(near, Mode::Generic).unwrap();
    drop(balancer);
    ip("link delete near");
    ip(&format!("link add near index {near} type veth peer name far"));
    let mut balancer = Balancer::load_pinned(&directory, &Sizes::small()).unwrap();
    assert_eq!(balancer.attach(near, Mode::Generic).unwrap(), Attached::Afresh);
}

/// The program before keeps its maps, and packets, until the next one is attached.
#[test]
fn maps_that_do_not_fit_are_made_afresh() {
    if skip_without(Need::Root) {
        return;
    }
    let system = FileSystem::mount("misfit");
    let (directory, near) = (system.0.join("heddle"), veth());
    let refresh = |refresh| Settings { refresh, ..Settings::default() };
    let mut first = Balancer::load_pinned(&directory, &Sizes::small()).unwrap();
    first.maps.settings.set(&refresh(42)).unwrap();
    assert_eq!(first.attach(near, Mode::Native).unwrap(), Attached::Afresh);
    drop(first);
    let before = shown();

    let larger = Sizes { flows: 100_000, ..Sizes::small() };
    let mut second = Balancer::load_pinned(&directory, &larger).unwrap();
    let replaced = second.replaced().unwrap();
    assert_eq!((replaced.has_other_layout, replaced.entries["flows"]), (false, 1408));
    assert_eq!(second.maps.settings.get().unwrap().refresh, 0, "nothing is taken over");
    second.maps.settings.set(&refresh(43)).unwrap();
    second.explainer().unwrap();
    assert_eq!(shown(), before);
    assert_eq!(second.attach(near, Mode::Native).unwrap(), Attached::InPlace);
    assert_ne!(shown(), before);
    drop(second);

    let third = Balancer::load_pinned(&directory, &larger).unwrap();
    assert_eq!((third.replaced(), third.maps.settings.get().unwrap().refresh), (None, 43));
    drop(third);
    assert!(!directory.join("new").exists());

    let pinned = Map::Array(MapData::from_pin(directory.join("settings")).unwrap());
    let mut settings = Array::<_, Settings>::try_from(pinned).unwrap();
    settings.set(0, Settings { abi: HEDDLE_ABI + 1, ..Settings::default() }, 0).unwrap();
    let fourth = Balancer::load_pinned(&directory, &larger).unwrap();
    assert!(fourth.replaced().unwrap().has_other_layout);
    assert_eq!(fourth.maps.settings.get().unwrap().abi, 0);
}

#[test]
fn another_programs_map_is_refused() {
    if skip_without(Need::Root) {
        return;
    }
    let system = FileSystem::mount("foreign");
    let directory = system.0.join("heddle");
    drop(Balancer::load_pinned(&directory, &Sizes::small()).unwrap());
    std::fs::rename(directory.join("tokens"), directory.join("flows")).unwrap();
    match Balancer::load_pinned(&directory, &Sizes::small()).err() {
        Some(Error::Misfit { path, why }) => {
            assert_eq!(path, directory.join("flows"));
            assert_eq!(why, "it is map `tokens` of another program");
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn pins_need_a_bpf_file_system() {
    if skip_without(Need::Root) {
        return;
    }
    let directory = std::env::temp_dir().join(format!("heddle-{}-plain", std::process::id()));
    let error = Balancer::load_pinned(&directory, &Sizes::small()).err().unwrap();
    assert!(!directory.exists(), "nothing is left behind");
    for part in ["mount -t bpf", "is a BPF file system mounted there?", "`ip netns exec` hides"] {
        assert!(error.to_string().contains(part), "{error}");
    }
}
