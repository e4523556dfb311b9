//! The daemon's admin socket: one JSON object a line, each request with one answer, in order.
//!
//! The socket is the owner's alone (mode 0600), and the kernel is asked who is at the other end: only root and the daemon's own user are
//! answered. A lock beside it says that its daemon lives, so that what a dead one left behind is removed and a living one's is not.
//! [`Client`] blocks and needs no runtime.

mod client;
mod protocol;
mod serve;
mod token;

pub use client::{AskError, Client};
pub use heddle_daemon::socket::{BindError, Listener, bind};
pub use protocol::{
    Answer, BackendStatus, Connection, Connections, Envelope, Explained, Filter, Heartbeats,
    MemberStatus, MptcpOption, Packet, Problem, ProblemKind, Reply, Request, Status, Switch,
    VERSION,
};
pub use serve::{Handler, serve};
