//! Link failures and recoveries: affected subflows, and their replacement.

use heddle_path_service::{Code, Service, v1};
use heddle_policy::cflb::Field;

use crate::end_to_end::fabric::network;
use crate::end_to_end::running::options;

fn set(service: &Service, a: &str, b: &str, state: v1::LinkState) -> Vec<v1::AffectedSubflow> {
    let request = v1::SetLinkRequest { a: a.into(), b: b.into(), parallel: 0, state: state.into() };
    service.set_link(&request).unwrap().affected
}

#[test]
fn a_subflow_leaves_the_link_that_failed() {
    let service = Service::new(network(Field::Ports), &options()).unwrap();
    let (from, to) = ("host-1".to_owned(), "host-3".to_owned());
    let request = v1::OpenConnectionRequest {
        from: from.clone(),
        to: to.clone(),
        subflows: 2,
        ..Default::default()
    };
    let connection = service.open_connection(&request).unwrap();
    let nodes = connection.subflows[0].path.clone().unwrap().nodes;
    let spine = nodes[2].as_str();

    // The ends of a link are named in either order.
    let affected = set(&service, spine, "tor-1", v1::LinkState::Down);
    let down =
        v1::AffectedSubflow { link_impact: v1::LinkImpact::LinkDown.into(), ..Default::default() };
    assert!(affected.contains(&down), "{affected:?}");
    let find = v1::FindPathsRequest { from, to, limit: 0 };
    assert_eq!(service.find_paths(&find).unwrap().total, 6);
    let metrics = service.metrics().unwrap();
    assert!(metrics.contains("heddle_path_links_down 1\n"), "{metrics}");

    // Routers have fewer next hops, so that other numbers may mean other ones.
    for v1::AffectedSubflow { connection, subflow, .. } in affected {
        let request = v1::ReplaceSubflowRequest { connection, subflow, taken_ports: vec![] };
        let replaced = service.replace_subflow(&request).unwrap();
        assert!(replaced.disjoint);
        assert_ne!(replaced.path.unwrap().nodes[2], spine);
    }
    assert_eq!(set(&service, "tor-1", spine, v1::LinkState::Down), [], "all have gone elsewhere");
    set(&service, "tor-1", spine, v1::LinkState::Up);
    assert_eq!(service.find_paths(&find).unwrap().total, 7);
}

/// GetConnection and RenewConnection report the impact of link changes, until the subflow is
/// replaced.
#[test]
fn hosts_learn_of_the_link_impact() {
    let service = Service::new(network(Field::Ports), &options()).unwrap();
    let (from, to) = ("host-1".to_owned(), "host-3".to_owned());
    let request = v1::OpenConnectionRequest { from, to, subflows: 1, ..Default::default() };
    let opened = service.open_connection(&request).unwrap();
    let connection = opened.connection;
    let get = || service.get_connection(&v1::GetConnectionRequest { connection }).unwrap();
    let renew = || service.renew_connection(&v1::RenewConnectionRequest { connection }).unwrap();
    assert_eq!((get().subflows[0].link_impact(), renew().affected), (v1::LinkImpact::None, vec![]));

    let spine = opened.subflows[0].path.clone().unwrap().nodes[2].clone();
    let affected = set(&service, "tor-2", &spine, v1::LinkState::Down);
    assert_eq!(
        (get().subflows[0].link_impact(), renew().affected),
        (v1::LinkImpact::LinkDown, affected)
    );
    let request = v1::ReplaceSubflowRequest { connection, subflow: 0, taken_ports: vec![] };
    assert_eq!(service.replace_subflow(&request).unwrap().link_impact(), v1::LinkImpact::None);
    assert_eq!((get().subflows[0].link_impact(), renew().affected), (v1::LinkImpact::None, vec![]));

    // The new fields were made for six next hops of tor-1; with seven again, those after the one
    // that returned have moved.
    set(&service, "tor-2", &spine, v1::LinkState::Up);
    assert_eq!(get().subflows[0].link_impact(), v1::LinkImpact::Rerouted);
    assert_eq!(renew().affected[0].link_impact(), v1::LinkImpact::Rerouted);
}

#[test]
fn a_pair_that_is_cut_off_has_no_paths() {
    let service = Service::new(network(Field::Ports), &options()).unwrap();
    let code = |from: &str, to: &str| {
        let request = v1::FindPathsRequest { from: from.into(), to: to.into(), limit: 0 };
        service.find_paths(&request).map(|found| found.total).map_err(|problem| problem.code)
    };
    set(&service, "host-1", "tor-1", v1::LinkState::Down);
    assert_eq!(code("host-1", "host-3"), Err(Code::FailedPrecondition));
    assert_eq!(code("host-2", "host-3"), Ok(7));
    for spine in 1..=7 {
        set(&service, "tor-2", &format!("spine-{spine}"), v1::LinkState::Down);
    }
    assert_eq!(code("host-2", "host-3"), Err(Code::FailedPrecondition));
    assert_eq!(code("host-3", "host-4"), Ok(1), "inside a rack");
}
