//! State of a connection for those that record a run: the state of each path's sender,
//! and what its ends have agreed on.

use heddle_units::Time;

use crate::{SenderCounters, TcpConfig};

/// State of a path's sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SenderState {
    /// The congestion window in bytes.
    pub cwnd: u64,
    /// The slow start threshold in bytes; `None` until something sets it.
    pub ssthresh: Option<u64>,
    /// The smoothed round-trip time; `None` before the first sample.
    pub srtt: Option<Time>,
    /// Bytes sent and not acknowledged, lost ones included (SND.NXT - SND.UNA).
    pub in_flight: u64,
    /// Bytes acknowledged.
    pub acked: u64,
    /// Counters so far.
    pub counters: SenderCounters,
}

/// Terms that the ends of a connection agreed on in its handshake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Agreed {
    /// Parameters of TCP; of MPTCP those of the connection.
    pub tcp: TcpConfig,
    /// MPTCP: the initial data sequence numbers of client and server (RFC 8684 section 3.1).
    pub data_seqs: Option<(u64, u64)>,
}
