//! The balancers of the cluster, as they are listed: a static list, or the keys in etcd
//! ([`etcd::watch`]).
//!
//! A [`View`] is replaced as a whole. This balancer is always a member of its own view, and of no
//! view twice. Who shares the work is decided by two things: being listed, and answering
//! [heartbeats](crate::heartbeat).
//!
//! Balancers may hold different views for a while, or for long when the network between them is
//! cut. That costs joins that meet a wrong owner and are then placed by hash; flows stay where they
//! are.

pub mod etcd;
mod file;

pub use file::{Known, read, write};

use std::collections::BTreeMap;
use std::net::IpAddr;

use serde::{Deserialize, Serialize};

use crate::shared::Changes;

/// A balancer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Member {
    /// Its name: the same for all balancers, and no other's.
    pub name: String,
    /// The address that the others send to.
    pub address: IpAddr,
}

/// The state of a view.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// Nothing is known of the others yet.
    #[default]
    Starting,
    /// The store has not answered yet: the list is that of the daemon before.
    Old,
    /// Up to date.
    Current,
    /// The store does not answer: the last list stays.
    Lost,
}

/// All balancers that are listed, and what they share.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct View {
    /// By name.
    pub members: BTreeMap<String, IpAddr>,
    /// Those whose registration has ended: their programs may go on, and they are members as long
    /// as they answer.
    pub lapsed: BTreeMap<String, IpAddr>,
    /// The state of the list, and of the changes.
    pub source: Source,
    /// Changes of backends that all balancers share.
    pub changes: Changes,
}

impl View {
    /// Of one balancer that knows no other.
    pub fn alone(own: &Member) -> View {
        let members = BTreeMap::from([(own.name.clone(), own.address)]);
        View { members, ..View::default() }
    }

    /// All that are listed, the lapsed ones included.
    pub fn all(&self) -> impl Iterator<Item = (&String, &IpAddr)> {
        self.members.iter().chain(&self.lapsed)
    }
}
