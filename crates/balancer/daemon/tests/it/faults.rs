//! Balancers that fail and come back under load: no connection breaks, no join is refused, and each
//! flow goes on.
//!
//! The time for which a flow stands still depends on how busy the machine is: the soak and the demo
//! measure it, no test does.

use std::net::SocketAddr;
use std::time::Duration;

use crate::common::{LIMIT, PORT, setup};
use heddle_lab::{
    Arrivals, Cluster, Fault, Lab, Pattern, StreamReport, Streams, Transport, mptcp_counters,
};
use heddle_testing::{Need, skip_without};
use heddle_units::Rate;

/// Rounds of progress that each flow has to make: the answers to what was under way at a fault are
/// the first one at most.
const ROUNDS: u32 = 3;

/// The balancer that fails.
const VICTIM: usize = 0;

#[derive(Clone, Copy)]
enum Membership {
    StaticList,
    Etcd,
}

fn start(lab: &Lab, membership: Membership) -> Cluster<'_> {
    let cluster = match membership {
        Membership::StaticList => Cluster::with_static_list(lab, setup("learn", "l2")),
        Membership::Etcd => Cluster::with_etcd(lab, setup("learn", "l2")),
    };
    cluster.unwrap()
}

fn vips(lab: &Lab) -> [SocketAddr; 2] {
    lab.vips().map(|vip| SocketAddr::new(vip, PORT))
}

fn none_broken(reports: &[StreamReport]) {
    for report in reports {
        assert_eq!(report.broken, None, "{report:?}");
        assert!(report.subflows.iter().all(|subflow| subflow.established), "{report:?}");
    }
}

/// Joins that reached a backend which did not know their token, at all backends.
fn refused_joins(lab: &Lab) -> u64 {
    lab.backends().iter().map(|node| mptcp_counters(node).unwrap()["MPJoinNoTokenFound"]).sum()
}

/// Plain TCP, 90 flows, while a balancer fails and when it comes back.
fn plain_flows_go_on(membership: Membership, fault: Fault) {
    let lab = Lab::builder().balancers(3).backends(4).build().unwrap();
    let _servers = lab.serve(Transport::Tcp, PORT).unwrap();
    let mut cluster = start(&lab, membership);
    let open = |to, count| Streams::open(&lab, Transport::Tcp, to, count, Pattern::PING_PONG);
    let streams: Vec<_> = vips(&lab).into_iter().map(|vip| open(vip, 45).unwrap()).collect();
    let all_go_on = || {
        for each in &streams {
            each.wait_for_exchanges(30, LIMIT).unwrap();
            none_broken(&each.reports());
        }
    };
    all_go_on();
    cluster.begin(fault, &[VICTIM], Duration::ZERO).unwrap();
    all_go_on();
    cluster.end(fault, &[VICTIM]).unwrap();
    all_go_on();
    cluster.wait_until_agreed().unwrap();
    all_go_on();
}

/// MPTCP connections with four subflows that always have something to send, over links of limited
/// rate.
fn subflows_go_on(membership: Membership, fault: Fault) {
    let rate = Rate::mbps(20);
    let lab = Lab::builder().balancers(3).backends(4).client_rate(rate).build().unwrap();
    let _servers = lab.serve(Transport::Mptcp, PORT).unwrap();
    let mut cluster = start(&lab, membership);
    let streams = Streams::open(&lab, Transport::Mptcp, vips(&lab)[0], 8, Pattern::BULK).unwrap();
    let all_go_on = || {
        for _ in 0..ROUNDS {
            streams.wait_for_subflows(LIMIT).unwrap();
        }
        none_broken(&streams.reports());
    };
    all_go_on();
    cluster.begin(fault, &[VICTIM], Duration::ZERO).unwrap();
    all_go_on();
    cluster.end(fault, &[VICTIM]).unwrap();
    all_go_on();
}

/// New MPTCP connections all the time: each is opened, and gets its four subflows.
fn joins_arrive(membership: Membership, fault: Fault) {
    let lab = Lab::builder().balancers(3).backends(4).build().unwrap();
    let _servers = lab.serve(Transport::Mptcp, PORT).unwrap();
    let mut cluster = start(&lab, membership);
    let pause = Duration::from_millis(10);
    let arrivals = Arrivals::start(&lab, Transport::Mptcp, vips(&lab)[0], 4, pause).unwrap();
    let more = || arrivals.wait_for(200, LIMIT).unwrap();
    more();
    cluster.begin(fault, &[VICTIM], Duration::ZERO).unwrap();
    more();
    cluster.end(fault, &[VICTIM]).unwrap();
    more();
    cluster.wait_until_agreed().unwrap();
    more();
    let report = arrivals.finish();
    let outcome = (report.broken.len(), report.joins_missing, refused_joins(&lab));
    assert_eq!(outcome, (0, 0, 0), "broken, missing and refused: {report:?}");
}

macro_rules! of_both_memberships {
    ($($name:ident: $test:ident($fault:expr);)*) => {
        mod with_a_static_list {
            use super::*;
            $(#[test]
            fn $name() {
                if !skip_without(Need::Root) {
                    $test(Membership::StaticList, $fault);
                }
            })*
        }
        mod with_etcd {
            use super::*;
            $(#[test]
            fn $name() {
                if !skip_without(Need::Root) && !skip_without(Need::Etcd) {
                    $test(Membership::Etcd, $fault);
                }
            })*
        }
    };
}

of_both_memberships! {
    plain_flows_survive_a_machine: plain_flows_go_on(Fault::Machine);
    plain_flows_survive_a_link: plain_flows_go_on(Fault::Link);
    plain_flows_survive_a_daemon: plain_flows_go_on(Fault::Daemon);
    subflows_survive_a_machine: subflows_go_on(Fault::Machine);
    subflows_survive_a_link: subflows_go_on(Fault::Link);
    subflows_survive_an_upgrade: subflows_go_on(Fault::Restart);
    joins_arrive_when_a_machine_fails: joins_arrive(Fault::Machine);
    joins_arrive_when_a_link_fails: joins_arrive(Fault::Link);
    joins_arrive_when_a_daemon_fails: joins_arrive(Fault::Daemon);
    joins_arrive_during_an_upgrade: joins_arrive(Fault::Restart);
    joins_arrive_while_a_daemon_halts: joins_arrive(Fault::Pause);
    joins_arrive_on_a_busy_machine: joins_arrive(Fault::Busy);
}

/// A backend that one balancer knows before the others: it is named in what it steers to them.
#[test]
fn a_backend_is_added_at_one_balancer_first() {
    if skip_without(Need::Root) {
        return;
    }
    let lab = Lab::builder().balancers(3).backends(4).build().unwrap();
    let _servers = lab.serve(Transport::Mptcp, PORT).unwrap();
    let cluster = Cluster::with_static_list(&lab, setup("learn", "l2")).unwrap();
    let daemons = cluster.daemons();
    let with = |index, backends: &[usize]| {
        let services = daemons.services(&[0, 1, 2, 3]);
        daemons.config(index).replace(&services, &daemons.services(backends))
    };
    let reload = |index, backends: &[usize]| {
        daemons.write_config(index, &with(index, backends)).unwrap();
        daemons.reload(index);
        let of_service = |line: &&str| line.starts_with("heddle_lb_backend_up{");
        let counted = || {
            let text = daemons.metrics(index).map_err(|error| error.to_string())?;
            heddle_lab::equal(&text.lines().filter(of_service).count(), &(2 * backends.len()))
        };
        heddle_lab::eventually(LIMIT, counted).unwrap();
    };
    (0..3).for_each(|index| reload(index, &[0, 1, 2]));
    let pause = Duration::from_millis(10);
    let arrivals = Arrivals::start(&lab, Transport::Mptcp, vips(&lab)[0], 4, pause).unwrap();
    arrivals.wait_for(40, LIMIT).unwrap();
    for index in 0..3 {
        reload(index, &[0, 1, 2, 3]);
        arrivals.wait_for(80, LIMIT).unwrap();
    }
    let report = arrivals.finish();
    let outcome = (report.broken.len(), report.joins_missing, refused_joins(&lab));
    assert_eq!(outcome, (0, 0, 0), "broken, missing and refused: {report:?}");
}

/// Load from the moment at which all daemons are healthy.
#[test]
fn balancers_that_have_just_started_lose_nothing() {
    if skip_without(Need::Root) {
        return;
    }
    let lab = Lab::builder().balancers(3).backends(4).build().unwrap();
    let _servers = lab.serve(Transport::Mptcp, PORT).unwrap();
    let daemons = heddle_lab::Daemons::start(&lab, setup("learn", "l2")).unwrap();
    (0..3).for_each(|index| daemons.wait_until_healthy(index).unwrap());
    let arrivals =
        Arrivals::start(&lab, Transport::Mptcp, vips(&lab)[0], 16, Duration::ZERO).unwrap();
    arrivals.wait_for(500, LIMIT).unwrap();
    let report = arrivals.finish();
    let outcome = (report.broken.len(), report.joins_missing, refused_joins(&lab));
    assert_eq!(outcome, (0, 0, 0), "broken, missing and refused: {report:?}");
}
