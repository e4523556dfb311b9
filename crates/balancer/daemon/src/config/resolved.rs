//! The configuration with everything filled in and checked.

mod access;
mod ports;
mod service;
mod times;

pub use access::{Access, Rule};
pub use heddle_balancer_api::Forwarding;
pub use ports::Ports;
pub use service::{Backend, ClosedPorts, Echo, MAX_WEIGHT, Service, Unparsable};
pub use times::{Limits, Timeouts};

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

use heddle_balancer_maps::Sizes;

use crate::ids::WireId;
use crate::mac::Mac;
use crate::members::etcd::Credentials;

/// The daemon's configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// This machine.
    pub balancer: Balancer,
    /// Map sizes.
    pub sizes: Sizes,
    /// Timeouts of table entries.
    pub timeouts: Timeouts,
    /// The time for which UDP flows stay with a backend that drains.
    pub drain_udp: Duration,
    /// Limits on work that unauthenticated packets cause.
    pub limits: Limits,
    /// Source of the list of balancers.
    pub membership: Membership,
    /// Messages between balancers; `None` if there are no others.
    pub steering: Option<Steering>,
    /// Services, in the file's order.
    pub services: Vec<Service>,
    /// UDP port that backends take GUE at.
    pub gue_port: u16,
}

impl Config {
    /// The services with backends of their own.
    pub fn owners(&self) -> impl Iterator<Item = &Service> {
        self.services.iter().filter(|service| service.owns_backends())
    }

    /// The balancers that the file lists, by their ids; those of etcd are not among them.
    pub fn members(&self) -> &[Member] {
        match &self.membership {
            Membership::Static(members) => members,
            Membership::Etcd(_) => &[],
        }
    }

    /// A balancer that is seen alive, with the id that the file gives it, or else that of its
    /// address.
    pub fn member(&self, name: &str, address: IpAddr) -> Member {
        let listed = self.members().iter().find(|member| member.name == name);
        let id = listed.map_or_else(|| WireId::of_balancer(address), |member| member.id);
        Member { id, name: name.to_owned(), address }
    }
}

/// This machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Balancer {
    /// Its name.
    pub name: String,
    /// Network interfaces that the XDP program is attached to; not empty.
    pub interfaces: Vec<String>,
    /// Its IPv4 address.
    pub ipv4: Option<Ipv4Addr>,
    /// Its IPv6 address.
    pub ipv6: Option<Ipv6Addr>,
    /// Its entry in the ring; `None` without any address: it is alone and sends nothing of its own.
    pub member: Option<Member>,
    /// Further Ethernet addresses whose frames are for this machine.
    pub accept_macs: Vec<Mac>,
    /// True if packets that no host sends are not dropped.
    pub forwards_invalid: bool,
    /// The admin socket.
    pub admin: PathBuf,
    /// Address at which metrics are served.
    pub metrics: Option<SocketAddr>,
    /// Folder in which maps and links are pinned.
    pub pin: PathBuf,
    /// Folder for what survives a restart of the daemon.
    pub state_dir: PathBuf,
}

/// Source of the list of balancers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Membership {
    /// All of them, by their ids; this one included if it has an address.
    Static(Vec<Member>),
    /// They find each other.
    Etcd(Etcd),
}

/// A balancer of the cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    /// The number that all balancers use for it.
    pub id: WireId,
    /// Its name.
    pub name: String,
    /// The address at which the others reach it.
    pub address: IpAddr,
}

/// An etcd cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Etcd {
    /// URLs; not empty.
    pub endpoints: Vec<String>,
    /// Prefix of its keys, without a slash at its end.
    pub prefix: String,
    /// After which a silent balancer is taken for dead.
    pub lease: Duration,
    /// TLS and authentication.
    pub credentials: Credentials,
}

/// Messages between balancers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Steering {
    /// UDP port.
    pub port: u16,
    /// The file of the secret that signs: [`Secret::read`](super::Secret::read).
    pub secret_file: PathBuf,
    /// The file of another secret that is accepted.
    pub accepted_secret_file: Option<PathBuf>,
    /// The file of the secret that the hash of flows is made of.
    pub seed_file: PathBuf,
}
