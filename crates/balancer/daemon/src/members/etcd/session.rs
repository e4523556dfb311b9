//! One connection to etcd, with one lease.

use std::collections::BTreeMap;
use std::future::Future;
use std::net::IpAddr;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tokio::sync::watch;
use tokio::time::{interval, timeout};
use tokio_stream::{StreamExt, once, pending};
use tonic::Streaming;
use tonic::transport::{Channel, Endpoint};

use super::wire::event::EventType;
use super::wire::kv_client::KvClient;
use super::wire::lease_client::LeaseClient;
use super::wire::watch_client::WatchClient;
use super::wire::watch_request::RequestUnion;
use super::wire::{
    Event, KeyValue, LeaseGrantRequest, LeaseKeepAliveRequest, LeaseRevokeRequest, PutRequest,
    RangeRequest, WatchCreateRequest, WatchRequest, WatchResponse,
};
use super::{Member, SHORTEST_LEASE, Source, Store, StoreError, View};

/// A balancer's value.
#[derive(Debug, Serialize, Deserialize)]
struct Value {
    address: IpAddr,
}

/// A lease, this balancer's key under it, and a watch on all keys.
#[derive(Debug)]
pub struct Session {
    own: Member,
    prefix: String,
    beat: Duration,
    channel: Channel,
    lease: i64,
    members: BTreeMap<String, IpAddr>,
    changes: Streaming<WatchResponse>,
}

impl Session {
    /// Connects, puts the key and reads all others.
    pub async fn begin(own: &Member, store: &Store, url: &str) -> Result<Session, StoreError> {
        let beat = store.beat();
        let endpoint = Endpoint::from_shared(url.to_owned())?.connect_timeout(beat).timeout(beat);
        let channel = in_time(beat, async { Ok(endpoint.connect().await?) }).await?;
        let lease = grant(&channel, store.time_to_live).await?;
        let prefix = format!("{}/", store.prefix);
        put(&channel, lease, &prefix, own).await?;
        let (found, revision) = read(&channel, &prefix).await?;
        let changes = follow(&channel, &prefix, revision + 1).await?;
        let (own, members) = (own.clone(), BTreeMap::new());
        let mut session = Session { own, prefix, beat, channel, lease, members, changes };
        for key in &found {
            session.put(key);
        }
        Ok(session)
    }

    /// Tells of changes and renews the lease, until something goes wrong.
    pub async fn live(&mut self, to: &watch::Sender<View>) -> StoreError {
        let mut beats = interval(self.beat);
        loop {
            self.tell(to);
            let step = tokio::select! {
                change = self.changes.message() => change.map_err(Into::into).and_then(|change| self.take(change)),
                _ = beats.tick() => self.renew().await,
            };
            if let Err(error) = step {
                return error;
            }
        }
    }

    /// Gives the lease back, and the key with it.
    pub async fn leave(self) {
        let mut client = LeaseClient::new(self.channel);
        let revoked = client.lease_revoke(LeaseRevokeRequest { id: self.lease });
        if !matches!(timeout(self.beat, revoked).await, Ok(Ok(_))) {
            tracing::warn!("etcd has not heard that this balancer stops: its lease has to end");
        }
    }

    fn tell(&self, to: &watch::Sender<View>) {
        let mut view = View { source: Source::Current, ..View::alone(&self.own) };
        view.members.extend(self.members.iter().map(|(name, address)| (name.clone(), *address)));
        to.send_if_modified(|told| {
            let changed = *told != view;
            *told = view;
            changed
        });
    }

    async fn renew(&self) -> Result<(), StoreError> {
        in_time(self.beat, async {
            let mut client = LeaseClient::new(self.channel.clone());
            let request = once(LeaseKeepAliveRequest { id: self.lease });
            let mut answers = client.lease_keep_alive(request).await?.into_inner();
            match answers.message().await? {
                Some(answer) if answer.ttl > 0 => Ok(()),
                Some(_) => Err(StoreError::LeaseLost),
                None => Err(StoreError::Closed),
            }
        })
        .await
    }

    fn take(&mut self, change: Option<WatchResponse>) -> Result<(), StoreError> {
        let change = change.filter(|change| !change.canceled).ok_or(StoreError::Closed)?;
        change.events.iter().try_for_each(|event| self.event(event))
    }

    fn event(&mut self, event: &Event) -> Result<(), StoreError> {
        let Some(key) = &event.kv else { return Ok(()) };
        match event.r#type() {
            EventType::Put => self.put(key),
            EventType::Delete => {
                let Some(name) = name(&key.key, &self.prefix) else { return Ok(()) };
                if name == self.own.name {
                    return Err(StoreError::LeaseLost);
                }
                self.members.remove(name);
            }
        }
        Ok(())
    }

    fn put(&mut self, key: &KeyValue) {
        let value = serde_json::from_slice::<Value>(&key.value);
        let (Some(name), Ok(value)) = (name(&key.key, &self.prefix), value) else {
            tracing::warn!(key = %key.key.escape_ascii(), "not a balancer's key");
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
    patience: Duration,
    work: impl Future<Output = Result<T, StoreError>>,
) -> Result<T, StoreError> {
    timeout(patience, work).await.unwrap_or(Err(StoreError::Silent))
}

async fn grant(channel: &Channel, time_to_live: Duration) -> Result<i64, StoreError> {
    let seconds = time_to_live.max(SHORTEST_LEASE).as_secs();
    let request = LeaseGrantRequest { ttl: i64::try_from(seconds).unwrap_or(i64::MAX) };
    Ok(LeaseClient::new(channel.clone()).lease_grant(request).await?.into_inner().id)
}

async fn put(channel: &Channel, lease: i64, prefix: &str, own: &Member) -> Result<(), StoreError> {
    let key = format!("{prefix}{}", own.name).into_bytes();
    let value = serde_json::json!(Value { address: own.address }).to_string().into_bytes();
    KvClient::new(channel.clone()).put(PutRequest { key, value, lease }).await?;
    Ok(())
}

/// All keys, and the revision at which they were read.
async fn read(channel: &Channel, prefix: &str) -> Result<(Vec<KeyValue>, i64), StoreError> {
    let (key, range_end) = range(prefix);
    let request = RangeRequest { key, range_end };
    let answer = KvClient::new(channel.clone()).range(request).await?.into_inner();
    Ok((answer.kvs, answer.header.unwrap_or_default().revision))
}

/// All changes from a revision on.
async fn follow(
    channel: &Channel,
    prefix: &str,
    start_revision: i64,
) -> Result<Streaming<WatchResponse>, StoreError> {
    let (key, range_end) = range(prefix);
    let create = WatchCreateRequest { key, range_end, start_revision };
    let request = WatchRequest { request_union: Some(RequestUnion::CreateRequest(create)) };
    // The stream of requests stays open: its end may end the watch.
    let requests = once(request).chain(pending());
    Ok(WatchClient::new(channel.clone()).watch(requests).await?.into_inner())
}

/// All keys that begin with `prefix`, which ends with a slash.
fn range(prefix: &str) -> (Vec<u8>, Vec<u8>) {
    let (first, mut end) = (prefix.as_bytes().to_vec(), prefix.as_bytes().to_vec());
    if let Some(last) = end.last_mut() {
        *last += 1;
    }
    (first, end)
}
