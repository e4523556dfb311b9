//! RCCC, receiver credit congestion control: servers grant what their clients may send, at the rate
//! of their links.
//!
//! - A client has **credit**, in bytes on the wire, and sends while any is left: a packet may take
//!   more than there is. It begins with a window of credit that nobody granted, for which it need
//!   not wait; what is left of that lapses when the server first answers. So it begins again
//!   whenever all that it sent has arrived.
//! - Each packet says how much the client would like to be granted in all (its **demand**): what
//!   waits to be sent, at most a window, less its credit. While nothing was granted it is a packet at
//!   least, which spares short messages a round trip.
//! - A client without credit, whose demand is a packet more than it has said, or to which all that it
//!   said was granted, says so in a **request**; also after a timeout without credit, for a request
//!   or a grant may be lost.
//! - The server grants four packets at a time in a **credit** packet, but no more than the demand.
//!   When it does so is its host's business, which serves its connections in turn
//!   ([`Connection::grant`](crate::Connection::grant)). Credit packets have the sum of all grants, so
//!   that one makes up for those that were lost.
//! - Packets that are lost need credit again, as new ones do.
//!
//! Sources: the public uet-htsim for the rules and constants (four packets "as per default in UEC
//! spec"; 1.5 round trips of credit at first, and at most); credit by a pacer at the receiver, and a
//! first window without: NDP (Handley et al., SIGCOMM 2017, section 3.2) and EQDS (Olteanu et al.,
//! NSDI 2022). Credit that uet-htsim's servers grant to clients without demand is replaced by the
//! window with which idle clients begin again. Clients of a host do not share its demand.

use heddle_units::Time;

use super::UetParameters;
use crate::HEADER_BYTES;

/// Full packets of a grant.
const GRANT_PACKETS: u64 = 4;

/// A client's credit.
#[derive(Clone, Debug)]
pub(super) struct Credit {
    /// Bytes that may be sent; below 0 after a packet that took more.
    balance: i64,
    /// Most bytes that it may be, and that are asked for.
    window: u64,
    /// Sum of the server's grants.
    granted: u64,
    /// The highest demand that was sent.
    told: u64,
    /// Time of the last demand or grant.
    told_at: Time,
    /// True while the server has not answered.
    is_speculative: bool,
}

impl Credit {
    pub(super) fn new(parameters: &UetParameters) -> Credit {
        let window = parameters.window;
        let (granted, told, told_at) = (0, 0, Time::ZERO);
        Credit { balance: window as i64, window, granted, told, told_at, is_speculative: true }
    }

    /// Bytes that may be sent.
    pub(super) fn left(&self) -> u64 {
        self.balance.max(0).cast_unsigned()
    }

    pub(super) fn spend(&mut self, bytes: u64) {
        self.balance -= bytes as i64;
    }

    /// Begins again, after all that was sent has arrived.
    pub(super) fn begin(&mut self) {
        (self.balance, self.is_speculative) = (self.window as i64, true);
    }

    /// The server has answered.
    pub(super) fn end_speculation(&mut self) {
        if self.is_speculative {
            (self.balance, self.is_speculative) = (self.balance.min(0), false);
        }
    }

    /// The server has granted so much in all.
    pub(super) fn on_grant(&mut self, now: Time, granted: u64) {
        self.end_speculation();
        self.told_at = now;
        let more = granted.saturating_sub(self.granted);
        self.balance = (self.balance + more as i64).min(self.window as i64);
        self.granted += more;
    }

    /// The demand where so many bytes wait to be sent.
    pub(super) fn demand(&self, parameters: &UetParameters, waiting: u64) -> u64 {
        let more = waiting.min(self.window) as i64 - self.balance;
        let least = match self.is_speculative && waiting > 0 {
            true => full_packet(parameters) as i64,
            false => 0,
        };
        self.granted + more.max(least).cast_unsigned()
    }

    /// The demand was sent.
    pub(super) fn told(&mut self, now: Time, demand: u64) {
        (self.told, self.told_at) = (self.told.max(demand), now);
    }

    /// True if so many bytes wait for credit that was not asked for: a packet's, or any if no more
    /// is to come.
    pub(super) fn needs_request(&self, parameters: &UetParameters, waiting: u64) -> bool {
        if waiting == 0 || self.balance > 0 {
            return false;
        }
        let more = self.demand(parameters, waiting).saturating_sub(self.told);
        more >= full_packet(parameters) || (more > 0 && self.told <= self.granted)
    }

    /// Time from which credit is missing, if there is none.
    pub(super) fn missing_since(&self) -> Option<Time> {
        (self.balance <= 0).then_some(self.told_at)
    }

    /// Makes the next request due, whatever was sent.
    pub(super) fn ask_again(&mut self, now: Time) {
        (self.told, self.told_at) = (0, now);
    }
}

/// A server's grants to its client.
#[derive(Clone, Debug, Default)]
pub(super) struct Grants {
    demand: u64,
    granted: u64,
    /// True if the client asks for what was granted already.
    is_repeated: bool,
}

impl Grants {
    /// A packet said what the client would like; `is_request` if it waits for that.
    pub(super) fn on_demand(&mut self, demand: u64, is_request: bool) {
        self.demand = self.demand.max(demand);
        self.is_repeated |= is_request && demand <= self.granted;
    }

    /// True if there is something to grant.
    pub(super) fn are_due(&self) -> bool {
        self.demand > self.granted || self.is_repeated
    }

    /// Grants up to four packets; returns the bytes, and the sum of all.
    pub(super) fn next(&mut self, parameters: &UetParameters) -> (u64, u64) {
        let bytes = (self.demand - self.granted).min(GRANT_PACKETS * full_packet(parameters));
        self.granted += bytes;
        self.is_repeated = false;
        (bytes, self.granted)
    }
}

/// Bytes of a full packet on the wire.
pub(super) fn full_packet(parameters: &UetParameters) -> u64 {
    u64::from(parameters.mss) + u64::from(HEADER_BYTES)
}

#[cfg(test)]
mod tests;
