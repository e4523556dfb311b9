//! Connections end with their leases. Time is an argument.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use heddle_policy::cflb::Field;
use heddle_service::{Clock, Code, Limits, Options, Service, v1};

use crate::fabric::network;

/// A service whose leases last 30 s, and its time in seconds.
fn timed() -> (Service, Arc<AtomicU64>) {
    let time = Arc::new(AtomicU64::new(1000));
    let seconds = time.clone();
    let clock = Clock::new(move || seconds.load(Ordering::Relaxed));
    let limits = Limits { lease: Duration::from_secs(30), ..Limits::default() };
    (Service::new(network(Field::Ports), &Options { clock, limits, ..Options::default() }), time)
}

fn open(service: &Service) -> u64 {
    let (from, to) = ("host-1".into(), "host-3".into());
    let ask = v1::OpenConnectionRequest { from, to, subflows: 2, ..Default::default() };
    let connection = service.open_connection(&ask).unwrap();
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
    assert!(metrics.contains("heddle_path_expired_total 2\n"), "{metrics}");
    assert!(metrics.contains("heddle_path_connections 0\n"), "{metrics}");
}
