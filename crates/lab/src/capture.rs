//! Packet captures of a host, by tcpdump.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use socket2::{Domain, Socket, Type};

use crate::{LabError, Node, eventually, tools};

/// Bytes of each packet that are kept: all headers with all options.
const SNAP_LENGTH: &str = "256";

/// KiB between the kernel and tcpdump: some 60 000 packets of that length.
const BUFFER: &str = "32768";

/// Longest time that tcpdump may take to write the packets that the kernel has for it.
const FLUSH_LIMIT: Duration = Duration::from_secs(30);

/// Port of the marker segment (discard, RFC 863).
const MARKER_PORT: u16 = 9;

/// A running `tcpdump`. Dropping it ends it at once; [`Capture::finish`] lets it write all packets
/// first.
#[derive(Debug)]
pub struct Capture {
    node: Node,
    file: PathBuf,
    child: Child,
    // Kept open: tcpdump writes its statistics there at its end.
    errors: Option<BufReader<ChildStderr>>,
}

impl Capture {
    /// Writes the TCP headers on all of a host's devices to `file`, from when this returns. (The
    /// router has each packet once for each device that it crosses.)
    ///
    /// # Errors
    /// If `tcpdump` is missing or does not begin.
    pub fn start(node: &Node, file: &Path) -> Result<Capture, LabError> {
        tools::require(&[("tcpdump", "tcpdump")])?;
        let mut command = node.command("tcpdump");
        command.args(["-i", "any", "--immediate-mode", "-s", SNAP_LENGTH, "-U", "-B", BUFFER]);
        command.args(["-Z", "root", "-w"]).arg(file).arg("tcp");
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut child = command.spawn().map_err(LabError::system("tcpdump"))?;
        let errors = child.stderr.take().map(BufReader::new);
        let mut capture = Capture { node: node.clone(), file: file.into(), child, errors };
        capture.wait_until_listening().map_err(LabError::system("tcpdump"))?;
        Ok(capture)
    }

    fn wait_until_listening(&mut self) -> io::Result<()> {
        let Some(errors) = &mut self.errors else { return Ok(()) };
        let mut text = String::new();
        while errors.read_line(&mut text)? > 0 {
            if text.contains("listening on") {
                return Ok(());
            }
        }
        Err(io::Error::other(text))
    }

    /// Ends the capture: the file has all packets up to this call, and behind them a SYN on the
    /// loopback device. tcpdump writes packets in their order, so the SYN in the file shows that
    /// the earlier packets are.
    ///
    /// # Errors
    /// If the SYN cannot be sent, or is not in the file within 30 s.
    pub fn finish(self) -> Result<(), LabError> {
        let sent = self.node.enter(send_marker)?;
        let marker = sent.map_err(LabError::system("the end of a capture"))?;
        let mut file = File::open(&self.file).map_err(LabError::system("a capture"))?;
        let mut written = Vec::new();
        eventually(FLUSH_LIMIT, || {
            let from = written.len().saturating_sub(marker.len());
            file.read_to_end(&mut written).map_err(|error| error.to_string())?;
            let found = written[from..].windows(marker.len()).any(|bytes| bytes == marker);
            found.then_some(()).ok_or_else(|| {
                format!(
                    "tcpdump on {} has not written all packets: the marker is not in {}",
                    self.node.name(),
                    self.file.display()
                )
            })
        })
    }
}

/// Sends a SYN to a loopback port, and returns the bytes that tell it from other packets: addresses
/// and ports.
fn send_marker() -> io::Result<[u8; 12]> {
    let local = |port| SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    let socket = Socket::new(Domain::IPV4, Type::STREAM, None)?;
    socket.bind(&local(0).into())?;
    let port = socket.local_addr()?.as_socket().map_or(0, |address| address.port());
    // Nobody listens there; the SYN is sent nevertheless.
    let _ = socket.connect(&local(MARKER_PORT).into());
    let mut marker = [127, 0, 0, 1, 127, 0, 0, 1, 0, 0, 0, 0];
    marker[8..10].copy_from_slice(&port.to_be_bytes());
    marker[10..].copy_from_slice(&MARKER_PORT.to_be_bytes());
    Ok(marker)
}

impl Drop for Capture {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = kill_process(Pid::from_child(&self.child), Signal::INT);
        let _ = self.child.wait();
    }
}
