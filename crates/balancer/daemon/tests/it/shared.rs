//! Changes of backends that go to all balancers by way of etcd, the real one, and daemons in
//! network namespaces.

use crate::common::{
    LIMIT, PORT, ask, is_well, said, setup, status, wait_for_backend, wait_for_members,
};
use heddle_lab::{Daemons, Etcd, Lab, Setup, Transport, equal, eventually};
use heddle_testing::{Need, skip_without};
use heddled::admin::{
    AskError, BackendChange, BackendStatus, Client, Named, NewBackends, Problem, ProblemKind,
    Reply, Request, Selection, SharedChange, SharedEdit,
};
use heddled::health::State;

/// The backend that is changed.
const THIS: &str = "backend-2";

fn start<'a>(lab: &'a Lab, etcd: &Etcd<'_>) -> Daemons<'a> {
    let setup = Setup { etcd: Some(etcd.url()), ..setup("learn", "l2") };
    let daemons = Daemons::start(lab, setup).unwrap();
    let all: Vec<usize> = (0..lab.balancers().len()).collect();
    wait_for_members(&daemons, &all, &all, LIMIT);
    daemons
}

fn this() -> Named {
    Named { service: None, backend: THIS.into() }
}

fn change(weight: Option<u32>, draining: Option<bool>) -> Request {
    let change = BackendChange { weight, draining };
    Request::Shared(SharedEdit::Change { of: this(), change })
}

fn reset() -> Request {
    Request::Shared(SharedEdit::Reset(Selection::default()))
}

/// The problem that a request meets.
fn problem(daemons: &Daemons<'_>, index: usize, request: &Request) -> Problem {
    match Client::connect(&daemons.socket(index)).unwrap().ask(request) {
        Err(AskError::Problem(problem)) => problem,
        other => panic!("{other:?}"),
    }
}

/// The backends of a balancer that have the name, one in each service.
fn at(daemons: &Daemons<'_>, index: usize) -> Vec<BackendStatus> {
    let request = Request::Backends(Selection::default());
    let Reply::Backends(all) = ask(daemons, index, &request) else { panic!() };
    all.backends.into_iter().filter(|backend| backend.name == THIS).collect()
}

/// Waits until the backend has these weights and states at a balancer, in all services.
fn wait_for(daemons: &Daemons<'_>, index: usize, wanted: &[(u32, bool)]) {
    let seen = || at(daemons, index).iter().map(|b| (b.weight, b.draining)).collect::<Vec<_>>();
    eventually(LIMIT, || equal(&seen(), &wanted.to_vec())).unwrap();
}

fn shared(daemons: &Daemons<'_>, index: usize) -> Vec<SharedChange> {
    let Reply::Changes(changes) = ask(daemons, index, &Request::Changes) else { panic!() };
    changes.changes
}

/// The backend, as both services have it.
fn entries(lab: &Lab) -> NewBackends {
    let new = |(service, vip): (&str, std::net::IpAddr)| {
        let address = lab.backend(2).address_like(vip);
        serde_json::json!({ "service": service, "backend": { "name": THIS, "address": address } })
    };
    let backends: Vec<_> = ["web4", "web6"].into_iter().zip(lab.vips()).map(new).collect();
    serde_json::from_value(serde_json::json!({ "backends": backends })).unwrap()
}

/// Weights, drains, removals and additions reach both, and a daemon that is down meanwhile when it
/// starts.
#[test]
fn a_change_of_one_balancer_is_one_of_all() {
    if skip_without(Need::Root) || skip_without(Need::Etcd) {
        return;
    }
    let lab = Lab::builder().balancers(2).backends(3).build().unwrap();
    let etcd = Etcd::start(&lab).unwrap();
    let _servers = lab.serve(Transport::Tcp, PORT).unwrap();
    let mut daemons = start(&lab, &etcd);

    // With the answer the balancer that was asked has it.
    let Reply::Backends(changed) = ask(&daemons, 0, &change(Some(7), None)) else { panic!() };
    assert_eq!(changed.backends.iter().map(|b| b.weight).collect::<Vec<_>>(), [7, 7]);
    wait_for(&daemons, 1, &[(7, false); 2]);
    ask(&daemons, 1, &change(None, Some(true)));
    wait_for(&daemons, 0, &[(7, true); 2]);
    eventually(LIMIT, || is_well(&daemons, 0)).unwrap();
    let told = status(&daemons, 1);
    let wanted = format!("service web4: backend {THIS} has weight 7, in the file 1");
    assert_eq!((told.shared_changes.len(), told.changes.len()), (4, 0), "{told:?}");
    assert!(told.shared_changes.contains(&wanted), "{told:?}");

    // A reload keeps them; a command on one balancer alone counts there until there is another
    // change of all.
    ask(&daemons, 0, &Request::Reload);
    wait_for(&daemons, 0, &[(7, true); 2]);
    let alone = BackendChange { weight: Some(2), draining: Some(false) };
    ask(&daemons, 1, &Request::Change { service: None, backend: THIS.into(), change: alone });
    wait_for(&daemons, 1, &[(2, false); 2]);
    wait_for(&daemons, 0, &[(7, true); 2]);
    ask(&daemons, 0, &change(Some(9), None));
    wait_for(&daemons, 1, &[(9, true); 2]);

    // Removed while one balancer is down, which learns of it when it starts.
    daemons.stop(1);
    let Reply::Backends(removed) = ask(&daemons, 0, &Request::Shared(SharedEdit::Remove(this())))
    else {
        panic!()
    };
    assert_eq!(removed.backends.len(), 2, "as they were before");
    assert_eq!(at(&daemons, 0), []);
    daemons.restart(1).unwrap();
    wait_for(&daemons, 1, &[]);
    ask(&daemons, 1, &Request::Shared(SharedEdit::Add(entries(&lab))));
    wait_for(&daemons, 0, &[(1, false); 2]);
    wait_for_backend(&daemons, 2, THIS, |backend| backend.health == State::Up);
    let there = problem(&daemons, 0, &Request::Shared(SharedEdit::Add(entries(&lab))));
    assert_eq!(there.kind, ProblemKind::Refused);
    assert!(there.message.contains("has a backend backend-2 already"), "{there}");

    // Taken back, the files count again.
    assert_eq!(shared(&daemons, 1).len(), 2);
    let Reply::Changes(taken_back) = ask(&daemons, 0, &reset()) else { panic!() };
    assert_eq!(taken_back.changes.len(), 2);
    for index in [0, 1] {
        wait_for(&daemons, index, &[(1, false); 2]);
        eventually(LIMIT, || equal(&shared(&daemons, index), &vec![])).unwrap();
        eventually(LIMIT, || is_well(&daemons, index)).unwrap();
    }
}

/// Nothing is changed while etcd is down; what was changed before stays, over a restart, too.
#[test]
fn without_etcd_changes_stay_and_there_are_no_others() {
    if skip_without(Need::Root) || skip_without(Need::Etcd) {
        return;
    }
    let lab = Lab::builder().balancers(2).backends(3).build().unwrap();
    let mut etcd = Etcd::start(&lab).unwrap();
    let _servers = lab.serve(Transport::Tcp, PORT).unwrap();
    let mut daemons = start(&lab, &etcd);
    ask(&daemons, 0, &change(Some(7), None));
    wait_for(&daemons, 1, &[(7, false); 2]);
    etcd.kill();
    let refused = problem(&daemons, 0, &change(Some(9), None));
    assert_eq!(refused.kind, ProblemKind::Unavailable);
    assert!(refused.message.starts_with("no balancer is changed, this one included"), "{refused}");
    let refused = problem(&daemons, 0, &reset());
    assert!(refused.message.starts_with("nothing is taken back"), "{refused}");
    daemons.stop(1);
    daemons.restart(1).unwrap();
    for index in [0, 1] {
        wait_for(&daemons, index, &[(7, false); 2]);
    }
    etcd.restart().unwrap();
    let current = |index| {
        let Reply::Changes(changes) = ask(&daemons, index, &Request::Changes) else { panic!() };
        if changes.current { Ok(()) } else { Err("it has not come back".to_owned()) }
    };
    eventually(LIMIT, || current(1)).unwrap();
    ask(&daemons, 1, &change(Some(9), None));
    wait_for(&daemons, 0, &[(9, false); 2]);
}

/// Values of strangers are told of and have no effect; what can be read counts.
#[test]
fn values_that_cannot_be_used_are_ignored_and_told_of() {
    if skip_without(Need::Root) || skip_without(Need::Etcd) {
        return;
    }
    let lab = Lab::builder().balancers(1).backends(3).build().unwrap();
    let etcd = Etcd::start(&lab).unwrap();
    let _servers = lab.serve(Transport::Tcp, PORT).unwrap();
    let daemons = start(&lab, &etcd);
    let put = |key: &str, value: &str| {
        let mut command = lab.router().command("etcdctl");
        command.env("ETCDCTL_API", "3").args(["--endpoints", &etcd.url()]);
        command.args(["put", &format!("/lab/changes/{key}"), value]);
        assert!(command.output().unwrap().status.success());
    };
    put("web4/backend-0", "nonsense");
    put("web4/backend-1", r#"{"version":1,"change":{"modify":{"weight":5000}},"by":"me"}"#);
    put("web9/backend-1", r#"{"version":1,"change":"remove","by":"me"}"#);
    put("no-key", r#"{"version":1,"change":"remove","by":"me"}"#);
    put("web4/backend-2", r#"{"version":1,"change":{"modify":{"weight":4}},"by":"me"}"#);
    wait_for(&daemons, 0, &[(4, false), (1, false)]);
    for reason in [
        "the shared change web4/backend-0 is ignored: its value cannot be read",
        "the shared change web4/backend-1 is ignored: above the maximum; 0 to 1000",
        "the shared change web9/backend-1 is ignored: no service of this balancer's file is called web9",
        "the shared change no-key is ignored: the key is not of the form SERVICE/BACKEND",
    ] {
        said(&daemons, 0, reason).unwrap();
    }
    let metrics = daemons.metrics(0).unwrap();
    assert!(metrics.contains("heddle_lb_shared_changes{state=\"ignored\"} 4"), "{metrics}");
    assert!(daemons.log(0).contains("a shared change in etcd is ignored"));
    // They are in nobody's way, and can be removed.
    ask(&daemons, 0, &change(Some(6), None));
    wait_for(&daemons, 0, &[(6, false); 2]);
    // One by its key, all others together.
    let by_key = Selection { service: None, backend: Some("no-key".into()) };
    let by_key = Request::Shared(SharedEdit::Reset(by_key));
    let Reply::Changes(taken_back) = ask(&daemons, 0, &by_key) else { panic!() };
    assert_eq!(taken_back.changes.len(), 1);
    let Reply::Changes(taken_back) = ask(&daemons, 0, &reset()) else { panic!() };
    assert_eq!(taken_back.changes.len(), 5);
    eventually(LIMIT, || is_well(&daemons, 0)).unwrap();
}
