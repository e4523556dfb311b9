//! Balancers that judge each other by heartbeats: what makes one of them dead, and what does not.

use std::fs::{self, Permissions};
use std::net::{SocketAddr, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::thread::sleep;
use std::time::Duration;

use crate::common::{JOIN_LIMIT, LIMIT, PORT, is_well, said, setup, wait_for_members};
use heddle_lab::{BusyProcessors, Daemons, Lab, Transport, count_joins, eventually};
use heddle_testing::{Need, skip_without};

const OTHER_SECRET: &str = "another secret, which the others do not have";

/// All joins of 20 connections arrive.
fn joins_arrive(lab: &Lab) {
    let joins = count_joins(lab, SocketAddr::new(lab.vips()[0], PORT), 20, JOIN_LIMIT).unwrap();
    assert_eq!((joins.expected, joins.established), (60, 60));
}

/// Replaces a text in a daemon's configuration, which it reads when it starts again.
fn reconfigure(daemons: &mut Daemons<'_>, index: usize, from: &str, to: &str) {
    let text = daemons.config(index);
    assert!(text.contains(from), "{text}");
    daemons.write_config(index, &text.replace(from, to)).unwrap();
    daemons.stop(index);
    daemons.restart(index).unwrap();
}

/// The times that a daemon has taken another balancer for dead: some while not all have started.
fn deaths(daemons: &Daemons<'_>, index: usize) -> usize {
    daemons.log(index).matches("liveness=Dead").count()
}

fn secret(daemons: &Daemons<'_>, index: usize) -> String {
    fs::read_to_string(daemons.secret_file(index)).unwrap()
}

fn write_private(path: &str, text: &str) {
    fs::write(path, text).unwrap();
    fs::set_permissions(path, Permissions::from_mode(0o600)).unwrap();
}

/// Metrics at an address that the others cannot reach, or none.
#[test]
fn membership_does_not_depend_on_metrics() {
    if skip_without(Need::Root) {
        return;
    }
    let lab = Lab::builder().balancers(3).backends(3).build().unwrap();
    let _servers = lab.serve(Transport::Mptcp, PORT).unwrap();
    let mut daemons = Daemons::start(&lab, setup("learn", "l2")).unwrap();
    let metrics = |index: usize| format!("metrics = \"{}:9100\"\n", lab.balancer(index).v4());
    reconfigure(&mut daemons, 0, &metrics(0), "metrics = \"127.0.0.1:9100\"\n");
    reconfigure(&mut daemons, 1, &metrics(1), "");
    wait_for_members(&daemons, &[0, 1, 2], &[0, 1, 2], LIMIT);
    joins_arrive(&lab);
    // One that is cut off is noticed all the same.
    lab.cut(lab.balancer(2)).unwrap();
    wait_for_members(&daemons, &[0, 1], &[0, 1], LIMIT);
    said(&daemons, 0, "balancer balancer-2").unwrap();
    lab.restore(lab.balancer(2)).unwrap();
    wait_for_members(&daemons, &[0, 1, 2], &[0, 1, 2], LIMIT);
    (0..3).for_each(|index| eventually(LIMIT, || is_well(&daemons, index)).unwrap());
}

/// Idle connections to the port for metrics, a daemon that halts, processors that are busy: nobody
/// has failed.
#[test]
fn what_is_no_failure_takes_nobody_for_dead() {
    if skip_without(Need::Root) {
        return;
    }
    let lab = Lab::builder().balancers(3).backends(3).build().unwrap();
    let _servers = lab.serve(Transport::Mptcp, PORT).unwrap();
    let daemons = Daemons::start(&lab, setup("learn", "l2")).unwrap();
    wait_for_members(&daemons, &[0, 1, 2], &[0, 1, 2], LIMIT);
    let before: Vec<usize> = (0..3).map(|index| deaths(&daemons, index)).collect();
    let metrics = SocketAddr::new(lab.balancer(1).v4().into(), 9100);
    let idle: Vec<TcpStream> = lab
        .balancer(0)
        .enter(|| {
            let connect = |_| TcpStream::connect_timeout(&metrics, Duration::from_millis(100)).ok();
            (0..300).filter_map(connect).collect()
        })
        .unwrap();
    assert!(idle.len() >= 64, "{}", idle.len());
    daemons.pause(1);
    {
        let _busy = BusyProcessors::start(16);
        sleep(Duration::from_secs(3)); // 30 times as long as a death takes
    }
    daemons.resume(1);
    drop(idle);
    (0..3).for_each(|index| assert_eq!(deaths(&daemons, index), before[index]));
    joins_arrive(&lab);
}

#[test]
fn a_balancer_with_another_secret_is_told_and_left_out() {
    if skip_without(Need::Root) {
        return;
    }
    let lab = Lab::builder().balancers(3).backends(3).build().unwrap();
    let _servers = lab.serve(Transport::Mptcp, PORT).unwrap();
    let mut daemons = Daemons::start(&lab, setup("learn", "l2")).unwrap();
    wait_for_members(&daemons, &[0, 1, 2], &[0, 1, 2], LIMIT);
    let first = secret(&daemons, 2);
    daemons.write_secret(2, OTHER_SECRET).unwrap();
    // Not by a reload: flows would be hashed anew.
    daemons.reload(2);
    let refused = || daemons.log(2).contains("seed_file").then_some(()).ok_or(daemons.log(2));
    eventually(LIMIT, refused).unwrap();
    daemons.stop(2);
    daemons.restart(2).unwrap();
    wait_for_members(&daemons, &[0, 1], &[0, 1], LIMIT);
    wait_for_members(&daemons, &[2], &[2], LIMIT);
    eventually(LIMIT, || said(&daemons, 0, "balancer-2 has another secret")).unwrap();
    eventually(LIMIT, || said(&daemons, 2, "balancer-1 has another secret")).unwrap();
    let metrics = daemons.metrics(0).unwrap();
    assert!(metrics.contains("heddle_lb_peer_up{peer=\"balancer-2\"} 0"), "{metrics}");
    daemons.write_secret(2, &first).unwrap();
    daemons.stop(2);
    daemons.restart(2).unwrap();
    wait_for_members(&daemons, &[0, 1, 2], &[0, 1, 2], LIMIT);
    joins_arrive(&lab);
}

/// The change of the secret as the book has it: after each step of each balancer joins arrive, and
/// nobody is left out.
#[test]
fn the_secret_is_changed_without_a_moment_of_two_clusters() {
    if skip_without(Need::Root) {
        return;
    }
    let lab = Lab::builder().balancers(3).backends(3).build().unwrap();
    let _servers = lab.serve(Transport::Mptcp, PORT).unwrap();
    let daemons = Daemons::start(&lab, setup("learn", "l2")).unwrap();
    wait_for_members(&daemons, &[0, 1, 2], &[0, 1, 2], LIMIT);
    let before: Vec<usize> = (0..3).map(|index| deaths(&daemons, index)).collect();
    let file =
        |index: usize, suffix: &str| format!("{}{suffix}", daemons.secret_file(index).display());
    for index in 0..3 {
        let first = secret(&daemons, index);
        write_private(&file(index, ".seed"), &first);
        write_private(&file(index, ".old"), &first);
        write_private(&file(index, ".new"), OTHER_SECRET);
    }
    // The secret that signs, and the one that is accepted beside it.
    let steps = [("", ".new"), (".new", ".old"), (".new", "")];
    for (signs, accepted) in steps {
        for index in 0..3 {
            let text = daemons.config(index);
            let line = |name: &str| format!("secret_file = \"{}\"\n", file(index, name));
            let beside = match accepted {
                "" => String::new(),
                name => format!("accepted_secret_files = [\"{}\"]\n", file(index, name)),
            };
            let seed = format!("seed_file = \"{}\"\n", file(index, ".seed"));
            let text = text.replace(&line(""), &format!("{}{beside}{seed}", line(signs)));
            daemons.write_config(index, &text).unwrap();
            let loaded = |log: &str| log.matches("the configuration was read again").count();
            let read = loaded(&daemons.log(index));
            daemons.reload(index);
            let again =
                || (loaded(&daemons.log(index)) > read).then_some(()).ok_or(daemons.log(index));
            eventually(LIMIT, again).unwrap();
            joins_arrive(&lab);
        }
    }
    for (index, before) in before.into_iter().enumerate() {
        assert_eq!(deaths(&daemons, index), before);
        eventually(LIMIT, || is_well(&daemons, index)).unwrap();
        let metrics = daemons.metrics(index).unwrap();
        assert!(!metrics.contains("drop_unauthenticated\"} 1"), "{metrics}");
    }
}
