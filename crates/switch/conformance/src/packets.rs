//! The XDP program of each scheme on frames, natively: its maps and the kernel's helpers are C of
//! this crate (c/packet.c).
//!
//! [`check`] gives a switch any frames and looks at each outcome: exactly one verdict, the action
//! that goes with it, and the bytes that such a verdict may change.
#![allow(unsafe_code, reason = "calls C, which reads and writes through pointers")]

use std::fmt;
use std::ops::Range;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Bytes in front of a frame, as XDP drivers leave them.
const HEADROOM: usize = 256;
/// The longest frame that is made of bytes.
const LONGEST: usize = 1700;
/// Uplinks of the switch (c/packet.h).
const UPLINKS: u32 = 8;

/// `struct packet_run` of c/packet.h.
#[repr(C)]
#[derive(Debug)]
struct RawRun {
    memory: *mut u8,
    now: u64,
    start: u32,
    end: u32,
    port: u32,
    to: u32,
    replicated: u32,
    action: u32,
    verdict: u32,
    pad: u32,
}

/// The schemes' names in C, by their numbers here.
pub fn names() -> impl Iterator<Item = &'static str> {
    SCHEMES.iter().map(|scheme| scheme.name)
}

/// The entry points of a scheme's object.
struct Scheme {
    name: &'static str,
    reset: unsafe extern "C" fn(i32, u32),
    run: unsafe extern "C" fn(*mut RawRun),
}

// In the order of their names.
include!(concat!(env!("OUT_DIR"), "/packet_schemes.rs"));

/// A switch, of which there is one in the process: its tables are the C's own.
pub struct Switch {
    scheme: &'static Scheme,
    _only: MutexGuard<'static, ()>,
}

/// A frame's outcome.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// The verdict (`enum switch_counter`); none if the frame was in no verdict, or in several.
    pub verdict: Option<u32>,
    /// The program's return value (`enum xdp_action`).
    pub action: u32,
    /// The port of a redirected frame.
    pub to: u32,
    /// The frame as the program left it.
    pub frame: Vec<u8>,
}

impl Switch {
    /// A switch with empty tables: the scheme of a number, a ToR or a switch of the tier above;
    /// `choice` selects CFLB's constants.
    pub fn new(scheme: u8, is_tor: bool, choice: u32) -> Switch {
        static ONLY: Mutex<()> = Mutex::new(());
        let only = ONLY.lock().unwrap_or_else(PoisonError::into_inner);
        let scheme = &SCHEMES[usize::from(scheme) % SCHEMES.len()];
        // SAFETY: the function writes static memory of its object, which the lock guards.
        unsafe { (scheme.reset)(is_tor.into(), choice) };
        Switch { scheme, _only: only }
    }

    /// Gives the switch a frame. Behind its end there is no memory to read.
    pub fn run(&mut self, now: u64, port: u32, frame: &[u8]) -> Outcome {
        let mut memory = vec![0; HEADROOM];
        memory.extend(frame);
        let mut memory = memory.into_boxed_slice();
        let mut run = RawRun {
            memory: memory.as_mut_ptr(),
            now,
            start: HEADROOM as u32,
            end: memory.len() as u32,
            port: port % (1 + UPLINKS),
            to: 0,
            replicated: 0,
            action: 0,
            verdict: 0,
            pad: 0,
        };
        // SAFETY: `start` to `end` lie in `memory`, within which the program stays, and its tables
        // are static memory, which the lock guards.
        unsafe { (self.scheme.run)(&raw mut run) };
        let frame: Range<usize> = run.start as usize..run.end as usize;
        Outcome {
            verdict: (run.verdict != u32::MAX).then_some(run.verdict),
            action: run.action,
            to: run.to,
            frame: memory.get(frame).unwrap_or_default().to_vec(),
        }
    }
}

/// Verdicts by the number that they have in `enum switch_counter` (bpf/switch/switch_abi.h).
mod verdict {
    pub const FORWARDED: u32 = 0;
    pub const DELIVERED: u32 = 1;
    pub const PASSED: u32 = 2;
    pub const PROBE_FORWARDED: u32 = 5;
    pub const ANSWERED: u32 = 6;
    pub const TIME_EXCEEDED: u32 = 7;
}

/// Actions (linux/bpf.h, `enum xdp_action`).
const DROP: u32 = 1;
const PASS: u32 = 2;
const TX: u32 = 3;
const REDIRECT: u32 = 4;

/// Frames out of any bytes: a scheme, a tier, and then for each frame a port, a time since the one
/// before, a length, and its bytes.
///
/// # Errors
/// The first outcome that may not be.
pub fn check(bytes: &[u8]) -> Result<usize, String> {
    let [scheme, tier, rest @ ..] = bytes else { return Ok(0) };
    let mut switch = Switch::new(*scheme, tier % 2 == 0, u32::from(*tier) / 2);
    let (mut rest, mut now, mut frames) = (rest, 1_000_000_000_u64, 0);
    while let [port, passed, high, low, behind @ ..] = rest {
        // Up to 4 ms on, or back.
        let step = u64::from(*passed) << 14;
        now = if passed % 16 == 15 { now.saturating_sub(step) } else { now + step };
        let length = (usize::from(*high) << 8 | usize::from(*low)).min(LONGEST);
        let (frame, behind) = behind.split_at(length.min(behind.len()));
        rest = behind;
        if frame.len() < 14 {
            continue;
        }
        let outcome = switch.run(now, (*port).into(), frame);
        judge(frame, &outcome).map_err(|why| {
            let (name, got) = (switch.scheme.name, Hex(&outcome.frame));
            format!("{name}, frame {frames}: {why}\n{}\n{got}\n{outcome:?}", Hex(frame))
        })?;
        frames += 1;
    }
    Ok(frames)
}

struct Hex<'a>(&'a [u8]);

impl fmt::Display for Hex<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// Checks that a frame can have this outcome; the error says what is wrong with it.
fn judge(before: &[u8], after: &Outcome) -> Result<(), String> {
    let Some(verdict) = after.verdict else { return Err("not exactly one verdict".into()) };
    let action = match verdict {
        verdict::FORWARDED | verdict::DELIVERED | verdict::PROBE_FORWARDED => REDIRECT,
        verdict::PASSED => PASS,
        verdict::ANSWERED | verdict::TIME_EXCEEDED => TX,
        _ => DROP,
    };
    if after.action != action {
        return Err(format!("verdict {verdict} with action {}", after.action));
    }
    match verdict {
        verdict::FORWARDED if !(1..=UPLINKS).contains(&after.to) => Err("to no switch".into()),
        verdict::DELIVERED if after.to != 0 => Err("to no host".into()),
        verdict::FORWARDED | verdict::DELIVERED => forwarded(before, &after.frame),
        verdict::ANSWERED | verdict::TIME_EXCEEDED => answered(before, &after.frame),
        verdict::PASSED if before != after.frame => Err("passed, but not as it was".into()),
        _ => Ok(()),
    }
}

/// The offset of IP in a frame, behind a tag and a shim.
fn network(frame: &[u8]) -> Option<usize> {
    let kind = |at: usize| frame.get(at..at + 2);
    let mut at = 12;
    if kind(at)? == [0x81, 0x00] {
        at += 4;
    }
    if kind(at)? == [0x88, 0xb5] {
        at += 12;
    }
    Some(at + 2)
}

fn sum(bytes: &[u8]) -> u32 {
    let words = bytes.chunks(2);
    let sum: u32 =
        words.map(|pair| u32::from(pair[0]) << 8 | u32::from(*pair.get(1).unwrap_or(&0))).sum();
    (sum & 0xffff) + (sum >> 16)
}

/// The TTL is one less, the checksum as right or wrong as it was, and all else of IP the same.
fn forwarded(before: &[u8], after: &[u8]) -> Result<(), String> {
    let ip = |frame| network(frame).and_then(|at| frame.get(at..)).ok_or("no IP");
    let (was, is) = (ip(before)?, ip(after)?);
    if was.len() != is.len() {
        return Err("IP and what follows has another length".into());
    }
    let is_v4 = was.first().is_some_and(|byte| byte >> 4 == 4);
    let (ttl, changed) = if is_v4 { (8, 8..12) } else { (7, 7..8) };
    if was[ttl].checked_sub(1) != Some(is[ttl]) || was[ttl] == 1 {
        return Err(format!("TTL {} became {}", was[ttl], is[ttl]));
    }
    let same =
        was[..changed.start] == is[..changed.start] && was[changed.end..] == is[changed.end..];
    if !same || is_v4 && was[9] != is[9] {
        return Err("more than the TTL has changed".into());
    }
    let header = usize::from(was[0] & 15) * 4;
    let folded = |bytes: &[u8]| sum(&sum(bytes).to_be_bytes());
    if is_v4 && folded(&was[..header]) % 0xffff != folded(&is[..header]) % 0xffff {
        return Err("the header's checksum has another error than before".into());
    }
    Ok(())
}

/// An ICMP error with the right checksum, about what came, and not longer than the limits of its
/// family.
fn answered(before: &[u8], after: &[u8]) -> Result<(), String> {
    let (was, is) = (network(before).ok_or("no IP")?, network(after).ok_or("no IP")?);
    let (was, is) = (&before[was..], &after[is..]);
    let is_v4 = is[0] >> 4 == 4;
    let (header, most) = if is_v4 { (20, 576) } else { (40, 1280) };
    let (pseudo, message) = (&is[8..header], &is[header..]);
    let extra = if is_v4 { 0 } else { sum(pseudo) + 58 + message.len() as u32 };
    if !sum(&(sum(message) + extra).to_be_bytes()).is_multiple_of(0xffff) {
        return Err("ICMP's checksum".into());
    }
    if is.len() > most || message[8..] != was[..message.len() - 8] {
        return Err("what ICMP quotes".into());
    }
    Ok(())
}
