//! The static list of balancers in the configuration.

use tokio::sync::{mpsc, watch};

use super::{Member, Source, View};
use crate::health::{Checker, State, Target};

/// A balancer of the static list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Peer {
    /// Its name and address.
    pub member: Member,
    /// Its health check; none: it counts as alive for ever. The target's name must be the member's.
    pub check: Option<Target>,
}

/// Sends the static list until the receiver is dropped: all of it at first, then less those whose checks fail.
pub async fn watch_static(own: Member, peers: Vec<Peer>, to: watch::Sender<View>) {
    let (events_to, mut events) = mpsc::channel(16);
    let mut checker = Checker::new(events_to);
    let targets = peers.iter().filter_map(|peer| peer.check.clone());
    checker.set(targets.collect());
    let mut view = View { source: Source::Current, ..View::alone(&own) };
    let others = || peers.iter().map(|peer| &peer.member).filter(|member| member.name != own.name);
    view.members.extend(others().map(|member| (member.name.clone(), member.address)));
    to.send_replace(view.clone());
    loop {
        let event = tokio::select! {
            event = events.recv() => event,
            () = to.closed() => return,
        };
        let Some(event) = event else { return };
        let Some(member) = others().find(|member| member.name == event.target) else { continue };
        match event.state {
            State::Down => view.members.remove(&member.name),
            State::Up | State::Unknown => view.members.insert(member.name.clone(), member.address),
        };
        tracing::info!(member = member.name, state = ?event.state, why = ?event.why, "a balancer's state has changed");
        to.send_if_modified(|told| {
            let changed = *told != view;
            told.clone_from(&view);
            changed
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use std::num::NonZeroU32;
    use std::time::Duration;
    use tokio::net::TcpListener;
    use tokio::time::timeout;

    use crate::health::{Check, Probe};

    const LONG: Duration = Duration::from_secs(5);

    fn member(name: &str, n: u8) -> Member {
        Member { name: name.into(), address: [127, 0, 0, n].into() }
    }

    fn names(view: &View) -> Vec<&str> {
        view.members.keys().map(String::as_str).collect()
    }

    async fn until(views: &mut watch::Receiver<View>, wanted: &[&str]) {
        timeout(LONG, views.wait_for(|view| names(view) == wanted)).await.unwrap().unwrap();
    }

    #[tokio::test]
    async fn a_peer_that_dies_leaves_and_comes_back_and_one_without_a_check_stays() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let check = Check {
            probe: Probe::Tcp,
            interval: Duration::from_millis(10),
            timeout: Duration::from_millis(100),
            rise: NonZeroU32::MIN,
            fall: NonZeroU32::MIN,
        };
        let target = Target { name: "b".into(), address, check };
        let peers = vec![
            Peer { member: member("a", 1), check: None },
            Peer { member: member("b", 2), check: Some(target) },
            Peer { member: member("c", 3), check: None },
        ];
        let (to, mut views) = watch::channel(View::default());
        tokio::spawn(watch_static(member("a", 1), peers, to));
        until(&mut views, &["a", "b", "c"]).await;
        assert_eq!(views.borrow().source, Source::Current);
        drop(listener);
        until(&mut views, &["a", "c"]).await;
        let _again = TcpListener::bind(address).await.unwrap();
        until(&mut views, &["a", "b", "c"]).await;
    }

    #[tokio::test]
    async fn a_balancer_never_leaves_its_own_view() {
        let (to, views) = watch::channel(View::default());
        let running = tokio::spawn(watch_static(member("a", 1), vec![], to));
        let mut told = views.clone();
        until(&mut told, &["a"]).await;
        drop((views, told));
        timeout(LONG, running).await.unwrap().unwrap();
    }
}
