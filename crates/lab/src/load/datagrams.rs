//! Datagrams that come in fragments, and are answered.

use std::io;
use std::net::{SocketAddrV4, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use serde::Serialize;

use crate::{Lab, LabError};

/// Bytes: three fragments at the client's MTU of 1500.
const BYTES: usize = 4000;
/// Bytes of an answer, which are those that the datagram begins with.
const ANSWER: usize = 8;
const INTERVAL: Duration = Duration::from_millis(50);
const PATIENCE: Duration = Duration::from_millis(200);

/// Datagrams from the client to a service, one after the other, each from a port of its own, and
/// backends that answer. Dropping it ends them.
#[derive(Debug)]
pub struct Datagrams {
    counts: Arc<Counts>,
    threads: Vec<JoinHandle<()>>,
}

#[derive(Debug, Default)]
struct Counts {
    stop: AtomicBool,
    sent: AtomicU64,
    answered: AtomicU64,
}

/// Datagrams so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct DatagramsReport {
    /// Datagrams sent.
    pub sent: u64,
    /// Those of them that were answered: all their fragments came to one backend.
    pub answered: u64,
}

impl Datagrams {
    /// Begins, with servers on all backends.
    ///
    /// # Errors
    /// If a namespace cannot be entered, or a port is taken.
    pub fn start(lab: &Lab, service: SocketAddrV4) -> Result<Datagrams, LabError> {
        let failed = || LabError::system(format!("datagrams to {service}"));
        let counts = Arc::<Counts>::default();
        let mut datagrams = Datagrams { counts: counts.clone(), threads: Vec::new() };
        for backend in lab.backends() {
            let socket = backend.enter(|| bound(service))?.map_err(failed())?;
            let counts = counts.clone();
            datagrams.threads.push(thread::spawn(move || answer(&socket, &counts.stop)));
        }
        // Threads begin in the namespace of the one that starts them.
        let client = lab.client().enter(|| thread::spawn(move || counts.send(service)))?;
        datagrams.threads.push(client);
        Ok(datagrams)
    }

    /// Those so far.
    #[must_use]
    pub fn report(&self) -> DatagramsReport {
        DatagramsReport {
            sent: self.counts.sent.load(Ordering::Relaxed),
            answered: self.counts.answered.load(Ordering::Relaxed),
        }
    }
}

impl Drop for Datagrams {
    fn drop(&mut self) {
        self.counts.stop.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}

fn bound(to: SocketAddrV4) -> io::Result<UdpSocket> {
    let socket = UdpSocket::bind(to)?;
    socket.set_read_timeout(Some(PATIENCE))?;
    Ok(socket)
}

/// Answers whole datagrams. An error is the end of a wait, or an answer that went nowhere.
fn answer(socket: &UdpSocket, stop: &AtomicBool) {
    let mut room = [0; BYTES + 1];
    while !stop.load(Ordering::Relaxed) {
        if let Ok((BYTES, client)) = socket.recv_from(&mut room) {
            let _ = socket.send_to(&room[..ANSWER], client);
        }
    }
}

impl Counts {
    fn send(&self, service: SocketAddrV4) {
        let mut number = 0_u64;
        while !self.stop.load(Ordering::Relaxed) {
            number += 1;
            self.sent.fetch_add(1, Ordering::Relaxed);
            if exchange(service, number).is_ok() {
                self.answered.fetch_add(1, Ordering::Relaxed);
            }
            thread::sleep(INTERVAL);
        }
    }
}

fn exchange(service: SocketAddrV4, number: u64) -> io::Result<()> {
    let socket = bound(SocketAddrV4::new([0, 0, 0, 0].into(), 0))?;
    socket.connect(service)?;
    let mut datagram = vec![0; BYTES];
    datagram[..ANSWER].copy_from_slice(&number.to_be_bytes());
    socket.send(&datagram)?;
    let mut answer = [0; ANSWER];
    let length = socket.recv(&mut answer)?;
    if answer[..length] == number.to_be_bytes() {
        Ok(())
    } else {
        Err(io::ErrorKind::InvalidData.into())
    }
}
