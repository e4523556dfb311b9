//! However connections come and go: when all are closed, nothing is left on any link.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use heddle_path_encoder::Scheduler;
use heddle_path_service::{Clock, Options, Service, v1};
use heddle_policy::cflb::Field;
use proptest::prelude::*;

use crate::end_to_end::fabric::{network, source_ports};

#[derive(Clone, Copy, Debug)]
enum Step {
    Open { from: u8, to: u8, subflows: u32, rate_bps: u64 },
    Add { connection: u64 },
    Replace { connection: u64, subflow: u32 },
    Renew { connection: u64 },
    CloseSubflow { connection: u64, subflow: u32 },
    Close { connection: u64 },
    Link { spine: u8, is_down: bool },
    Wait { seconds: u64 },
}

fn step() -> impl Strategy<Value = Step> {
    let rate = prop_oneof![Just(0), 1..2_000_000_000u64];
    prop_oneof![
        4 => (1..5u8, 1..5u8, 0..20u32, rate).prop_map(|(from, to, subflows, rate_bps)| Step::Open { from, to, subflows, rate_bps }),
        2 => (0..20u64).prop_map(|connection| Step::Add { connection }),
        2 => (0..20u64, 0..16u32).prop_map(|(connection, subflow)| Step::Replace { connection, subflow }),
        1 => (0..20u64).prop_map(|connection| Step::Renew { connection }),
        1 => (0..20u64, 0..16u32).prop_map(|(connection, subflow)| Step::CloseSubflow { connection, subflow }),
        2 => (0..20u64).prop_map(|connection| Step::Close { connection }),
        1 => (1..8u8, any::<bool>()).prop_map(|(spine, is_down)| Step::Link { spine, is_down }),
        1 => (0..40u64).prop_map(|seconds| Step::Wait { seconds }),
    ]
}

/// Errors are ignored: only the state that is left matters.
fn take(service: &Service, time: &AtomicU64, step: Step) {
    match step {
        Step::Open { from, to, subflows, rate_bps } => {
            let (from, to) = (format!("host-{from}"), format!("host-{to}"));
            let destination_port = Some(80);
            let request = v1::OpenConnectionRequest {
                from,
                to,
                subflows,
                rate_bps,
                destination_port,
                ..Default::default()
            };
            let _ = service.open_connection(&request);
        }
        Step::Add { connection } => {
            let request = v1::AddSubflowRequest {
                connection,
                destination_port: Some(80),
                ..Default::default()
            };
            let _ = service.add_subflow(&request);
        }
        Step::Replace { connection, subflow } => {
            let _ = service.replace_subflow(&v1::ReplaceSubflowRequest {
                connection,
                subflow,
                taken_ports: vec![50_007],
            });
        }
        Step::Renew { connection } => {
            let _ = service.renew_connection(&v1::RenewConnectionRequest { connection });
        }
        Step::CloseSubflow { connection, subflow } => {
            let _ = service.close_subflow(&v1::CloseSubflowRequest { connection, subflow });
        }
        Step::Close { connection } => {
            let _ = service.close_connection(&v1::CloseConnectionRequest { connection });
        }
        Step::Link { spine, is_down } => {
            let state = if is_down { v1::LinkState::Down } else { v1::LinkState::Up }.into();
            let (a, b) = ("tor-1".into(), format!("spine-{spine}"));
            service.set_link(&v1::SetLinkRequest { a, b, parallel: 0, state }).unwrap();
        }
        Step::Wait { seconds } => {
            time.fetch_add(seconds, Ordering::Relaxed);
        }
    }
}

fn nothing_is_left(field: Field, scheduler: Scheduler, steps: Vec<Step>) {
    let time = Arc::new(AtomicU64::new(0));
    let seconds = time.clone();
    let clock = Clock::new(move || seconds.load(Ordering::Relaxed));
    let service =
        Service::new(network(field), &Options { clock, scheduler, ..Options::default() }).unwrap();
    for step in steps {
        take(&service, &time, step);
    }
    for connection in 0..100 {
        let _ = service.close_connection(&v1::CloseConnectionRequest { connection });
    }
    let links = service.list_links(&v1::ListLinksRequest::default()).unwrap().links;
    for link in links {
        assert_eq!((link.flows_from_a, link.flows_from_b), (0, 0), "{link:?}");
        assert_eq!((link.reserved_from_a_bps, link.reserved_from_b_bps), (0, 0), "{link:?}");
    }
    let metrics = service.metrics().unwrap();
    assert!(metrics.contains("heddle_path_connections 0\n"), "{metrics}");
    assert!(metrics.contains("heddle_path_subflows 0\n"), "{metrics}");
}

proptest! {
    #[test]
    fn closed_connections_leave_nothing(steps in prop::collection::vec(step(), 0..60)) {
        nothing_is_left(source_ports(1024), Scheduler::FewestFlows, steps.clone());
        // So few ports that they run out.
        nothing_is_left(source_ports(24), Scheduler::FirstFit, steps);
    }
}
