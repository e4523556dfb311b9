//! Packets of a host, written down while something happens.

use std::io::{self, BufRead, BufReader};
use std::path::Path;
use std::process::{Child, ChildStderr, Stdio};
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};

use crate::{LabError, Node, tools};

/// Bytes of each packet that are kept: all headers with all options.
const SNAP_LENGTH: &str = "256";

/// KiB between the kernel and tcpdump: some 60 000 packets of that length.
const BUFFER: &str = "32768";

/// Time for tcpdump to write what the kernel has for it: at an interrupt it would leave that.
const SETTLE: Duration = Duration::from_millis(300);

/// A running `tcpdump`; dropping it ends it at once, [`Capture::finish`] lets it write all.
#[derive(Debug)]
pub struct Capture {
    child: Child,
    // Kept open: tcpdump's last words go there.
    said: Option<BufReader<ChildStderr>>,
}

impl Capture {
    /// Writes the TCP headers on all of a host's devices to `file`, from when this returns. (The router has each packet
    /// once for each device that it crosses.)
    ///
    /// # Errors
    /// If `tcpdump` is missing or does not begin.
    pub fn start(node: &Node, file: &Path) -> Result<Capture, LabError> {
        tools::require(&[("tcpdump", "tcpdump")])?;
        let mut command = node.command("tcpdump");
        command
            .args([
                "-i",
                "any",
                "--immediate-mode",
                "-s",
                SNAP_LENGTH,
                "-U",
                "-B",
                BUFFER,
                "-Z",
                "root",
                "-w",
            ])
            .arg(file)
            .arg("tcp");
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut child = command.spawn().map_err(LabError::system("tcpdump"))?;
        let said = child.stderr.take().map(BufReader::new);
        let mut capture = Capture { child, said };
        capture.wait_until_listening().map_err(LabError::system("tcpdump"))?;
        Ok(capture)
    }

    fn wait_until_listening(&mut self) -> io::Result<()> {
        let Some(said) = &mut self.said else { return Ok(()) };
        let mut text = String::new();
        while said.read_line(&mut text)? > 0 {
            if text.contains("listening on") {
                return Ok(());
            }
        }
        Err(io::Error::other(text))
    }

    /// Ends the capture: the file has what went by until this was called.
    pub fn finish(self) {
        thread::sleep(SETTLE);
        drop(self);
    }
}

impl Drop for Capture {
    fn drop(&mut self) {
        // An interrupt makes it write what it has; it may have ended by itself.
        let _ = kill_process(Pid::from_child(&self.child), Signal::INT);
        let _ = self.child.wait();
    }
}
