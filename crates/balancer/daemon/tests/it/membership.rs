//! Balancers that find each other by etcd, the real one.

use std::net::SocketAddr;

use crate::common::{JOIN_LIMIT, LIMIT, PORT, is_well, said, setup, wait_for_members};
use heddle_lab::{Daemons, Etcd, Lab, NextHop, Setup, Transport, count_joins, eventually};
use heddle_testing::{Need, skip_without};

/// The daemons of two stop, one in order, and their programs go on; then these are gone, too. The
/// rest share the tokens.
#[test]
fn balancers_find_each_other_and_notice_who_goes() {
    if skip_without(Need::Root) || skip_without(Need::Etcd) {
        return;
    }
    let lab = Lab::builder().balancers(3).backends(3).build().unwrap();
    let etcd = Etcd::start(&lab).unwrap();
    let _servers = lab.serve(Transport::Mptcp, PORT).unwrap();
    let mut daemons =
        Daemons::start(&lab, Setup { etcd: Some(etcd.url()), ..setup("learn", "l2") }).unwrap();
    wait_for_members(&daemons, &[0, 1, 2], &[0, 1, 2], LIMIT);
    let service = SocketAddr::new(lab.vips()[0], PORT);
    let joins = count_joins(&lab, service, 20, JOIN_LIMIT).unwrap();
    assert_eq!((joins.expected, joins.established), (60, 60));

    lab.route_vip(&[NextHop::Balancer(0), NextHop::Balancer(1)]).unwrap();
    daemons.stop(2);
    let lapsed = |index: usize| {
        format!(
            "balancer balancer-{index} is not registered in the store any more, but still answers"
        )
    };
    eventually(LIMIT, || said(&daemons, 0, &lapsed(2))).unwrap();
    wait_for_members(&daemons, &[0, 1], &[0, 1, 2], LIMIT);
    daemons.remove_program(2);
    wait_for_members(&daemons, &[0, 1], &[0, 1], LIMIT);
    lab.route_vip(&[NextHop::Balancer(0)]).unwrap();
    daemons.kill(1);
    eventually(LIMIT, || said(&daemons, 0, &lapsed(1))).unwrap();
    wait_for_members(&daemons, &[0], &[0, 1], LIMIT);
    daemons.remove_program(1);
    wait_for_members(&daemons, &[0], &[0], LIMIT);
    let joins = count_joins(&lab, service, 20, JOIN_LIMIT).unwrap();
    assert_eq!((joins.expected, joins.established), (60, 60));
    daemons.restart(1).unwrap();
    wait_for_members(&daemons, &[0, 1], &[0, 1], LIMIT);
}

/// The store is down when a daemon starts again: the list of the daemon before is used, and the
/// balancer is not alone.
#[test]
fn the_last_list_outlives_a_restart_without_etcd() {
    if skip_without(Need::Root) || skip_without(Need::Etcd) {
        return;
    }
    let lab = Lab::builder().balancers(3).backends(3).build().unwrap();
    let mut etcd = Etcd::start(&lab).unwrap();
    let _servers = lab.serve(Transport::Mptcp, PORT).unwrap();
    let mut daemons =
        Daemons::start(&lab, Setup { etcd: Some(etcd.url()), ..setup("learn", "l2") }).unwrap();
    wait_for_members(&daemons, &[0, 1, 2], &[0, 1, 2], LIMIT);
    etcd.kill();
    for index in 0..3 {
        daemons.stop(index);
        daemons.restart(index).unwrap();
    }
    wait_for_members(&daemons, &[0, 1, 2], &[0, 1, 2], LIMIT);
    said(&daemons, 0, "the old list of the daemon before is used").unwrap();
    let service = SocketAddr::new(lab.vips()[0], PORT);
    let joins = count_joins(&lab, service, 20, JOIN_LIMIT).unwrap();
    assert_eq!((joins.expected, joins.established), (60, 60));
    // An old list is subject to heartbeats, too.
    lab.cut(lab.balancer(2)).unwrap();
    wait_for_members(&daemons, &[0, 1], &[0, 1], LIMIT);
    lab.restore(lab.balancer(2)).unwrap();
    etcd.restart().unwrap();
    wait_for_members(&daemons, &[0, 1, 2], &[0, 1, 2], LIMIT);
    for index in 0..3 {
        eventually(LIMIT, || is_well(&daemons, index)).unwrap();
    }
}
