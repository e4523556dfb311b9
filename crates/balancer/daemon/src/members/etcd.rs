//! Membership in etcd.
//!
//! A balancer's key is `<prefix>/<name>`, its value `{"address": "<IP>"}`, under a lease of its
//! own, which etcd ends when it was not renewed for the time to live. One session: connect,
//! authenticate, read all keys, watch them from there on; and, as soon as this balancer is ready,
//! take a lease and put the key. Any failure ends the session: the last view stays, marked
//! [`Source::Lost`], and a new session begins after a pause, with a new lease; the key then belongs
//! to that one, so that the old lease's end does no harm.
//!
//! A balancer whose key goes has lost etcd, or its daemon has stopped or died. Its program goes on:
//! routers send packets to it, and tokens are registered there. So it is [lapsed](View::lapsed): a
//! member as long as it answers heartbeats.
//!
//! The [changes that all balancers share](crate::shared) are below `<prefix>/changes/`, without a
//! lease: one watch follows both, and one permission is enough.
//!
//! etcd's versions 3.4 and later are supported. Write access to etcd gives control over the list of
//! balancers and over backends: see [`Credentials`] for TLS and authentication.

mod credentials;
mod session;
mod write;

pub use credentials::{Credentials, CredentialsError, Files, User};
pub use write::{WriteError, write};

use std::collections::BTreeMap;
use std::error::Error;
use std::future::Future;
use std::pin::{Pin, pin};
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::sleep;

use super::{Member, Source, View};
use session::Session;

/// The part of the keys of shared changes behind the prefix.
const CHANGES: &str = "changes/";

/// The shortest time to live that etcd can count.
const SHORTEST_LEASE: Duration = Duration::from_secs(1);

/// The address of etcd, and its use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Store {
    /// URLs as `https://10.0.0.1:2379`; tried in turn.
    pub endpoints: Vec<String>,
    /// The beginning of the keys, without the slash.
    pub prefix: String,
    /// The time after which a balancer that does not renew its lease is no longer a member; whole
    /// seconds, at least 1.
    pub time_to_live: Duration,
    /// TLS and authentication.
    pub credentials: Credentials,
}

/// The end of a session with etcd.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// An endpoint, or the connection to it, TLS included.
    #[error("cannot reach it: {}", root(.0))]
    Transport(#[from] tonic::transport::Error),
    /// The files for TLS and authentication.
    #[error(transparent)]
    Credentials(#[from] CredentialsError),
    /// etcd has refused a request, the user's name and password for example.
    #[error("it refuses: {}", .0.message())]
    Refused(Box<tonic::Status>),
    /// The connection has failed while a request was under way, since etcd does not accept the
    /// certificate for example.
    #[error("the connection has failed: {}", root(&**.0))]
    Connection(Box<tonic::Status>),
    /// The client has failed otherwise.
    #[error("{0}")]
    Client(String),
    /// etcd did not answer in time.
    #[error("it does not answer")]
    Timeout,
    /// This balancer's lease was not renewed in time: it is no member any more.
    #[error("the lease has ended")]
    LeaseLost,
    /// etcd has ended a stream of answers.
    #[error("it has closed the connection")]
    Closed,
}

impl From<etcd_client::Error> for StoreError {
    fn from(error: etcd_client::Error) -> StoreError {
        match error {
            etcd_client::Error::GRpcStatus(status) if status.source().is_some() => {
                StoreError::Connection(Box::new(status))
            }
            etcd_client::Error::GRpcStatus(status) => StoreError::Refused(Box::new(status)),
            etcd_client::Error::TransportError(error) => StoreError::Transport(error),
            other => StoreError::Client(other.to_string()),
        }
    }
}

/// The innermost cause of an error.
fn root(error: &dyn Error) -> String {
    error.source().map_or_else(|| error.to_string(), root)
}

/// Sends the view of all keys, shared changes included, to `to`, which has the view known so far,
/// and keeps this balancer's key as soon as `ready` is true, until `stop` is ready.
pub async fn watch(
    own: Member,
    store: Store,
    to: watch::Sender<View>,
    mut ready: watch::Receiver<bool>,
    stop: impl Future<Output = ()>,
) {
    let mut stop = pin!(stop);
    let mut failures = Failures::default();
    for endpoint in store.endpoints.iter().cycle() {
        let known = to.borrow().clone();
        let error = match before(&mut stop, Session::begin(&own, &store, endpoint, &known)).await {
            None => return,
            Some(Err(error)) => error,
            Some(Ok(mut session)) => {
                failures.end(endpoint);
                match before(&mut stop, session.run(&to, &mut ready)).await {
                    None => return session.end().await,
                    Some(error) => error,
                }
            }
        };
        failures.log(endpoint, &error);
        mark_lost(&to);
        if before(&mut stop, sleep(store.heartbeat())).await.is_none() {
            return;
        }
    }
}

/// The failures of endpoints since a session last began: each is logged once, not again with each
/// new attempt.
#[derive(Default)]
struct Failures<'a>(BTreeMap<&'a str, String>);

impl<'a> Failures<'a> {
    fn log(&mut self, endpoint: &'a str, error: &StoreError) {
        if self.is_news(endpoint, error) {
            tracing::warn!(endpoint, %error, "etcd is lost: the last list of balancers stays");
        }
    }

    /// True for the first failure of its kind at an endpoint.
    fn is_news(&mut self, endpoint: &'a str, error: &StoreError) -> bool {
        let error = error.to_string();
        self.0.insert(endpoint, error.clone()) != Some(error)
    }

    /// A session has begun.
    fn end(&mut self, endpoint: &str) {
        if !std::mem::take(&mut self.0).is_empty() {
            tracing::info!(endpoint, "etcd answers again");
        }
    }
}

/// The output of `work`; none if `stop` is ready first.
async fn before<T>(
    stop: &mut Pin<&mut impl Future<Output = ()>>,
    work: impl Future<Output = T>,
) -> Option<T> {
    tokio::select! {
        () = stop => None,
        done = work => Some(done),
    }
}

/// Marks the view as no longer kept up to date.
fn mark_lost(to: &watch::Sender<View>) {
    to.send_if_modified(|view| {
        let is_news = matches!(view.source, Source::Starting | Source::Current);
        if is_news {
            view.source = Source::Lost;
        }
        is_news
    });
}

impl Store {
    /// A third of the time to live: the interval of the lease's renewals, the timeout of a request,
    /// and the pause before another session.
    fn heartbeat(&self) -> Duration {
        self.time_to_live.max(SHORTEST_LEASE) / 3
    }
}

#[cfg(test)]
mod tests;
