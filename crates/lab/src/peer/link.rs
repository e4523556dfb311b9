//! A socket that neither waits for ever nor gives up at the first silence.

use std::io::{self, Read, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use socket2::Socket;

/// How often a waiting socket looks up.
const LOOK_UP: Duration = Duration::from_millis(100);

/// A connected socket that reads and writes until `patience` has passed without a byte, or until it is told to stop.
#[derive(Debug)]
pub(crate) struct Link {
    pub(crate) socket: Socket,
    patience: Duration,
    stop: Arc<AtomicBool>,
}

impl Link {
    pub(crate) fn new(
        socket: Socket,
        patience: Duration,
        stop: Arc<AtomicBool>,
    ) -> io::Result<Link> {
        socket.set_read_timeout(Some(LOOK_UP))?;
        socket.set_write_timeout(Some(LOOK_UP))?;
        socket.set_tcp_nodelay(true)?;
        Ok(Link { socket, patience, stop })
    }

    pub(crate) fn set_patience(&mut self, patience: Duration) {
        self.patience = patience;
    }

    fn wait_for(&self, mut action: impl FnMut(&Socket) -> io::Result<usize>) -> io::Result<usize> {
        let begun = Instant::now();
        loop {
            match action(&self.socket) {
                Err(error) if is_silence(&error) => {}
                result => return result,
            }
            if self.stop.load(Ordering::Relaxed) {
                return Err(io::Error::other("stopped"));
            }
            if begun.elapsed() >= self.patience {
                return Err(io::ErrorKind::TimedOut.into());
            }
        }
    }
}

fn is_silence(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut)
        && error.raw_os_error() != Some(libc::ETIMEDOUT)
}

impl Read for Link {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.wait_for(|mut socket| socket.read(buffer))
    }
}

impl Write for Link {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        self.wait_for(|mut socket| socket.write(buffer))
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
