//! Connections end with their leases. Time is an argument.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use heddle_path_service::{Clock, Code, Limits, Options, Service, v1};
use heddle_policy::cflb::Field;

use crate::end_to_end::fabric::network;

/// A service whose leases last 30 s, 90 s at most, and its time in seconds.
fn timed() -> (Service, Arc<AtomicU64>) {
    let time = Arc::new(AtomicU64::new(1000));
    let seconds = time.clone();
    let clock = Clock::new(move || seconds.load(Ordering::Relaxed));
    let [lease, longest_lease] = [30, 90].map(Duration::from_secs);
    let limits = Limits { lease, longest_lease, ..Limits::default() };
    let options = Options { clock, limits, ..Options::default() };
    (Service::new(network(Field::Ports), &options).unwrap(), time)
}

fn open(service: &Service) -> u64 {
    let (from, to) = ("host-1".into(), "host-3".into());
    let request = v1::OpenConnectionRequest { from, to, subflows: 2, ..Default::default() };
    let connection = service.open_connection(&request).unwrap();
    assert_eq!(connection.lease_seconds, 30);
    connection.connection
}

fn flows(service: &Service) -> u32 {
    let links = service.list_links(&v1::ListLinksRequest::default()).unwrap().links;
    links.iter().map(|link| link.flows_from_a + link.flows_from_b).sum()
}

#[test]
fn a_connection_is_kept_for_as_long_as_it_is_renewed() {
    let (service, time) = timed();
    let (kept, left) = (open(&service), open(&service));
    assert_eq!(flows(&service), 8, "two connections of two subflows over two links each");
    let renew = |connection| service.renew_connection(&v1::RenewConnectionRequest { connection });

    time.store(1029, Ordering::Relaxed);
    assert_eq!(renew(kept).unwrap().lease_seconds, 30);
    time.store(1030, Ordering::Relaxed);
    assert_eq!(flows(&service), 4);
    assert_eq!(renew(left).unwrap_err().code, Code::NotFound);
    time.store(1059, Ordering::Relaxed);
    assert_eq!(flows(&service), 0);
    let metrics = service.metrics().unwrap();
    assert!(metrics.contains("heddle_path_leases_expired_total 2\n"), "{metrics}");
    assert!(metrics.contains("heddle_path_connections 0\n"), "{metrics}");
}

/// 5 s, where 30 s are the default and 90 s the limit: the rest is reported, and renewing starts
/// the same lease again.
#[test]
fn a_caller_may_request_another_lease() {
    let (service, time) = timed();
    let request = |lease_seconds| v1::OpenConnectionRequest {
        from: "host-1".into(),
        to: "host-3".into(),
        subflows: 1,
        lease_seconds,
        ..Default::default()
    };
    let short = service.open_connection(&request(Some(5))).unwrap();
    assert_eq!(short.lease_seconds, 5);
    let connection = short.connection;
    let get = || service.get_connection(&v1::GetConnectionRequest { connection });
    time.store(1004, Ordering::Relaxed);
    assert_eq!(get().unwrap(), v1::Connection { lease_seconds: 1, ..short.clone() });
    service.renew_connection(&v1::RenewConnectionRequest { connection }).unwrap();
    assert_eq!(get().unwrap().lease_seconds, 5);
    time.store(1009, Ordering::Relaxed);
    assert_eq!(get().unwrap_err().code, Code::NotFound);

    assert_eq!(service.open_connection(&request(Some(90))).unwrap().lease_seconds, 90);
    for seconds in [0, 91] {
        let problem = service.open_connection(&request(Some(seconds))).unwrap_err();
        let detail = format!("a lease of {seconds} s is not between 1 and 90 s");
        assert_eq!((problem.code, problem.detail), (Code::InvalidArgument, detail));
    }
}

/// The last subflow may go; the connection stays until its lease ends.
#[test]
fn a_subflow_is_closed_and_its_links_are_free() {
    let (service, _) = timed();
    let connection = open(&service);
    let close = |subflow| service.close_subflow(&v1::CloseSubflowRequest { connection, subflow });
    let left = || {
        let request = v1::GetConnectionRequest { connection };
        let subflows = service.get_connection(&request).unwrap().subflows;
        (subflows.iter().map(|one| one.subflow).collect::<Vec<u32>>(), flows(&service))
    };
    assert_eq!(left(), (vec![0, 1], 4));
    close(0).unwrap();
    assert_eq!(left(), (vec![1], 2));
    assert_eq!(close(0).unwrap_err().detail, "connection 0 has no subflow 0");
    close(1).unwrap();
    assert_eq!(left(), (vec![], 0));
}

/// Five connections in pages of two; one is closed in between, and no other is missed.
#[test]
fn connections_are_listed_in_pages() {
    let (service, time) = timed();
    let opened: Vec<u64> = (0..5).map(|_| open(&service)).collect();
    let page = |first| {
        let request = v1::ListConnectionsRequest { limit: 2, first };
        let page = service.list_connections(&request).unwrap();
        (page.connections.iter().map(|one| one.connection).collect::<Vec<u64>>(), page.total)
    };
    assert_eq!(page(0), (vec![0, 1], 5));
    service.close_connection(&v1::CloseConnectionRequest { connection: opened[0] }).unwrap();
    assert_eq!(page(2), (vec![2, 3], 4));
    assert_eq!(page(4), (vec![4], 4));
    time.store(1010, Ordering::Relaxed);
    let all = service.list_connections(&v1::ListConnectionsRequest::default()).unwrap();
    let expected = v1::ConnectionSummary {
        connection: opened[1],
        from: "host-1".into(),
        to: "host-3".into(),
        protocol: 6,
        subflows: 2,
        rate_bps: 0,
        taken_ports: 0,
        lease_seconds: 20,
    };
    assert_eq!(all.connections[0], expected);
    time.store(1030, Ordering::Relaxed);
    assert_eq!(page(0), (vec![], 0));
}
