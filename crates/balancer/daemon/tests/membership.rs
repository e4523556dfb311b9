//! Balancers that find each other by etcd, the real one.
#![allow(missing_docs, clippy::unwrap_used)] // Errors fail the test, in its helpers too.

mod common;

use std::net::SocketAddr;
use std::time::Duration;

use common::{JOIN_LIMIT, PORT, setup, wait_for_members};
use heddle_lab::{Daemons, Etcd, Lab, NextHop, Setup, Transport, count_joins};
use heddle_testing::{Need, skip_without};

/// Limit on the time until all balancers see a change.
const MEMBERS_LIMIT: Duration = Duration::from_secs(15);

/// One leaves in order, one is killed and its lease runs out; the rest share the tokens.
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
    wait_for_members(&daemons, &[0, 1, 2], &[0, 1, 2], MEMBERS_LIMIT);
    let service = SocketAddr::new(lab.vips()[0], PORT);
    let joins = count_joins(&lab, service, 20, JOIN_LIMIT).unwrap();
    assert_eq!((joins.expected, joins.established), (60, 60));

    lab.route_vip(&[NextHop::Balancer(0), NextHop::Balancer(1)]).unwrap();
    daemons.stop(2);
    wait_for_members(&daemons, &[0, 1], &[0, 1], MEMBERS_LIMIT);
    lab.route_vip(&[NextHop::Balancer(0)]).unwrap();
    daemons.kill(1);
    wait_for_members(&daemons, &[0], &[0], MEMBERS_LIMIT);
    let joins = count_joins(&lab, service, 20, JOIN_LIMIT).unwrap();
    assert_eq!((joins.expected, joins.established), (60, 60));
    daemons.restart(1).unwrap();
    wait_for_members(&daemons, &[0, 1], &[0, 1], MEMBERS_LIMIT);
}
