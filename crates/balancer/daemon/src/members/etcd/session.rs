//! One connection to etcd, with one lease.

use std::collections::BTreeMap;
use std::future::Future;
use std::net::IpAddr;
use std::time::Duration;

use etcd_client::{
    Channel, Client, Event, EventType, GetOptions, KeyValue, LeaseGrantOptions,
    LeaseKeepAliveStream, LeaseKeeper, PutOptions, WatchOptions, WatchResponse, WatchStream,
};
use serde::{Deserialize, Serialize};
use tokio::sync::watch;
use tokio::time::{interval, timeout};
use tonic::transport::Endpoint;

use super::{CHANGES, Member, SHORTEST_LEASE, Source, Store, StoreError, View};
use crate::shared::{Changes, Entry};

/// A balancer's value.
#[derive(Debug, Serialize, Deserialize)]
struct Value {
    address: IpAddr,
}

/// A connection, a watch on all keys, and this balancer's own key under a lease as soon as it is
/// registered.
pub struct Session {
    own: Member,
    prefix: String,
    time_to_live: Duration,
    heartbeat: Duration,
    client: Client,
    /// Chosen before it is asked for: a stop in between can give it back.
    lease: Option<i64>,
    renewals: Option<(LeaseKeeper, LeaseKeepAliveStream)>,
    members: BTreeMap<String, IpAddr>,
    lapsed: BTreeMap<String, IpAddr>,
    shared: Changes,
    changes: WatchStream,
}

impl Session {
    /// Connects and reads all keys. Members of the view `known` that have no key any more are
    /// lapsed.
    pub async fn begin(
        own: &Member,
        store: &Store,
        url: &str,
        known: &View,
    ) -> Result<Session, StoreError> {
        let heartbeat = store.heartbeat();
        let mut client = in_time(heartbeat, connect(store, url)).await?;
        let prefix = format!("{}/", store.prefix);
        let (found, revision) = read(&mut client, &prefix).await?;
        let changes = follow(&mut client, &prefix, revision + 1).await?;
        let mut session = Session {
            own: own.clone(),
            prefix,
            time_to_live: store.time_to_live,
            heartbeat,
            client,
            lease: None,
            renewals: None,
            members: BTreeMap::new(),
            lapsed: known.all().map(|(name, address)| (name.clone(), *address)).collect(),
            shared: Changes { revision, ..Changes::default() },
            changes,
        };
        session.lapsed.remove(&own.name);
        for key in &found {
            session.put(key);
        }
        Ok(session)
    }

    /// Sends changes of the view, registers as soon as `ready` is true, and renews the lease, until
    /// something fails.
    pub async fn run(
        &mut self,
        to: &watch::Sender<View>,
        ready: &mut watch::Receiver<bool>,
    ) -> StoreError {
        let mut heartbeats = interval(self.heartbeat);
        loop {
            self.send(to);
            let waits = self.renewals.is_none();
            let step = tokio::select! {
                change = self.changes.message() => {
                    change.map_err(Into::into).and_then(|change| self.take(change))
                }
                true = is_ready(ready), if waits => self.register().await,
                _ = heartbeats.tick() => self.renew().await,
            };
            if let Err(error) = step {
                return error;
            }
        }
    }

    /// Takes a lease and puts the key.
    async fn register(&mut self) -> Result<(), StoreError> {
        let id = lease_id()?;
        self.lease = Some(id);
        let seconds = i64::try_from(self.time_to_live.max(SHORTEST_LEASE).as_secs());
        let options = LeaseGrantOptions::new().with_id(id);
        let (heartbeat, client) = (self.heartbeat, &mut self.client);
        let renewals = in_time(heartbeat, async {
            client.lease_grant(seconds.unwrap_or(i64::MAX), Some(options)).await?;
            Ok(client.lease_keep_alive(id).await?)
        });
        self.renewals = Some(renewals.await?);
        let value = serde_json::json!(Value { address: self.own.address }).to_string();
        let key = format!("{}{}", self.prefix, self.own.name);
        self.client.put(key, value, Some(PutOptions::new().with_lease(id))).await?;
        Ok(())
    }

    /// Gives the lease back, and the key with it.
    pub async fn end(mut self) {
        let Some(lease) = self.lease else { return };
        if !matches!(timeout(self.heartbeat, self.client.lease_revoke(lease)).await, Ok(Ok(_))) {
            tracing::warn!("the lease in etcd could not be given back: it ends by itself");
        }
    }

    fn send(&self, to: &watch::Sender<View>) {
        let mut view = View { source: Source::Current, ..View::alone(&self.own) };
        view.members.extend(self.members.iter().map(|(name, address)| (name.clone(), *address)));
        view.lapsed.clone_from(&self.lapsed);
        view.changes.clone_from(&self.shared);
        to.send_if_modified(|sent| {
            let changed = *sent != view;
            *sent = view;
            changed
        });
    }

    async fn renew(&mut self) -> Result<(), StoreError> {
        let Some((keeper, renewals)) = &mut self.renewals else { return Ok(()) };
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
        if let Some(change) = name(key.key(), &self.prefix).and_then(shared) {
            self.shared.revision = self.shared.revision.max(key.mod_revision());
            match event.event_type() {
                EventType::Put => self.put(key),
                EventType::Delete => drop(self.shared.entries.remove(change)),
            }
            return Ok(());
        }
        match event.event_type() {
            EventType::Put => self.put(key),
            EventType::Delete => {
                let Some(name) = name(key.key(), &self.prefix) else { return Ok(()) };
                if name != self.own.name {
                    self.removed(name);
                } else if self.renewals.is_some() {
                    return Err(StoreError::LeaseLost);
                }
            }
        }
        Ok(())
    }

    /// The key of another balancer is gone.
    fn removed(&mut self, name: &str) {
        if let Some(address) = self.members.remove(name) {
            self.lapsed.insert(name.to_owned(), address);
        }
    }

    fn put(&mut self, key: &KeyValue) {
        if let Some(change) = name(key.key(), &self.prefix).and_then(shared) {
            let text = String::from_utf8_lossy(key.value()).into_owned();
            let entry = Entry { revision: key.mod_revision(), text };
            self.shared.entries.insert(change.to_owned(), entry);
            return;
        }
        let value = serde_json::from_slice::<Value>(key.value());
        let (Some(name), Ok(value)) = (name(key.key(), &self.prefix), value) else {
            tracing::warn!(key = %key.key().escape_ascii(), "not a balancer's key");
            return;
        };
        if name != self.own.name {
            self.lapsed.remove(name);
            self.members.insert(name.to_owned(), value.address);
        } else if value.address != self.own.address {
            tracing::error!(name, address = %value.address, "another balancer uses this one's name");
        }
    }
}

/// Waits until this balancer is ready; false if nobody will say so any more.
async fn is_ready(ready: &mut watch::Receiver<bool>) -> bool {
    ready.wait_for(|ready| *ready).await.is_ok()
}

/// The part behind the prefix.
fn name<'a>(key: &'a [u8], prefix: &str) -> Option<&'a str> {
    std::str::from_utf8(key).ok()?.strip_prefix(prefix).filter(|name| !name.is_empty())
}

/// The part of a shared change's key behind what all of them begin with; none of a balancer's key.
fn shared(name: &str) -> Option<&str> {
    name.strip_prefix(CHANGES)
}

pub(super) async fn in_time<T>(
    limit: Duration,
    work: impl Future<Output = Result<T, StoreError>>,
) -> Result<T, StoreError> {
    timeout(limit, work).await.unwrap_or(Err(StoreError::Timeout))
}

/// A connection to one endpoint, authenticated.
pub(super) async fn connect(store: &Store, url: &str) -> Result<Client, StoreError> {
    let limit = store.heartbeat();
    let mut endpoint = Endpoint::from_shared(url.to_owned())?.connect_timeout(limit).timeout(limit);
    if let Some(tls) = store.credentials.tls()? {
        endpoint = endpoint.tls_config(tls)?;
    }
    let options = store.credentials.options()?;
    let channel = endpoint.connect().await?;
    Ok(Client::from_channel(Channel::Tonic(channel), Some(options)).await?)
}

/// A number that no other lease has.
fn lease_id() -> Result<i64, StoreError> {
    let number = getrandom::u64().map_err(|error| StoreError::Client(error.to_string()))?;
    Ok((number >> 1).max(1) as i64)
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
