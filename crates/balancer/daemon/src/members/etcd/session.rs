//! One connection to etcd, with one lease.

use std::collections::BTreeMap;
use std::future::Future;
use std::net::IpAddr;
use std::time::Duration;

use etcd_client::{
    Channel, Client, Event, EventType, GetOptions, KeyValue, LeaseKeepAliveStream, LeaseKeeper,
    PutOptions, WatchOptions, WatchResponse, WatchStream,
};
use serde::{Deserialize, Serialize};
use tokio::sync::watch;
use tokio::time::{interval, timeout};
use tonic::transport::Endpoint;

use super::{Member, SHORTEST_LEASE, Source, Store, StoreError, View};

/// A balancer's value.
#[derive(Debug, Serialize, Deserialize)]
struct Value {
    address: IpAddr,
}

/// A lease, this balancer's key under it, and a watch on all keys.
pub struct Session {
    own: Member,
    prefix: String,
    heartbeat: Duration,
    client: Client,
    lease: i64,
    keeper: LeaseKeeper,
    renewals: LeaseKeepAliveStream,
    members: BTreeMap<String, IpAddr>,
    changes: WatchStream,
}

impl Session {
    /// Connects, puts the key and reads all others.
    pub async fn begin(own: &Member, store: &Store, url: &str) -> Result<Session, StoreError> {
        let heartbeat = store.heartbeat();
        let mut client = in_time(heartbeat, connect(store, url)).await?;
        let lease = grant(&mut client, store.time_to_live).await?;
        let (keeper, renewals) =
            in_time(heartbeat, async { Ok(client.lease_keep_alive(lease).await?) }).await?;
        let prefix = format!("{}/", store.prefix);
        put(&mut client, lease, &prefix, own).await?;
        let (found, revision) = read(&mut client, &prefix).await?;
        let changes = follow(&mut client, &prefix, revision + 1).await?;
        let (own, members) = (own.clone(), BTreeMap::new());
        let mut session =
            Session { own, prefix, heartbeat, client, lease, keeper, renewals, members, changes };
        for key in &found {
            session.put(key);
        }
        Ok(session)
    }

    /// Sends changes of the view and renews the lease, until something fails.
    pub async fn run(&mut self, to: &watch::Sender<View>) -> StoreError {
        let mut heartbeats = interval(self.heartbeat);
        loop {
            self.send(to);
            let step = tokio::select! {
                change = self.changes.message() => {
                    change.map_err(Into::into).and_then(|change| self.take(change))
                }
                _ = heartbeats.tick() => self.renew().await,
            };
            if let Err(error) = step {
                return error;
            }
        }
    }

    /// Gives the lease back, and the key with it.
    pub async fn leave(mut self) {
        let revoked = self.client.lease_revoke(self.lease);
        if !matches!(timeout(self.heartbeat, revoked).await, Ok(Ok(_))) {
            tracing::warn!("the lease in etcd could not be given back: it has to end");
        }
    }

    fn send(&self, to: &watch::Sender<View>) {
        let mut view = View { source: Source::Current, ..View::alone(&self.own) };
        view.members.extend(self.members.iter().map(|(name, address)| (name.clone(), *address)));
        to.send_if_modified(|sent| {
            let changed = *sent != view;
            *sent = view;
            changed
        });
    }

    async fn renew(&mut self) -> Result<(), StoreError> {
        let (keeper, renewals) = (&mut self.keeper, &mut self.renewals);
        in_time(self.heartbeat, async {
            keeper.keep_alive().await?;
            match renewals.message().await? {
                Some(answer) if answer.ttl() > 0 => Ok(()),
                Some(_) => Err(StoreError::LeaseLost),
                None => Err(StoreError::Closed),
            }
        })
        .await
    }

    fn take(&mut self, change: Option<WatchResponse>) -> Result<(), StoreError> {
        let change = change.filter(|change| !change.canceled()).ok_or(StoreError::Closed)?;
        change.events().iter().try_for_each(|event| self.event(event))
    }

    fn event(&mut self, event: &Event) -> Result<(), StoreError> {
        let Some(key) = event.kv() else { return Ok(()) };
        match event.event_type() {
            EventType::Put => self.put(key),
            EventType::Delete => {
                let Some(name) = name(key.key(), &self.prefix) else { return Ok(()) };
                if name == self.own.name {
                    return Err(StoreError::LeaseLost);
                }
                self.members.remove(name);
            }
        }
        Ok(())
    }

    fn put(&mut self, key: &KeyValue) {
        let value = serde_json::from_slice::<Value>(key.value());
        let (Some(name), Ok(value)) = (name(key.key(), &self.prefix), value) else {
            tracing::warn!(key = %key.key().escape_ascii(), "not a balancer's key");
            return;
        };
        if name != self.own.name {
            self.members.insert(name.to_owned(), value.address);
        } else if value.address != self.own.address {
            tracing::error!(name, address = %value.address, "another balancer uses this one's name");
        }
    }
}

/// The part behind the prefix.
fn name<'a>(key: &'a [u8], prefix: &str) -> Option<&'a str> {
    std::str::from_utf8(key).ok()?.strip_prefix(prefix).filter(|name| !name.is_empty())
}

async fn in_time<T>(
    limit: Duration,
    work: impl Future<Output = Result<T, StoreError>>,
) -> Result<T, StoreError> {
    timeout(limit, work).await.unwrap_or(Err(StoreError::Timeout))
}

/// A connection to one endpoint, authenticated.
async fn connect(store: &Store, url: &str) -> Result<Client, StoreError> {
    let limit = store.heartbeat();
    let mut endpoint = Endpoint::from_shared(url.to_owned())?.connect_timeout(limit).timeout(limit);
    if let Some(tls) = store.credentials.tls()? {
        endpoint = endpoint.tls_config(tls)?;
    }
    let options = store.credentials.options()?;
    let channel = endpoint.connect().await?;
    Ok(Client::from_channel(Channel::Tonic(channel), Some(options)).await?)
}

async fn grant(client: &mut Client, time_to_live: Duration) -> Result<i64, StoreError> {
    let seconds = time_to_live.max(SHORTEST_LEASE).as_secs();
    let seconds = i64::try_from(seconds).unwrap_or(i64::MAX);
    Ok(client.lease_grant(seconds, None).await?.id())
}

async fn put(
    client: &mut Client,
    lease: i64,
    prefix: &str,
    own: &Member,
) -> Result<(), StoreError> {
    let key = format!("{prefix}{}", own.name);
    let value = serde_json::json!(Value { address: own.address }).to_string();
    client.put(key, value, Some(PutOptions::new().with_lease(lease))).await?;
    Ok(())
}

/// All keys, and the revision at which they were read.
async fn read(client: &mut Client, prefix: &str) -> Result<(Vec<KeyValue>, i64), StoreError> {
    let mut answer = client.get(prefix, Some(GetOptions::new().with_prefix())).await?;
    let revision = answer.header().map_or(0, |header| header.revision());
    Ok((answer.take_kvs(), revision))
}

/// All changes from a revision on.
async fn follow(
    client: &mut Client,
    prefix: &str,
    start_revision: i64,
) -> Result<WatchStream, StoreError> {
    let options = WatchOptions::new().with_prefix().with_start_revision(start_revision);
    Ok(client.watch(prefix, Some(options)).await?)
}
