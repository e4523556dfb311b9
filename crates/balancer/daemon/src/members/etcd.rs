//! Members in etcd.
//!
//! A balancer's key is `<prefix>/<name>`, its value `{"address": "<IP>"}`, under a lease of its own that ends when it has not been heard
//! of for the time to live. One session: connect, take a lease, put the key, read all keys, watch them from there on. Anything that goes
//! wrong ends the session: the last view stays, marked [`Source::Lost`], and a new session begins after a pause, with a new lease; the
//! key then belongs to that one, so that the old lease's end does no harm.
//!
//! etcd's versions 3.4 and later speak this; neither TLS nor users are supported, so that etcd belongs on a network of its own.

mod session;

use std::future::Future;
use std::pin::{Pin, pin};
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::sleep;

use super::{Member, Source, View};
use session::Session;

/// What etcd sends and is sent.
pub(crate) mod wire {
    #![allow(missing_docs, clippy::all, reason = "made from etcd.proto")]
    tonic::include_proto!("etcdserverpb");
}

/// The shortest time to live that etcd can count.
const SHORTEST_LEASE: Duration = Duration::from_secs(1);

/// Where the store is, and how it is used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Store {
    /// As `http://10.0.0.1:2379`; tried in turn.
    pub endpoints: Vec<String>,
    /// What the keys begin with, without the slash.
    pub prefix: String,
    /// After which a balancer that is not heard of is no longer a member; whole seconds, at least 1.
    pub time_to_live: Duration,
}

/// Why a session with etcd ended.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// An endpoint, or the connection to it.
    #[error("cannot reach it: {}", root(.0))]
    Transport(#[from] tonic::transport::Error),
    /// etcd refused.
    #[error("it refuses: {}", .0.message())]
    Status(Box<tonic::Status>),
    /// It did not answer in time.
    #[error("it does not answer")]
    Silent,
    /// This balancer was not heard in time, and so is no member any more.
    #[error("the lease has ended")]
    LeaseLost,
    /// It ended a stream of answers.
    #[error("it has closed the connection")]
    Closed,
}

impl From<tonic::Status> for StoreError {
    fn from(status: tonic::Status) -> StoreError {
        StoreError::Status(Box::new(status))
    }
}

/// What lies at the bottom of an error.
fn root(error: &dyn std::error::Error) -> String {
    error.source().map_or_else(|| error.to_string(), root)
}

/// Keeps this balancer's key and tells of all keys, until `stop` is ready; then this balancer leaves at once, and the others need not wait
/// for the end of its lease.
pub async fn watch(
    own: Member,
    store: Store,
    to: watch::Sender<View>,
    stop: impl Future<Output = ()>,
) {
    to.send_replace(View::alone(&own));
    let mut stop = pin!(stop);
    for endpoint in store.endpoints.iter().cycle() {
        let error = match before(&mut stop, Session::begin(&own, &store, endpoint)).await {
            None => return,
            Some(Err(error)) => error,
            Some(Ok(mut session)) => match before(&mut stop, session.live(&to)).await {
                None => return session.leave().await,
                Some(error) => error,
            },
        };
        tracing::warn!(endpoint, %error, "etcd is lost: the last list of balancers stays");
        lose(&to);
        if before(&mut stop, sleep(store.beat())).await.is_none() {
            return;
        }
    }
}

/// What comes of `work`; none if it is time to stop first.
async fn before<T>(
    stop: &mut Pin<&mut impl Future<Output = ()>>,
    work: impl Future<Output = T>,
) -> Option<T> {
    tokio::select! {
        () = stop => None,
        done = work => Some(done),
    }
}

/// Says that the view is no longer kept up to date.
fn lose(to: &watch::Sender<View>) {
    to.send_if_modified(|view| {
        let was_current = view.source == Source::Current;
        if was_current {
            view.source = Source::Lost;
        }
        was_current
    });
}

impl Store {
    /// A third of the time to live: how often the lease is renewed, how long an answer may take, and the pause before another try.
    fn beat(&self) -> Duration {
        self.time_to_live.max(SHORTEST_LEASE) / 3
    }
}

#[cfg(test)]
mod tests;
