//! The MPTCP connections of a capture, as tshark's dissector groups them: an implementation that is
//! not Heddle's or the kernel's.

use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};
use std::path::Path;

use crate::{LabError, tools};

/// An MPTCP connection in a capture.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CapturedConnection {
    /// The token that joins to it must name (of the server's key).
    pub token: Option<u32>,
    /// Its subflows, in the order in which they appeared.
    pub subflows: Vec<CapturedSubflow>,
}

/// A subflow in a capture.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CapturedSubflow {
    /// The sender of its first packet: the client.
    pub client: SocketAddr,
    /// The token in its MP_JOIN; none in the first subflow.
    pub join_token: Option<u32>,
    /// Bytes of TCP's payload, in both directions.
    pub bytes: u64,
}

const FIELDS: [&str; 8] = [
    "mptcp.stream",
    "tcp.stream",
    "ip.src",
    "ipv6.src",
    "tcp.srcport",
    "tcp.len",
    "tcp.options.mptcp.recvtok",
    "mptcp.expected_token",
];

/// The MPTCP connections that tshark finds in a capture, by its `mptcp.stream`.
///
/// # Errors
/// If tshark is missing, fails, or prints something else than lines of these fields.
pub fn captured_connections(capture: &Path) -> Result<Vec<CapturedConnection>, LabError> {
    tools::require(&[("tshark", "tshark")])?;
    let file = capture.display().to_string();
    let mut arguments = vec!["-n", "-2", "-r", &file, "-Y", "mptcp", "-T", "fields"];
    arguments.extend(FIELDS.iter().flat_map(|field| ["-e", field]));
    let text = tools::run("tshark", &arguments, "")?;
    let mut streams = Streams::default();
    for line in text.lines() {
        let unreadable = || LabError::unreadable("tshark", format!("a line of {FIELDS:?}"), line);
        streams.add(&Packet::read(line).ok_or_else(unreadable)?);
    }
    Ok(streams.finish())
}

struct Packet {
    connection: u32,
    stream: u32,
    source: SocketAddr,
    bytes: u64,
    join_token: Option<u32>,
    token: Option<u32>,
}

impl Packet {
    fn read(line: &str) -> Option<Packet> {
        let fields: Vec<&str> = line.split('\t').collect();
        let [connection, stream, v4, v6, port, bytes, join_token, token] = fields[..] else {
            return None;
        };
        let address: IpAddr = if v4.is_empty() { v6 } else { v4 }.parse().ok()?;
        Some(Packet {
            connection: connection.parse().ok()?,
            stream: stream.parse().ok()?,
            source: SocketAddr::new(address, port.parse().ok()?),
            bytes: bytes.parse().ok()?,
            join_token: join_token.parse().ok(),
            token: token.parse().ok(),
        })
    }
}

/// Connections by `mptcp.stream`, and in each its subflows by `tcp.stream`.
#[derive(Default)]
struct Streams(BTreeMap<u32, (Option<u32>, BTreeMap<u32, CapturedSubflow>)>);

impl Streams {
    fn add(&mut self, packet: &Packet) {
        let (token, subflows) = self.0.entry(packet.connection).or_default();
        *token = token.or(packet.token);
        let subflow = subflows.entry(packet.stream).or_insert(CapturedSubflow {
            client: packet.source,
            join_token: packet.join_token,
            bytes: 0,
        });
        subflow.bytes += packet.bytes;
    }

    fn finish(self) -> Vec<CapturedConnection> {
        let connection = |(token, subflows): (_, BTreeMap<_, _>)| CapturedConnection {
            token,
            subflows: subflows.into_values().collect(),
        };
        self.0.into_values().map(connection).collect()
    }
}
