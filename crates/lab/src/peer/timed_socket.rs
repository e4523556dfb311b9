//! A socket with time limits on reads and writes.

use std::io::{self, Read, Write};
use std::mem::MaybeUninit;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use socket2::Socket;

/// Time between two looks at the stop flag and the time limit.
const INTERVAL: Duration = Duration::from_millis(100);

/// A connected socket. A read or write fails after `timeout` without a byte, or when `stop` is set.
#[derive(Debug)]
pub(crate) struct TimedSocket {
    pub(crate) socket: Socket,
    timeout: Duration,
    stop: Arc<AtomicBool>,
}

impl TimedSocket {
    pub(crate) fn new(
        socket: Socket,
        timeout: Duration,
        stop: Arc<AtomicBool>,
    ) -> io::Result<TimedSocket> {
        socket.set_read_timeout(Some(INTERVAL))?;
        socket.set_write_timeout(Some(INTERVAL))?;
        socket.set_tcp_nodelay(true)?;
        Ok(TimedSocket { socket, timeout, stop })
    }

    pub(crate) fn set_timeout(&mut self, timeout: Duration) {
        self.timeout = timeout;
    }

    pub(crate) fn set_stop(&mut self, stop: Arc<AtomicBool>) {
        self.stop = stop;
    }

    /// Returns once a byte can be read; it is not read.
    pub(crate) fn wait_until_readable(&self) -> io::Result<()> {
        let mut first = [MaybeUninit::uninit()];
        self.wait_for(|socket| socket.peek(&mut first)).map(drop)
    }

    fn wait_for(&self, mut action: impl FnMut(&Socket) -> io::Result<usize>) -> io::Result<usize> {
        let begun = Instant::now();
        loop {
            match action(&self.socket) {
                Err(error) if is_time_limit(&error) => {}
                result => return result,
            }
            if self.stop.load(Ordering::Relaxed) {
                return Err(io::Error::other("stopped"));
            }
            if begun.elapsed() >= self.timeout {
                return Err(io::ErrorKind::TimedOut.into());
            }
        }
    }
}

fn is_time_limit(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut)
        && error.raw_os_error() != Some(libc::ETIMEDOUT)
}

impl Read for TimedSocket {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.wait_for(|mut socket| socket.read(buffer))
    }
}

impl Write for TimedSocket {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        self.wait_for(|mut socket| socket.write(buffer))
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
