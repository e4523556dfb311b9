//! Fragments that wait for their packet's first one.
//!
//! The program gives them to a thread here, which keeps [`MOST`] of them for some [`PATIENCE`] and asks
//! the other balancers. Their programs answer, and this balancer's writes the answer into its table of
//! fragments, as it does with a first fragment that comes late. Then the program processes the
//! fragment once more; and also if nothing was heard, to drop and count it. The thread needs no
//! privilege.

use std::io;
use std::net::SocketAddr;
use std::os::fd::AsFd;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use heddle_balancer_maps::maps::{Fragments, Waiting};
use heddle_balancer_maps::{Balancer, Error, Fragment, LiveProgram};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use tokio::sync::watch;

use crate::heartbeat::Probed;
use crate::heartbeat::sockets::Sockets;

/// Fragments that wait at a time, at most.
pub const MOST: usize = 256;
/// The times between a fragment's questions, and behind the last one. Its first fragment may come
/// to another balancer after a question. Hosts wait for tens of seconds, but what comes that late has
/// been sent again.
pub const PATIENCE: [Duration; 3] =
    [Duration::from_millis(2), Duration::from_millis(10), Duration::from_millis(40)];
/// The time between two looks at the table while fragments wait.
const LOOK: Duration = Duration::from_millis(1);
/// The same while none does: then a new one ends the wait.
const IDLE: Duration = Duration::from_millis(500);

/// The balancers to be asked, and the seed of this one's table.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Known {
    /// The other balancers.
    pub probed: Probed,
    /// The seed of the tables' hashes.
    pub seed: [u64; 2],
}

/// The parts of a balancer that the thread works with, opened while there are privileges.
pub struct Parts {
    waiting: Waiting,
    table: Fragments,
    program: LiveProgram,
}

impl Parts {
    /// Those of this balancer.
    ///
    /// # Errors
    /// [`Error`] if the kernel does not open its maps once more.
    pub fn of(balancer: &Balancer) -> Result<Parts, Error> {
        Ok(Parts {
            waiting: balancer.waiting()?,
            table: balancer.fragments()?,
            program: LiveProgram::of(&balancer.program)?,
        })
    }
}

/// The running thread. Dropped, it ends.
#[derive(Debug)]
pub struct Keeper {
    known: watch::Sender<Known>,
    thread: JoinHandle<()>,
}

/// Starts the thread, which asks nobody yet.
///
/// # Errors
/// If the system has no thread.
pub fn start(parts: Parts) -> io::Result<Keeper> {
    let (known, wanted) = watch::channel(Known::default());
    let task = Task { parts, wanted, kept: Vec::new(), sockets: Sockets::default() };
    let thread = thread::Builder::new().name("fragments".into()).spawn(move || task.run())?;
    Ok(Keeper { known, thread })
}

impl Keeper {
    /// Asks these balancers from now on, and no others.
    pub fn set(&self, known: Known) {
        self.known.send_if_modified(|old| {
            let changed = *old != known;
            *old = known;
            changed
        });
    }

    /// False if the thread has ended.
    pub fn is_running(&self) -> bool {
        !self.thread.is_finished()
    }
}

struct Task {
    parts: Parts,
    wanted: watch::Receiver<Known>,
    kept: Vec<Kept>,
    sockets: Sockets,
}

/// A fragment that waits.
struct Kept {
    frame: Vec<u8>,
    fragment: Fragment,
    /// Questions asked, and the time of the next.
    asked: usize,
    due: Instant,
}

impl Task {
    /// Until there is nobody any more who says whom to ask.
    fn run(mut self) {
        while self.wanted.has_changed().is_ok() {
            self.wait();
            let known = self.wanted.borrow_and_update().clone();
            self.take();
            self.look(&known);
        }
    }

    /// Waits for the next fragment, or for the next look at those that are here.
    fn wait(&self) {
        let most = if self.kept.is_empty() { IDLE } else { LOOK };
        let most = Timespec { tv_sec: 0, tv_nsec: most.as_nanos() as _ };
        if let Err(error) = poll(
            &mut [PollFd::from_borrowed_fd(self.parts.waiting.as_fd(), PollFlags::IN)],
            Some(&most),
        ) {
            tracing::debug!(%error, "a signal has ended a wait for fragments");
        }
    }

    /// Takes in what the program gave away; what there is no room for goes back at once.
    fn take(&mut self) {
        while let Some(frame) = self.parts.waiting.take() {
            match Fragment::of(&frame).filter(|_| self.kept.len() < MOST) {
                Some(fragment) => {
                    self.kept.push(Kept { frame, fragment, asked: 0, due: Instant::now() });
                }
                None => self.process(&frame),
            }
        }
    }

    /// Sends on what is known by now, asks about the rest, and gives up what has waited enough.
    fn look(&mut self, known: &Known) {
        for mut kept in std::mem::take(&mut self.kept) {
            let is_known = self.parts.table.has(known.seed, &kept.fragment.key);
            let is_due = kept.due <= Instant::now();
            match PATIENCE.get(kept.asked).filter(|_| !is_known) {
                Some(patience) => {
                    if is_due {
                        self.ask(&kept.fragment, &known.probed);
                        kept.asked += 1;
                        kept.due = Instant::now() + *patience;
                    }
                    self.kept.push(kept);
                }
                None if is_known || is_due => self.process(&kept.frame),
                None => self.kept.push(kept),
            }
        }
    }

    fn ask(&mut self, fragment: &Fragment, probed: &Probed) {
        for &address in probed.peers.keys() {
            let Some(&own) = probed.own.iter().find(|own| own.is_ipv6() == address.is_ipv6())
            else {
                continue;
            };
            let question = fragment.question(probed.key, own);
            self.sockets.send(own, SocketAddr::new(address, probed.port), &question);
        }
    }

    fn process(&self, frame: &[u8]) {
        if let Err(error) = self.parts.program.process(frame) {
            tracing::debug!(%error, "the kernel does not take a fragment that has waited");
        }
    }
}
