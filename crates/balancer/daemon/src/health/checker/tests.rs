use super::*;

use std::num::NonZeroU32;
use tokio::net::TcpListener;
use tokio::time::timeout;

use crate::health::Probe;

const MS: Duration = Duration::from_millis(1);

fn target(name: &str, address: SocketAddr) -> Target {
    let check = Check {
        probe: Probe::Tcp,
        through: crate::health::Through::Address,
        interval: 20 * MS,
        timeout: 100 * MS,
        rise: NonZeroU32::new(2).unwrap(),
        fall: NonZeroU32::new(3).unwrap(),
        keep_flows: Duration::ZERO,
    };
    Target { name: name.into(), address, check, way: None }
}

async fn next(events: &mut mpsc::Receiver<HealthEvent>) -> (String, State, Option<Failure>) {
    let event = timeout(5000 * MS, events.recv()).await.unwrap().unwrap();
    (event.target, event.state, event.reason)
}

#[tokio::test]
async fn a_listener_that_goes_and_comes_changes_the_state() {
    let (to, mut events) = mpsc::channel(1);
    let mut checker = Checker::new(to);
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    checker.set(vec![target("b1", address)]);
    assert_eq!(next(&mut events).await, ("b1".into(), State::Up, None));
    drop(listener);
    assert_eq!(next(&mut events).await, ("b1".into(), State::Down, Some(Failure::Refused)));
    let down = checker.statuses()["b1"].clone();
    assert_eq!((down.state, down.last_failure), (State::Down, Some(Failure::Refused)));
    assert!(down.passed >= 1 && down.failed >= 3 && down.spent > Duration::ZERO);
    let _again = TcpListener::bind(address).await.unwrap();
    assert_eq!(next(&mut events).await, ("b1".into(), State::Up, None));
}

#[tokio::test]
async fn removed_targets_are_forgotten_and_the_others_go_on_undisturbed() {
    let (to, mut events) = mpsc::channel(4);
    let mut checker = Checker::new(to);
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let [b1, b2] = ["b1", "b2"].map(|name| target(name, address));
    checker.set(vec![b1.clone(), b2.clone()]);
    for _ in 0..2 {
        assert_eq!(next(&mut events).await.1, State::Up);
    }
    let since = checker.statuses()["b2"].since;
    checker.set(vec![b2.clone()]);
    assert_eq!(checker.statuses().into_keys().collect::<Vec<_>>(), ["b2"]);
    assert!(timeout(200 * MS, events.recv()).await.is_err(), "nothing has changed");
    assert_eq!(checker.statuses()["b2"].since, since);
    let changed = Target { check: Check { timeout: 50 * MS, ..b2.check.clone() }, ..b2 };
    checker.set(vec![changed]);
    assert_eq!(next(&mut events).await, ("b2".into(), State::Up, None));
}

/// The channel has room for one event, which is not received: the second target's check blocks.
#[tokio::test(start_paused = true)]
async fn a_check_without_results_counts_as_stopped() {
    let (to, mut events) = mpsc::channel(1);
    let mut checker = Checker::new(to);
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let closed = listener.local_addr().unwrap();
    drop(listener);
    checker.set(vec![target("b1", closed), target("b2", closed)]);
    assert_eq!(checker.stopped(), [""; 0]);
    tokio::time::sleep(2 * SHORTEST_STALL).await;
    assert_eq!(checker.stopped().len(), 1);
    events.recv().await.unwrap();
    tokio::time::sleep(1000 * MS).await;
    assert_eq!(checker.stopped(), [""; 0]);
}
