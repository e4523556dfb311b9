//! Which connection a subflow belongs to, read from MPTCP's handshakes at the ToR (MP-HULA section 2.1).
//!
//! Three tables, as in the paper's figure 2, all indexed by hashes:
//!
//! - the **association table** holds, for each subflow of a host of this ToR, its connection's tokens, its number, and for the
//!   first subflow the count of subflows;
//! - the **token table** leads from a token to the connection's first subflow, for subflows that join;
//! - the **key table** keeps key A from a version-0 SYN until key B comes with the SYN/ACK.
//!
//! Entries are keyed by the 5-tuple in the direction that leaves the ToR's host, the one in which shims are added; so the client's
//! ToR and the server's keep one each, and number the subflows of their own direction.
//!
//! # Handshakes
//!
//! Version 0 (RFC 6824) is associated at the SYN/ACK, as the paper has it. Version 1 (RFC 8684) sends no key in the SYN: its
//! third ACK carries both keys, and so does its first data, should that ACK be lost. Version 0's third ACK has both, too, and serves
//! where the key table had no room. An MP_JOIN SYN carries the token of its receiver, whichever end that is. MP_JOIN's HMACs are not
//! checked: the paper takes the data centre to be secure.
//!
//! # What the paper leaves open
//!
//! - Packets come more than once. The same keys, or a token of the connection that the 5-tuple belongs to, change nothing. Other
//!   keys, another connection's token, or a SYN or SYN/ACK without MPTCP tell that the 5-tuple serves a new connection: the
//!   old entry goes. A version-1 SYN tells nothing either way, and is left for its third ACK to settle.
//! - An entry lives until nothing has left by it for [`AssociationConfig::idle_after`]. A RST from either end drops it at once. A
//!   FIN ends one direction only, and data sent before it may still be repeated: after FINs of both ends the entry still serves,
//!   but no longer holds its place against a newcomer.
//! - A newcomer never takes the place of a live entry. If no place is left for it or for one of its tokens, or if one of its
//!   tokens names another live connection, it is counted and goes on as plain TCP. That is safe: the shim only steers.
//! - Tokens lead to the first subflow's entry. When that is gone, further joins stay plain; the subflows already known do not
//!   depend on it.
//! - A 5-tuple is recognised by its set and 16 bits of its hash. Of the flows that share an entry's set one in 65536 is taken
//!   for it: a data packet is steered as if it were the subflow's, a SYN drops the entry. Either costs spread, nothing else.
//! - Numbers are 4 bits: after 16 subflows they start again at 2.

use heddle_wire::{
    Key, Shim, Subflow, Token, Version,
    mptcp::{self, CapableKeys, MpCapable, MpJoin, MptcpOption},
};

use crate::{AssociationCounters, Handshake, Nanos, TcpFlags};

mod entries;
mod keys;
mod sets;
mod tokens;

use entries::{Entries, Entry, Tokens};
use keys::KeyTable;
use tokens::TokenTable;

/// Bytes of the paper's three tables for each subflow: association (19), tokens (6), keys (10).
const PAPER_BYTES: u64 = 19 + 6 + 10;

/// State of a ToR by the paper's count (section 2.6) for `connections` of `subflows` each, in bytes.
pub const fn paper_bytes(connections: u64, subflows: u64) -> u64 {
    PAPER_BYTES * connections * subflows
}

/// Size and ageing of the association tables.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AssociationConfig {
    /// Places for subflows, rounded up to a power of two of at least 4; there are as many for keys and twice as many for tokens. An
    /// entry has 4 places to choose from, so a ToR wants several times the subflows that it expects.
    pub slots: usize,
    /// A subflow that sends nothing for longer is forgotten. It should outlast a retransmission timeout.
    pub idle_after: Nanos,
}

/// Where a packet stands in a handshake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Syn,
    SynAck,
    Later,
}

impl Place {
    const fn of(flags: TcpFlags) -> Place {
        match (flags.contains(TcpFlags::SYN), flags.contains(TcpFlags::ACK)) {
            (true, false) => Place::Syn,
            (true, true) => Place::SynAck,
            (false, _) => Place::Later,
        }
    }
}

/// Why a connection is not associated.
enum Refusal {
    /// One of its tokens names another live connection.
    Token,
    /// A place that it needs is held.
    Table,
}

/// A ToR's tables.
#[derive(Clone, Debug)]
pub(crate) struct Association {
    entries: Entries,
    tokens: TokenTable,
    keys: KeyTable,
    counters: AssociationCounters,
}

impl Association {
    /// Empty tables; `salt` is the switch's own.
    pub fn new(config: &AssociationConfig, salt: u32) -> Association {
        Association {
            entries: Entries::new(config, salt),
            tokens: TokenTable::new(config.slots, salt),
            keys: KeyTable::new(config, salt),
            counters: AssociationCounters::default(),
        }
    }

    /// The shim of a packet that leaves the host by the flow with `hash`: `None` for plain TCP, and while the connection has only
    /// one subflow. Keeps the entry from going idle.
    #[inline]
    pub fn shim(&mut self, now: Nanos, hash: u32) -> Option<Shim> {
        let entry = self.entries.find(now, hash)?;
        entry.seen = now;
        (entry.subflows > 1).then(|| Shim { id: entry.tokens.id(), subflow: entry.number })
    }

    /// Takes in what a packet of a handshake or teardown tells.
    pub fn see(&mut self, now: Nanos, seen: &Handshake<'_>) {
        let flow = seen.out_hash;
        if seen.flags.contains(TcpFlags::RST) {
            return self.forget(flow);
        }
        match (Place::of(seen.flags), mptcp::find(seen.options)) {
            (place, Some(MptcpOption::Capable(capable))) => self.capable(now, flow, place, capable),
            (Place::Syn, Some(MptcpOption::Join(MpJoin::Syn { token, .. }))) => {
                self.join(now, flow, token);
            }
            (Place::SynAck, Some(MptcpOption::Join(_))) | (Place::Later, _) => {}
            (Place::Syn | Place::SynAck, _) => self.forget(flow),
        }
        if seen.flags.contains(TcpFlags::FIN) {
            self.entries.close(now, flow, seen.ingress);
        }
    }

    /// What was counted so far.
    pub const fn counters(&self) -> AssociationCounters {
        self.counters
    }

    /// Bytes that a switch needs for the three tables.
    pub fn state_bytes(&self) -> usize {
        self.entries.state_bytes() + self.tokens.state_bytes() + self.keys.state_bytes()
    }

    /// Drops what is known of a 5-tuple.
    fn forget(&mut self, flow: u32) {
        self.keys.forget(flow);
        self.entries.remove(flow);
    }

    fn capable(&mut self, now: Nanos, flow: u32, place: Place, capable: MpCapable) {
        let MpCapable { version, keys, .. } = capable;
        match (place, keys) {
            (Place::Syn, CapableKeys::Sender(a)) => self.keep_key(now, flow, version, a),
            (Place::Syn, _) => self.keys.forget(flow),
            (Place::SynAck, CapableKeys::Sender(b)) => {
                if let Some(a) = self.keys.take(flow) {
                    self.open(now, flow, Tokens::of(version, a, b));
                }
            }
            (
                Place::Later,
                CapableKeys::Both { sender, receiver }
                | CapableKeys::WithData { sender, receiver, .. },
            ) => self.open(now, flow, Tokens::of(version, sender, receiver)),
            _ => {}
        }
    }

    /// A version-0 SYN: a new connection, unless it repeats the one that opened this.
    fn keep_key(&mut self, now: Nanos, flow: u32, version: Version, key: Key) {
        let known = self.entries.find(now, flow);
        if known.is_some_and(|entry| entry.tokens.a == version.token(key)) {
            return;
        }
        self.forget(flow);
        if !self.keys.keep(now, flow, key) {
            self.counters.table_collisions += 1;
        }
    }

    /// Both keys are known: the first subflow of a connection, unless the packet repeats what made the entry.
    fn open(&mut self, now: Nanos, flow: u32, tokens: Tokens) {
        if self.entries.find(now, flow).is_some_and(|entry| entry.tokens == tokens) {
            return;
        }
        self.forget(flow);
        match self.admit(now, flow, tokens) {
            Ok(()) => self.counters.connections += 1,
            Err(Refusal::Token) => self.counters.token_collisions += 1,
            Err(Refusal::Table) => self.counters.table_collisions += 1,
        }
    }

    fn admit(&mut self, now: Nanos, flow: u32, tokens: Tokens) -> Result<(), Refusal> {
        let slot = self.entries.room(now, flow).ok_or(Refusal::Table)?;
        let place_a = self.token_place(now, tokens.a)?;
        let place_b = self.token_place(now, tokens.b)?;
        self.entries.put(now, slot, flow, tokens, Subflow::FIRST);
        self.tokens.put(place_a, slot);
        self.tokens.put(place_b, slot);
        Ok(())
    }

    /// A place in the token table for `token`: one that no other connection needs.
    fn token_place(&self, now: Nanos, token: Token) -> Result<usize, Refusal> {
        if self.named(now, token).is_some() {
            return Err(Refusal::Token);
        }
        let is_needed = |place: usize| {
            let first = self.entries.first_at(now, self.tokens.slot(place));
            first.is_some_and(|first| {
                !first.is_closed() && self.tokens.may_hold(place, first.tokens)
            })
        };
        self.tokens.set(token).find(|&place| !is_needed(place)).ok_or(Refusal::Table)
    }

    /// The connection that `token` names, and where its first subflow is.
    fn named(&self, now: Nanos, token: Token) -> Option<(u32, &Entry)> {
        let slots = self.tokens.set(token).map(|place| self.tokens.slot(place));
        let mut firsts = slots.filter_map(|slot| Some((slot, self.entries.first_at(now, slot)?)));
        firsts.find(|(_, first)| first.tokens.contains(token))
    }

    /// An MP_JOIN SYN: another subflow of the connection that `token` names, unless it repeats the SYN that made the entry.
    fn join(&mut self, now: Nanos, flow: u32, token: Token) {
        if self.entries.find(now, flow).is_some_and(|entry| entry.is_join_by(token)) {
            return;
        }
        self.forget(flow);
        let Some((first, &Entry { tokens, subflows, .. })) = self.named(now, token) else {
            self.counters.unknown_tokens += 1;
            return;
        };
        let Some(slot) = self.entries.room(now, flow) else {
            self.counters.table_collisions += 1;
            return;
        };
        if let Some(number) = self.entries.count_subflow(first) {
            self.entries.put(now, slot, flow, tokens, number);
            self.counters.joins += 1;
            self.counters.wraps += u64::from(subflows == Subflow::MOST);
        }
    }
}

#[cfg(test)]
mod tests;
