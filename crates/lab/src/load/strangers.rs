//! Hosts that nobody asked: forged packets, SYNs from everywhere, connections that say nothing.

use std::io;
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use socket2::{Domain, Protocol, Socket, Type};

use crate::{Lab, LabError};

/// Time between two rounds: a SYN from a random address, and a forged packet of a live connection.
const INTERVAL: Duration = Duration::from_millis(50);
/// Idle connections to each address.
const IDLE: usize = 30;
const CONNECT_LIMIT: Duration = Duration::from_millis(200);
const FIN: u8 = 0x01;
const SYN: u8 = 0x02;
const RST: u8 = 0x04;

/// Strangers at work. Dropping it ends them.
#[derive(Debug)]
pub struct Strangers {
    victims: Arc<Mutex<Vec<SocketAddrV4>>>,
    stop: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

impl Strangers {
    /// Begins on the client's side: packets to `service`, and idle connections to each address of
    /// `idle`.
    ///
    /// # Errors
    /// If the client's namespace cannot be entered, or there is no raw socket.
    pub fn start(
        lab: &Lab,
        service: SocketAddrV4,
        idle: &[SocketAddr],
    ) -> Result<Strangers, LabError> {
        let (victims, stop) = (Arc::<Mutex<Vec<_>>>::default(), Arc::<AtomicBool>::default());
        let begin = || -> io::Result<Vec<JoinHandle<()>>> {
            // With a header of its own (raw(7)).
            let raw = Protocol::from(libc::IPPROTO_RAW);
            let socket = Socket::new(Domain::IPV4, Type::from(libc::SOCK_RAW), Some(raw))?;
            let (victims, ends) = (victims.clone(), stop.clone());
            let forges = thread::spawn(move || forge(&socket, service, &victims, &ends));
            let idlers = idle.iter().map(|&to| {
                let ends = stop.clone();
                thread::spawn(move || stay_idle(to, &ends))
            });
            Ok(idlers.chain([forges]).collect())
        };
        let threads = lab.client().enter(begin)?.map_err(LabError::system("strangers"))?;
        Ok(Strangers { victims, stop, threads })
    }

    /// The clients in whose name packets are forged from now on.
    pub fn set_victims(&self, clients: Vec<SocketAddrV4>) {
        *self.victims.lock().unwrap_or_else(PoisonError::into_inner) = clients;
    }
}

impl Drop for Strangers {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}

/// A packet that the kernel does not take is one less.
fn forge(
    socket: &Socket,
    service: SocketAddrV4,
    victims: &Mutex<Vec<SocketAddrV4>>,
    stop: &AtomicBool,
) {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(35);
    while !stop.load(Ordering::Relaxed) {
        let number = random.next_u64();
        let [a, b, c, flag, sequence @ ..] = number.to_be_bytes();
        let everywhere =
            SocketAddrV4::new(Ipv4Addr::new(198, 18 | a & 1, b, c), 1024 | number as u16);
        let packet = segment(everywhere, service, SYN, sequence);
        let _ = socket.send_to(&packet, &SocketAddrV4::new(*service.ip(), 0).into());
        let known = victims.lock().unwrap_or_else(PoisonError::into_inner);
        let victim = known.get((number >> 32) as usize % known.len().max(1)).copied();
        drop(known);
        if let Some(victim) = victim {
            // Without ACK: a backend has no use for any of them (RFC 9293, section 3.10.7.4).
            let flag = [FIN, SYN, RST][usize::from(flag) % 3];
            let packet = segment(victim, service, flag, sequence);
            let _ = socket.send_to(&packet, &SocketAddrV4::new(*service.ip(), 0).into());
        }
        thread::sleep(INTERVAL);
    }
}

/// Keeps connections open that say nothing, and opens others when they are closed.
fn stay_idle(to: SocketAddr, stop: &AtomicBool) {
    let mut open: Vec<TcpStream> = Vec::new();
    while !stop.load(Ordering::Relaxed) {
        open.retain(|stream| {
            let quiet = stream.set_nonblocking(true).is_ok();
            quiet && matches!(stream.peek(&mut [0]), Err(error) if error.kind() == io::ErrorKind::WouldBlock)
        });
        if open.len() < IDLE
            && let Ok(stream) = TcpStream::connect_timeout(&to, CONNECT_LIMIT)
        {
            open.push(stream);
        } else {
            thread::sleep(INTERVAL);
        }
    }
}

/// A TCP segment without data, with its IPv4 header, whose length and checksum the kernel fills in.
fn segment(from: SocketAddrV4, to: SocketAddrV4, flags: u8, sequence: [u8; 4]) -> Vec<u8> {
    let ip: [u8; 12] = [0x45, 0, 0, 40, 0, 0, 0, 0, 64, 6, 0, 0];
    let addresses = [from.ip().octets(), to.ip().octets()].concat();
    let ports = [from.port(), to.port()].map(u16::to_be_bytes).concat();
    let mut tcp = [&ports[..], &sequence, &[0; 4], &[0x50, flags, 4, 0, 0, 0, 0, 0]].concat();
    let pseudo = [&addresses[..], &[0, 6, 0, 20], &tcp].concat();
    let sum: u32 = pseudo.chunks(2).map(|word| u32::from(word[0]) << 8 | u32::from(word[1])).sum();
    let folded = (sum & 0xffff) + (sum >> 16);
    let folded = (folded & 0xffff) + (folded >> 16);
    tcp[16..18].copy_from_slice(&(!(folded as u16)).to_be_bytes());
    [&ip[..], &addresses, &tcp].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 1071: with the checksum in it, the sum is all ones.
    #[test]
    fn a_segment_has_the_checksum_of_tcp() {
        let from = SocketAddrV4::new([198, 18, 3, 4].into(), 4321);
        let packet = segment(from, SocketAddrV4::new([192, 0, 2, 1].into(), 80), SYN, [9, 8, 7, 6]);
        let summed = [&packet[12..], &[0, 6, 0, 20]].concat();
        let mut sum: u32 =
            summed.chunks(2).map(|word| u32::from(word[0]) << 8 | u32::from(word[1])).sum();
        while sum > 0xffff {
            sum = (sum & 0xffff) + (sum >> 16);
        }
        assert_eq!((packet.len(), sum), (40, 0xffff));
    }
}
