//! Network namespaces with MPTCP hosts in them, for tests and demonstrations.
//!
//! ```text
//!            10.1.0.2 eth0 --- c0 +--------+
//!   client   10.1.1.2 eth1 --- c1 | router | lan (bridge, 10.0.0.1)
//!            ...                  +--------+
//!                                     |  p0 --- eth0 balancer-0   10.0.0.11
//!                                     |  ...
//!                                     |  q0 --- eth0 backend-0    10.0.0.101, the VIP on lo
//!                                     |  ...
//! ```
//!
//! The same in IPv6: `fd01:0:0:<i>::2`, `fd00::1`, `fd00::11`, `fd00::101`. The router sends what
//! is for the VIP to the balancers by the hash of ports and addresses (ECMP, as a data centre's
//! routers do). A balancer has one arm: what it sends back by `XDP_TX` crosses the bridge, so that
//! rewriting the destination's MAC address is enough, and IPIP and GUE work alike. Backends answer
//! past the balancers (direct server return).
//!
//! A [`Lab`] needs root, and goes with its value: namespaces, links, and the programs in them. What
//! a killed process left behind is removed when the next lab is made ([`remove_orphans`]). What the
//! lab itself runs has a time limit; [`Node::command`] lives until the lab goes.
//!
//! [`Connection`] and [`Server`] are MPTCP (or TCP) peers over real sockets. They belong to the
//! host on whose thread they were made ([`Node::enter`]), so a test needs no program of its own
//! beside it. `heddle-lab-peer` is the same from a shell.
//!
//! Found by experiment, on Linux 6.18:
//! * A frame of `XDP_TX` reaches the far end of a veth pair only if that has an XDP program, too.
//!   GRO there, which makes it poll (NAPI) as well, is not enough: the frame waits in a queue until
//!   another comes by. So each port of the bridge has one.
//! * Checksums must be in the frames (`tx off`), as XDP programs see them before any offload would
//!   fill them in.
//! * ARP would announce addresses of `lo` at every interface: `arp_ignore` and `arp_announce` on
//!   backends.
//! * `fib_multipath_hash_policy=1` takes the hash that a socket left in its packets, which survives
//!   a veth and changes at a timeout; policy 3 (`fib_multipath_hash_fields=0x37`) looks at the
//!   packet, as a router between machines does. With it an ICMP error goes by its own addresses:
//!   not always to the balancer of the flow that it is about.
//! * The bridge has a static forwarding table and floods nothing: a frame that reached all
//!   balancers would be sent on by each.
//! * Neighbours of the router are static: a first neighbour solicitation of IPv6 can come before
//!   the host listens, and costs a second.
//! * A client that lost a few SYNs stops using MPTCP for an hour (`net.mptcp.blackhole_timeout`):
//!   off here.

mod builder;
mod busy;
mod capture;
mod counters;
mod daemons;
mod error;
mod etcd;
mod faults;
mod joins;
mod lab;
mod layout;
mod load;
mod make;
pub mod names;
mod node;
mod peer;
mod routes;
pub mod tools;
mod tshark;
mod wait;

pub use builder::Builder;
pub use busy::BusyProcessors;
pub use capture::Capture;
pub use counters::mptcp_counters;
pub use daemons::{Daemons, Setup, join_address};
pub use error::LabError;
pub use etcd::Etcd;
pub use faults::{Cluster, Fault};
pub use joins::{Joins, count_joins, joins_refused};
pub use lab::Lab;
pub use load::{
    Arrivals, ArrivalsReport, Broken, Datagrams, DatagramsReport, Pattern, Strangers, StreamReport,
    Streams, SubflowReport,
};
pub use names::remove_orphans;
pub use node::{Mac, Node, enter};
pub use peer::{Connection, Damage, Server, Status, StatusReader, Subflow, Transport, status};
pub use routes::NextHop;
pub use tshark::{CapturedConnection, CapturedSubflow, captured_connections};
pub use wait::{Deadline, equal, eventually};
