//! The balancers that share the work: the list of those alive, of which all build the same token ring.
//!
//! Either a static list, whose members may be probed as backends are ([`watch_static`]), or etcd as the shared store
//! ([`etcd::watch`]): each balancer keeps a key there under a lease and sees the keys of the others. Both send a [`View`], which is
//! replaced as a whole. This balancer is always a member of its own view, and of no view twice.
//!
//! Balancers may hold different views for a while, or for long when the network between them is cut. That costs joins that meet a wrong
//! owner and are then placed by hash; flows stay where they are.

pub mod etcd;
mod static_list;

pub use static_list::{Peer, watch_static};

use std::collections::BTreeMap;
use std::net::IpAddr;

use serde::{Deserialize, Serialize};

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
    /// Up to date.
    Current,
    /// The store does not answer: the last list stays.
    Lost,
}

/// All balancers that are alive.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct View {
    /// By name.
    pub members: BTreeMap<String, IpAddr>,
    /// The state of the list.
    pub source: Source,
}

impl View {
    /// Of one balancer that knows no other.
    pub fn alone(own: &Member) -> View {
        let members = BTreeMap::from([(own.name.clone(), own.address)]);
        View { members, source: Source::Starting }
    }
}
