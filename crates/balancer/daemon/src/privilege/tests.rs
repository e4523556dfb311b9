//! A test that drops capabilities runs in a process and in namespaces of its own: they do not come
//! back.

use super::*;
use crate::neighbours::{Resolver, Unreachable};
use crate::{attachment, netlink};

use std::net::IpAddr;
use std::path::PathBuf;
use std::process::Command;

use heddle_balancer_maps::abi::{Settings, Target};
use heddle_balancer_maps::{Balancer, Clock, Mode, Sizes, interface_index};
use heddle_testing::{Need, require_program, skip_without};
use rustix::thread::capabilities;

const CHILD: &str = "HEDDLE_PRIVILEGE_CHILD";

/// True in the child; the parent starts it and sees how it ends.
#[track_caller]
fn in_child(test: &str) -> bool {
    if std::env::var_os(CHILD).is_some() {
        return true;
    }
    if skip_without(Need::Root) {
        return false;
    }
    require_program("unshare", "util-linux");
    let name = format!("privilege::tests::{test}");
    let mut command = Command::new("unshare");
    command.args(["--net", "--mount"]).arg(std::env::current_exe().unwrap());
    command.args(["--exact", &name, "--test-threads=1", "--nocapture"]).env(CHILD, "1");
    let run = command.output().unwrap();
    let said = [run.stdout, run.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    assert!(run.status.success(), "{}\n{}", said[0], said[1]);
    assert!(said[0].contains("1 passed"), "{}", said[0]);
    false
}

fn command(line: &str) {
    let mut words = line.split(' ');
    let run = Command::new(words.next().unwrap()).args(words).output().unwrap();
    assert!(run.status.success(), "{line}: {}", String::from_utf8_lossy(&run.stderr));
}

fn held() -> [CapabilitySet; 3] {
    let sets = capabilities(None).unwrap();
    [sets.permitted, sets.effective, sets.inheritable]
}

#[test]
fn what_is_dropped_stays_dropped() {
    if !in_child("what_is_dropped_stays_dropped") {
        return;
    }
    let keep = CapabilitySet::NET_ADMIN;
    assert_eq!(drop_in_thread(keep).unwrap(), keep);
    assert_eq!(held(), [keep, keep, CapabilitySet::empty()]);
    assert_eq!(drop_in_thread(RUNNING).unwrap(), RUNNING);
    assert_eq!(held(), [CapabilitySet::empty(); 3]);
    let status = Command::new("cat").arg("/proc/self/status").output().unwrap();
    let status = String::from_utf8(status.stdout).unwrap();
    assert!(status.contains("CapEff:\t0000000000000000\n"), "a program gets none: {status}");
    assert!(status.contains("NoNewPrivs:\t1\n"), "{status}");
    assert!(drop_in_thread(keep).unwrap().is_empty(), "they do not come back");
}

#[test]
fn a_process_with_threads_is_refused() {
    // The test harness has one beside the test's own.
    let before = held();
    assert!(matches!(drop_all_but(RUNNING), Err(PrivilegeError::Threads(2..))));
    assert_eq!(held(), before);
}

#[test]
fn a_running_daemon_needs_no_capability() {
    if !in_child("a_running_daemon_needs_no_capability") {
        return;
    }
    command("ip link add near type veth peer name far");
    let mut balancer = Balancer::load(&Sizes::small(), Clock::Kernel).unwrap();
    let mut explainer = balancer.explainer().unwrap();
    assert!(drop_in_thread(RUNNING).unwrap().is_empty());

    let maps = &mut balancer.maps;
    maps.settings.set(&Settings { refresh: 42, ..Settings::default() }).unwrap();
    assert_eq!(maps.settings.get().unwrap().refresh, 42);
    maps.targets.set(1, &Target { id: 7, ..Target::default() }).unwrap();
    assert_eq!(maps.targets.get(1).unwrap().id, 7);
    maps.target_ids.insert(&7, &1).unwrap();
    assert_eq!(maps.target_ids.entries().unwrap(), [(7, 1)]);
    maps.target_ids.remove(&7).unwrap();
    maps.maglev.write(0, &[1, 1]).unwrap();
    assert_eq!(maps.maglev.get(1), Some(1));
    assert_eq!(maps.flows.iter().count() + maps.tokens.iter().count(), 0);
    maps.counters.of(0).unwrap();
    explainer.explain(&[0; 64]).unwrap();
    let near = interface_index("near").unwrap();
    balancer.attach(near, Mode::Native).unwrap();

    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(uses_rtnetlink(balancer.program.id().unwrap()));
    let refused = Balancer::load(&Sizes::small(), Clock::Kernel);
    assert!(refused.is_err(), "but it cannot load another program");
}

/// Next hops, and the program that is attached to `near`.
async fn uses_rtnetlink(program: u32) {
    let resolver = Resolver::new(netlink::open(&[]).unwrap().0);
    let error = resolver.resolve(IpAddr::from([192, 0, 2, 1])).await.unwrap_err();
    assert!(matches!(error, Unreachable::NoRoute), "{error}");
    for (id, detached) in [(program, [].into()), (program + 1, ["near".to_owned()].into())] {
        let (to, mut seen) = tokio::sync::watch::channel(["unknown".to_owned()].into());
        let near = ["near".to_owned()].into();
        let watcher = tokio::spawn(attachment::watch(near, Mode::Native, id, to));
        seen.changed().await.unwrap();
        assert_eq!(*seen.borrow(), detached);
        watcher.abort();
    }
}

/// Loads a pinned balancer with these capabilities only.
fn start_with(capabilities: CapabilitySet) -> Result<(), heddle_balancer_maps::Error> {
    let directory = PathBuf::from("/sys/fs/bpf");
    command("mount -t bpf bpf /sys/fs/bpf");
    command("ip link add near type veth peer name far");
    let near = interface_index("near").unwrap();
    assert_eq!(drop_in_thread(capabilities).unwrap(), capabilities);
    let mut balancer = Balancer::load_pinned(&directory.join("heddle"), &Sizes::small())?;
    let mut explainer = balancer.explainer()?;
    explainer.explain(&[0; 64])?;
    balancer.attach(near, Mode::Native).map(|_| ())
}

#[test]
fn starting_needs_what_is_listed() {
    if in_child("starting_needs_what_is_listed") {
        start_with(STARTING).unwrap();
    }
}

#[test]
fn starting_without_bpf_fails() {
    if in_child("starting_without_bpf_fails") {
        assert!(start_with(STARTING - CapabilitySet::BPF).is_err());
    }
}

#[test]
fn starting_without_net_admin_fails() {
    if in_child("starting_without_net_admin_fails") {
        assert!(start_with(STARTING - CapabilitySet::NET_ADMIN).is_err());
    }
}

#[test]
fn starting_without_perfmon_fails() {
    if in_child("starting_without_perfmon_fails") {
        assert!(start_with(STARTING - CapabilitySet::PERFMON).is_err());
    }
}
