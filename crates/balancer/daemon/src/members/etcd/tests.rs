//! Against the real etcd.

mod tls;

use super::*;
use crate::shared::Write;

use std::ffi::OsString;
use std::net::IpAddr;

use heddle_testing::{Need, skip_without};
use std::net::TcpListener;
use std::process::{Child, Command, Stdio};
use tokio::sync::oneshot;
use tokio::time::timeout;

const LONG: Duration = Duration::from_secs(300);

/// An etcd of its own on loopback, with all its data in a temporary directory.
struct Etcd {
    process: Child,
    url: String,
    peer_url: String,
    data: tempfile::TempDir,
    options: Vec<OsString>,
}

fn free_url(scheme: &str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    format!("{scheme}://{}", listener.local_addr().unwrap())
}

impl Etcd {
    /// A running etcd; none if tests that need it are skipped.
    #[track_caller]
    fn start() -> Option<Etcd> {
        Etcd::start_with("http", Vec::new())
    }

    /// The same with further options, and clients over `http` or `https`.
    #[track_caller]
    fn start_with(scheme: &str, options: Vec<OsString>) -> Option<Etcd> {
        if skip_without(Need::Etcd) {
            return None;
        }
        let (url, peer_url) = (free_url(scheme), free_url("http"));
        let data = tempfile::tempdir().unwrap();
        let process = spawn(&url, &peer_url, data.path(), &options);
        Some(Etcd { process, url, peer_url, data, options })
    }

    fn kill(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }

    fn restart(&mut self) {
        self.process = spawn(&self.url, &self.peer_url, self.data.path(), &self.options);
    }

    fn store(&self) -> Store {
        store(vec![self.url.clone()], Duration::from_secs(1))
    }
}

impl Drop for Etcd {
    fn drop(&mut self) {
        self.kill();
    }
}

fn store(endpoints: Vec<String>, time_to_live: Duration) -> Store {
    let (prefix, credentials) = ("heddle/lb".into(), Credentials::default());
    Store { endpoints, prefix, time_to_live, credentials }
}

/// A short election timeout, for etcd's shortest lease is one and a half of it.
fn spawn(url: &str, peer_url: &str, data: &std::path::Path, options: &[OsString]) -> Child {
    let started = Command::new("etcd")
        .args(["--name", "test", "--log-level", "error", "--election-timeout", "200"])
        .args(["--heartbeat-interval", "20", "--unsafe-no-fsync"])
        .args(["--listen-client-urls", url, "--advertise-client-urls", url])
        .args(["--listen-peer-urls", peer_url, "--initial-advertise-peer-urls", peer_url])
        .args(["--initial-cluster", &format!("test={peer_url}")])
        .arg("--data-dir")
        .arg(data)
        .args(options)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    started.expect("etcd starts")
}

struct Balancer {
    views: watch::Receiver<View>,
    _ready: watch::Sender<bool>,
    stop: Option<oneshot::Sender<()>>,
    task: tokio::task::JoinHandle<()>,
}

fn member(n: u8) -> Member {
    Member { name: format!("lb{n}"), address: [10, 0, 0, n].into() }
}

fn balancer(n: u8, store: Store) -> Balancer {
    balancer_that_knows(View::alone(&member(n)), n, store)
}

/// One with the view of the daemon before it, ready from the start.
fn balancer_that_knows(known: View, n: u8, store: Store) -> Balancer {
    let (to, views) = watch::channel(known);
    let (ready, is_ready) = watch::channel(true);
    let (stop, stopped) = oneshot::channel();
    let stopped = async { stopped.await.unwrap_or(()) };
    let task = tokio::spawn(super::watch(member(n), store, to, is_ready, stopped));
    Balancer { views, _ready: ready, stop: Some(stop), task }
}

fn named(members: &[u8]) -> BTreeMap<String, IpAddr> {
    members.iter().map(|n| member(*n)).map(|member| (member.name, member.address)).collect()
}

impl Balancer {
    async fn sees(&mut self, wanted: &[u8], source: Source) {
        self.sees_lapsed(wanted, &[], source).await;
    }

    async fn sees_lapsed(&mut self, wanted: &[u8], lapsed: &[u8], source: Source) {
        let wanted = (named(wanted), named(lapsed), source);
        let is_it = |view: &View| {
            (&view.members, &view.lapsed, view.source) == (&wanted.0, &wanted.1, wanted.2)
        };
        let seen = timeout(LONG, self.views.wait_for(is_it)).await.is_ok();
        assert!(seen, "wanted {wanted:?}, got {:?}", self.views.borrow());
    }

    /// Waits until the texts of shared changes are these.
    async fn has_changes(&mut self, wanted: &[(&str, &str)]) {
        let is_it = |view: &View| {
            let entries = view.changes.entries.iter();
            entries.map(|(key, entry)| (&**key, &*entry.text)).eq(wanted.iter().copied())
        };
        let seen = timeout(LONG, self.views.wait_for(is_it)).await.is_ok();
        assert!(seen, "wanted {wanted:?}, got {:?}", self.views.borrow().changes);
    }

    async fn stop(&mut self) {
        self.stop.take().unwrap().send(()).unwrap();
        timeout(LONG, &mut self.task).await.unwrap().unwrap();
    }
}

#[tokio::test]
async fn members_join_stop_and_expire() {
    let Some(etcd) = Etcd::start() else { return };
    let mut one = balancer(1, etcd.store());
    one.sees(&[1], Source::Current).await;
    let (mut two, mut three) = (balancer(2, etcd.store()), balancer(3, etcd.store()));
    for balancer in [&mut one, &mut two, &mut three] {
        balancer.sees(&[1, 2, 3], Source::Current).await;
    }
    // One that dies without a word is registered until its lease ends, and then only a member as
    // long as it answers.
    two.task.abort();
    one.sees_lapsed(&[1, 3], &[2], Source::Current).await;
    three.sees_lapsed(&[1, 3], &[2], Source::Current).await;
    // So is one that stops: its program goes on. The others know without the end of its lease.
    let long_lived = Store { time_to_live: Duration::from_secs(600), ..etcd.store() };
    let mut four = balancer(4, long_lived);
    one.sees_lapsed(&[1, 3, 4], &[2], Source::Current).await;
    four.stop().await;
    one.sees_lapsed(&[1, 3], &[2, 4], Source::Current).await;
    // One that comes back is a member again. A balancer that did not know the others learns of
    // those that are registered.
    let mut two = balancer(2, etcd.store());
    one.sees_lapsed(&[1, 2, 3], &[4], Source::Current).await;
    two.sees(&[1, 2, 3], Source::Current).await;
}

#[tokio::test]
async fn a_balancer_registers_when_it_is_ready_and_sees_the_others_before() {
    let Some(etcd) = Etcd::start() else { return };
    let mut one = balancer(1, etcd.store());
    one.sees(&[1], Source::Current).await;
    let (to, mut views) = watch::channel(View::alone(&member(2)));
    let (ready, is_ready) = watch::channel(false);
    let (_stop, stopped) = oneshot::channel::<()>();
    let stopped = async { drop(stopped.await) };
    tokio::spawn(super::watch(member(2), etcd.store(), to, is_ready, stopped));
    let both = |view: &View| view.members == named(&[1, 2]);
    assert!(timeout(LONG, views.wait_for(both)).await.is_ok());
    one.sees(&[1], Source::Current).await;
    ready.send_replace(true);
    one.sees(&[1, 2], Source::Current).await;
}

/// The list of the daemon before stays until etcd answers; whoever is no longer in etcd then has to
/// answer heartbeats.
#[tokio::test]
async fn an_old_list_counts_until_etcd_answers() {
    let Some(mut etcd) = Etcd::start() else { return };
    etcd.kill();
    let old = View { members: named(&[1, 2]), source: Source::Old, ..View::default() };
    let mut one = balancer_that_knows(old, 1, etcd.store());
    tokio::time::sleep(Duration::from_millis(500)).await;
    one.sees(&[1, 2], Source::Old).await;
    etcd.restart();
    one.sees_lapsed(&[1], &[2], Source::Current).await;
}

/// The lease's number is known before etcd is asked for it.
#[tokio::test]
async fn a_balancer_that_stops_at_any_moment_leaves_no_lease() {
    let Some(etcd) = Etcd::start() else { return };
    let store = Store { time_to_live: Duration::from_secs(600), ..etcd.store() };
    for microseconds in (0..20_000).step_by(1000) {
        let mut one = balancer(1, store.clone());
        tokio::time::sleep(Duration::from_micros(microseconds)).await;
        one.stop().await;
    }
    let mut command = Command::new("etcdctl");
    command.env("ETCDCTL_API", "3").args([
        "--endpoints",
        &etcd.url,
        "get",
        "--prefix",
        "heddle/lb/",
    ]);
    let keys = String::from_utf8(command.output().unwrap().stdout).unwrap();
    assert!(!keys.contains("address"), "{keys}");
}

#[tokio::test]
async fn the_last_list_outlives_etcd_and_is_taken_up_after_its_restart() {
    let Some(mut etcd) = Etcd::start() else { return };
    let (mut one, mut two) = (balancer(1, etcd.store()), balancer(2, etcd.store()));
    one.sees(&[1, 2], Source::Current).await;
    two.sees(&[1, 2], Source::Current).await;
    etcd.kill();
    one.sees(&[1, 2], Source::Lost).await;
    two.sees(&[1, 2], Source::Lost).await;
    // One ends while etcd is down.
    two.stop().await;
    etcd.restart();
    one.sees_lapsed(&[1], &[2], Source::Current).await;
    let mut two = balancer(2, etcd.store());
    one.sees(&[1, 2], Source::Current).await;
    two.sees(&[1, 2], Source::Current).await;
}

#[tokio::test]
async fn a_key_that_somebody_removes_is_put_back() {
    let Some(etcd) = Etcd::start() else { return };
    let (mut one, mut two) = (balancer(1, etcd.store()), balancer(2, etcd.store()));
    one.sees(&[1, 2], Source::Current).await;
    two.sees(&[1, 2], Source::Current).await;
    let etcdctl = |arguments: &[&str]| {
        let mut command = Command::new("etcdctl");
        command.env("ETCDCTL_API", "3").args(["--endpoints", &etcd.url]).args(arguments);
        let run = command.output().unwrap();
        assert!(run.status.success(), "{run:?}");
    };
    etcdctl(&["del", "heddle/lb/lb2"]);
    one.sees_lapsed(&[1], &[2], Source::Current).await;
    one.sees(&[1, 2], Source::Current).await;
    // Other keys and malformed values are no members.
    etcdctl(&["put", "heddle/lb/lb9", "nonsense"]);
    etcdctl(&["put", "heddle/lbx", r#"{"address":"10.0.0.9"}"#]);
    etcdctl(&["put", "heddle/lb/lb3", r#"{"address":"10.0.0.3"}"#]);
    one.sees(&[1, 2, 3], Source::Current).await;
}

/// A write to a key that is known with a revision.
fn a_write(key: &str, revision: i64, text: Option<&str>) -> Write {
    Write { key: key.into(), revision, text: text.map(str::to_owned) }
}

#[tokio::test]
async fn shared_changes_reach_all_balancers_and_those_that_come_later() {
    let Some(mut etcd) = Etcd::start() else { return };
    let (mut one, mut two) = (balancer(1, etcd.store()), balancer(2, etcd.store()));
    one.sees(&[1, 2], Source::Current).await;
    let writes = [a_write("web/be1", 0, Some("one")), a_write("web/be2", 0, Some("two"))];
    let revision = write(&etcd.store(), &writes).await.unwrap();
    let both = [("web/be1", "one"), ("web/be2", "two")];
    for balancer in [&mut one, &mut two] {
        balancer.has_changes(&both).await;
        assert_eq!(balancer.views.borrow().changes.revision, revision);
    }
    // They are no balancers, and survive those that have written them, and etcd's restart.
    two.sees(&[1, 2], Source::Current).await;
    one.stop().await;
    two.stop().await;
    etcd.kill();
    let failed = write(&etcd.store(), &[a_write("web/be3", 0, Some("three"))]).await;
    assert!(matches!(failed, Err(WriteError::NotWritten(_))), "{failed:?}");
    etcd.restart();
    let mut three = balancer(3, etcd.store());
    three.has_changes(&both).await;
    let gone = write(&etcd.store(), &[a_write("web/be1", revision, None)]).await.unwrap();
    three.has_changes(&both[1..]).await;
    assert_eq!(three.views.borrow().changes.revision, gone);
}

#[tokio::test]
async fn of_two_writes_under_one_revision_the_second_changes_nothing() {
    let Some(etcd) = Etcd::start() else { return };
    let store = etcd.store();
    let mut one = balancer(1, store.clone());
    one.sees(&[1], Source::Current).await;
    let first = write(&store, &[a_write("web/be1", 0, Some("one"))]).await.unwrap();
    let late = [a_write("web/be2", 0, Some("two")), a_write("web/be1", 0, Some("late"))];
    let conflict = write(&store, &late).await;
    assert!(matches!(conflict, Err(WriteError::Conflict)), "{conflict:?}");
    one.has_changes(&[("web/be1", "one")]).await;
    write(&store, &[a_write("web/be1", first, Some("in time"))]).await.unwrap();
    one.has_changes(&[("web/be1", "in time")]).await;
}

#[tokio::test]
async fn without_etcd_a_balancer_is_alone_and_stops_at_once() {
    let store = store(vec![free_url("http"), "not a url".into()], Duration::from_secs(1));
    let mut one = balancer(1, store);
    one.sees(&[1], Source::Lost).await;
    one.stop().await;
}

/// Attempts go on every few seconds for as long as etcd is away; each endpoint's failure is logged
/// once, and again after a session.
#[test]
fn a_failure_is_news_once_until_a_session_begins() {
    let mut failures = Failures::default();
    assert!(failures.is_news("a", &StoreError::Closed));
    assert!(failures.is_news("b", &StoreError::Timeout));
    assert!(!failures.is_news("b", &StoreError::Timeout));
    assert!(failures.is_news("a", &StoreError::Timeout), "another reason than before");
    failures.end("b");
    assert!(failures.is_news("b", &StoreError::Timeout));
}

#[test]
fn a_heartbeat_is_a_third_of_the_lease() {
    assert_eq!(store(vec![], Duration::from_secs(9)).heartbeat(), Duration::from_secs(3));
}

#[tokio::test]
async fn an_endpoint_that_accepts_and_does_not_answer_times_out() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let store = store(vec![], Duration::from_secs(1));
    let begun =
        timeout(LONG, Session::begin(&member(1), &store, &url, &View::default())).await.unwrap();
    assert!(begun.is_err());
}
