//! Load and its measurements, without a balancer: stalls, resets, lost subflows, and links that are
//! removed and made again.

use std::net::SocketAddr;
use std::time::Duration;

use heddle_lab::{
    Arrivals, Broken, Lab, NextHop, Pattern, Streams, Transport, eventually, mptcp_counters,
};
use heddle_testing::{Need, skip_without};
use heddle_units::Rate;

const PORT: u16 = 8080;

/// Limit on waits for an event that must come.
const LIMIT: Duration = Duration::from_secs(60);

/// A stall that is certain to be noticed.
const STALL: Duration = Duration::from_millis(300);

fn service(lab: &Lab) -> SocketAddr {
    SocketAddr::new(lab.vips()[0], PORT)
}

#[test]
fn a_stream_stalls_while_its_machine_has_no_link_and_goes_on_afterwards() {
    if skip_without(Need::Root) {
        return;
    }
    let lab = Lab::builder().clients(1).backends(1).build().unwrap();
    lab.route_vip(&[NextHop::Backend(0)]).unwrap();
    let _servers = lab.serve(Transport::Tcp, PORT).unwrap();
    let streams =
        Streams::open(&lab, Transport::Tcp, service(&lab), 3, Pattern::PING_PONG).unwrap();
    streams.wait_for_exchanges(2, LIMIT).unwrap();
    lab.remove_link(lab.backend(0)).unwrap();
    let stalled = || {
        let shortest = streams.reports().iter().map(|report| report.longest_stall).min();
        if shortest >= Some(STALL) { Ok(()) } else { Err(format!("{shortest:?}")) }
    };
    eventually(LIMIT, stalled).unwrap();
    lab.add_link(lab.backend(0)).unwrap();
    streams.wait_for_exchanges(2, LIMIT).unwrap();
    for report in streams.finish() {
        assert_eq!(report.broken, None);
        assert!(report.longest_stall >= STALL, "{report:?}");
    }
}

#[test]
fn streams_notice_that_their_server_has_gone() {
    if skip_without(Need::Root) {
        return;
    }
    let lab = Lab::builder().clients(2).backends(1).build().unwrap();
    lab.route_vip(&[NextHop::Backend(0)]).unwrap();
    let servers = lab.serve(Transport::Mptcp, PORT).unwrap();
    let streams =
        Streams::open(&lab, Transport::Mptcp, service(&lab), 2, Pattern::PING_PONG).unwrap();
    streams.wait_for_exchanges(2, LIMIT).unwrap();
    drop(servers);
    streams.wait_for_exchanges(u64::MAX / 2, LIMIT).unwrap();
    for report in streams.finish() {
        assert!(matches!(report.broken, Some(Broken::Ended(_))), "{report:?}");
    }
}

/// Two links of limited rate: while nothing comes back to one, the stall is its subflow's and not
/// the other's.
#[test]
fn the_stall_of_a_subflow_is_its_own() {
    if skip_without(Need::Root) {
        return;
    }
    let rate = Rate::mbps(20);
    let lab = Lab::builder().clients(2).backends(1).client_rate(rate).build().unwrap();
    lab.route_vip(&[NextHop::Backend(0)]).unwrap();
    let _servers = lab.serve(Transport::Mptcp, PORT).unwrap();
    let streams = Streams::open(&lab, Transport::Mptcp, service(&lab), 1, Pattern::BULK).unwrap();
    streams.wait_for_subflows(LIMIT).unwrap();
    let lost = lab.client_addresses(lab.vips()[0])[1];
    lab.router().run(&format!("ip route add blackhole {lost}")).unwrap();
    let on_link = |link: usize| {
        let address = lab.client_addresses(lab.vips()[0])[link];
        let subflows = streams.reports().remove(0).subflows;
        subflows.into_iter().find(|subflow| subflow.local.ip() == address).unwrap()
    };
    let stalled = || {
        let stall = on_link(1).longest_stall;
        if stall >= Duration::from_secs(2) { Ok(()) } else { Err(format!("{stall:?}")) }
    };
    eventually(LIMIT, stalled).unwrap();
    assert!(on_link(0).longest_stall < on_link(1).longest_stall);
    lab.router().run(&format!("ip route del blackhole {lost}")).unwrap();
    streams.wait_for_subflows(LIMIT).unwrap();
    streams.forget();
    let report = streams.finish().remove(0);
    assert_eq!(report.broken, None);
    assert!(report.subflows.len() == 2 && report.subflows.iter().all(|flow| flow.established));
}

#[test]
fn subflows_that_are_closed_are_noticed_and_new_ones_are_found() {
    if skip_without(Need::Root) {
        return;
    }
    let lab = Lab::builder().clients(3).backends(1).build().unwrap();
    lab.route_vip(&[NextHop::Backend(0)]).unwrap();
    let _servers = lab.serve(Transport::Mptcp, PORT).unwrap();
    let streams =
        Streams::open(&lab, Transport::Mptcp, service(&lab), 1, Pattern::PING_PONG).unwrap();
    let subflows = |expected: (usize, usize)| {
        eventually(LIMIT, || {
            let known = streams.reports().remove(0).subflows;
            let live = known.iter().filter(|subflow| subflow.established).count();
            heddle_lab::equal(&(live, known.len() - live), &expected)
        })
        .unwrap();
    };
    subflows((3, 0));
    lab.renew_joins().unwrap();
    subflows((3, 2));
    streams.forget();
    subflows((3, 0));
}

#[test]
fn connections_come_and_go_with_all_their_subflows() {
    if skip_without(Need::Root) {
        return;
    }
    let lab = Lab::builder().clients(3).backends(1).build().unwrap();
    lab.route_vip(&[NextHop::Backend(0)]).unwrap();
    let _servers = lab.serve(Transport::Mptcp, PORT).unwrap();
    let arrivals =
        Arrivals::start(&lab, Transport::Mptcp, service(&lab), 2, Duration::ZERO).unwrap();
    arrivals.wait_for(20, LIMIT).unwrap();
    let report = arrivals.finish();
    assert!(report.connections >= 20 && report.joins == 2 * report.connections, "{report:?}");
    assert_eq!((report.joins_missing, report.broken.len()), (0, 0), "{report:?}");
    assert_eq!(mptcp_counters(lab.backend(0)).unwrap()["MPJoinAckRx"], report.joins);
}
