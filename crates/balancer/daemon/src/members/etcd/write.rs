//! Writes of shared changes: each on a connection of its own, for operators' commands are rare.

use etcd_client::{Client, Compare, CompareOp, Txn, TxnOp};

use super::session::{connect, in_time};
use super::{CHANGES, Store, StoreError};
use crate::shared::Write;

/// The reasons why writes were not made, or may not have been.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    /// Nothing was written: no endpoint answers, or etcd refuses.
    #[error(transparent)]
    NotWritten(StoreError),
    /// Nothing was written: a key has another revision by now.
    #[error("another balancer has changed it meanwhile")]
    Conflict,
    /// etcd has not answered: it may have written all of it, or nothing.
    #[error(transparent)]
    Unconfirmed(StoreError),
}

/// Makes all writes or none, each under the condition that its key still has the revision that it
/// had. Endpoints are tried in turn until one can be reached. Returns etcd's revision after the
/// writes.
///
/// # Errors
/// [`WriteError`].
pub async fn write(store: &Store, writes: &[Write]) -> Result<i64, WriteError> {
    let mut client = reached(store).await.map_err(WriteError::NotWritten)?;
    let answer =
        in_time(store.heartbeat(), async { Ok(client.txn(transaction(store, writes)).await?) });
    let answer = answer.await.map_err(|error| match error {
        StoreError::Refused(_) => WriteError::NotWritten(error),
        _ => WriteError::Unconfirmed(error),
    })?;
    if !answer.succeeded() {
        return Err(WriteError::Conflict);
    }
    Ok(answer.header().map_or(0, |header| header.revision()))
}

/// A connection to the first endpoint that can be reached.
async fn reached(store: &Store) -> Result<Client, StoreError> {
    let mut last = StoreError::Timeout;
    for url in &store.endpoints {
        match in_time(store.heartbeat(), connect(store, url)).await {
            Ok(client) => return Ok(client),
            Err(error) => last = error,
        }
    }
    Err(last)
}

fn transaction(store: &Store, writes: &[Write]) -> Txn {
    let key = |write: &Write| format!("{}/{CHANGES}{}", store.prefix, write.key);
    let unchanged =
        |write: &Write| Compare::mod_revision(key(write), CompareOp::Equal, write.revision);
    let operation = |write: &Write| match &write.text {
        Some(text) => TxnOp::put(key(write), text.as_str(), None),
        None => TxnOp::delete(key(write), None),
    };
    Txn::new()
        .when(writes.iter().map(unchanged).collect::<Vec<_>>())
        .and_then(writes.iter().map(operation).collect::<Vec<_>>())
}
