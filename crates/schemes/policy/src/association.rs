//! Association of subflows with MPTCP connections, by the handshakes that pass a ToR (MP-HULA
//! section 2.1).
//!
//! Three tables, as in the paper's figure 2, all indexed by hashes:
//!
//! - the **association table** holds, for each subflow of a host of this ToR, the connection's
//!   tokens, the subflow's number, and for the first subflow the number of subflows;
//! - the **token table** maps a token to the connection's first subflow, for subflows that join;
//! - the **key table** keeps key A from a version-0 SYN until key B comes with the SYN/ACK.
//!
//! Entries are keyed by the 5-tuple in the direction that leaves the ToR's host, the one in which
//! shims are added; so the client's ToR and the server's keep one each, and number the subflows of
//! their own direction.
//!
//! # Handshakes
//!
//! Version 0 (RFC 6824) is associated at the SYN/ACK, as in the paper. Version 1 (RFC 8684) sends
//! no key in the SYN: the third packet (ACK) carries both keys, and so does the first data, in case
//! that ACK is lost. The third packet of version 0 has both keys too, and is used if the key table
//! had no room. An MP_JOIN SYN carries the token of its receiver. The HMACs of MP_JOIN are not
//! checked: the paper assumes a secure data centre.
//!
//! # Details that the paper leaves open
//!
//! - Packets may be repeated. The same keys, or a token of the connection of this 5-tuple, change
//!   nothing. Other keys, another connection's token, or a SYN or SYN/ACK without MPTCP indicate
//!   that the 5-tuple is used by a new connection: the old entry is removed. A version-1 SYN
//!   indicates neither; the third packet decides.
//! - An entry expires when no packet has used it for [`MptcpTablesConfig::association_idle`]. A RST
//!   from either end removes it at once. A FIN ends one direction only, and data sent before it may
//!   be retransmitted: after FINs of both ends the entry remains valid but may be replaced.
//! - A new connection never replaces a live entry. If there is no free slot for it or for one of
//!   its tokens, or if one of its tokens belongs to another live connection, it is counted and
//!   handled as plain TCP. That is safe: the shim affects path choice only.
//! - Tokens refer to the first subflow's entry. Once that is removed, further joins are handled as
//!   plain TCP; the known subflows do not depend on it.
//! - A 5-tuple is matched by its bucket and a fingerprint of 16 bits of its hash. One in 65536
//!   flows of a bucket matches a wrong entry: its data packets are forwarded as the subflow's, and
//!   its SYN removes the entry. Both reduce path diversity only.
//! - Subflow numbers have 4 bits: after 16 subflows they restart at 2.

use heddle_wire::{
    Key, Shim, Subflow, Token, Version,
    mptcp::{self, CapableKeys, MpCapable, MpJoin, MptcpOption},
};

use crate::{AssociationCounters, Digest, Handshake, MptcpTablesConfig, Nanos, TcpFlags};

mod buckets;
mod entries;
mod keys;
mod tokens;

pub(crate) use buckets::slots as association_slots;
use entries::{Entries, Entry, Tokens};
use keys::KeyTable;
use tokens::TokenTable;

/// Bytes of the paper's three tables for each subflow: association (19), tokens (6), keys (10).
const PAPER_BYTES: u64 = 19 + 6 + 10;

/// State of a ToR in bytes by the paper's calculation (section 2.6), for `connections` of
/// `subflows` each.
pub const fn paper_bytes(connections: u64, subflows: u64) -> u64 {
    PAPER_BYTES * connections * subflows
}

/// Stage of a packet in a handshake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum HandshakeStage {
    Syn,
    SynAck,
    Later,
}

impl HandshakeStage {
    const fn of(flags: TcpFlags) -> HandshakeStage {
        match (flags.contains(TcpFlags::SYN), flags.contains(TcpFlags::ACK)) {
            (true, false) => HandshakeStage::Syn,
            (true, true) => HandshakeStage::SynAck,
            (false, _) => HandshakeStage::Later,
        }
    }
}

/// Reason why a connection is not associated.
enum AssociationError {
    /// One of its tokens belongs to another live connection.
    Token,
    /// A table has no free slot for it.
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
    /// Empty tables; `salt` is that of the switch.
    pub fn new(config: &MptcpTablesConfig, salt: u32) -> Association {
        Association {
            entries: Entries::new(config, salt),
            tokens: TokenTable::new(config.association_slots, salt),
            keys: KeyTable::new(config, salt),
            counters: AssociationCounters::default(),
        }
    }

    /// Shim of a packet from a host of the flow with `hash`: `None` for plain TCP and for a
    /// connection with one subflow. Refreshes the entry.
    #[inline]
    pub fn shim(&mut self, now: Nanos, hash: u32) -> Option<Shim> {
        let entry = self.entries.find(now, hash)?;
        entry.seen = now;
        (entry.subflows > 1).then_some(Shim { id: entry.id(), subflow: entry.number()? })
    }

    /// Handles a packet of a handshake or teardown.
    pub fn observe(&mut self, now: Nanos, packet: &Handshake<'_>) {
        let flow = packet.out_hash;
        if packet.flags.contains(TcpFlags::RST) {
            return self.remove_flow(flow);
        }
        match (HandshakeStage::of(packet.flags), mptcp::find(packet.options)) {
            (stage, Some(MptcpOption::Capable(capable))) => {
                self.on_mp_capable(now, flow, stage, capable);
            }
            (HandshakeStage::Syn, Some(MptcpOption::Join(MpJoin::Syn { token, .. }))) => {
                self.on_mp_join(now, flow, token);
            }
            (HandshakeStage::SynAck, Some(MptcpOption::Join(_))) | (HandshakeStage::Later, _) => {}
            (HandshakeStage::Syn | HandshakeStage::SynAck, _) => self.remove_flow(flow),
        }
        if packet.flags.contains(TcpFlags::FIN) {
            self.entries.close(now, flow, packet.ingress);
        }
    }

    /// Counters so far.
    pub const fn counters(&self) -> AssociationCounters {
        self.counters
    }

    /// Bytes that a switch needs for the three tables.
    pub fn state_bytes(&self) -> usize {
        self.entries.state_bytes() + self.tokens.state_bytes() + self.keys.state_bytes()
    }

    /// Adds the three tables to a digest.
    pub fn digest(&self, digest: &mut Digest) {
        self.entries.digest(digest);
        self.tokens.digest(digest);
        self.keys.digest(digest);
    }

    /// Removes the entries of a 5-tuple.
    fn remove_flow(&mut self, flow: u32) {
        self.keys.remove(flow);
        self.entries.remove(flow);
    }

    fn on_mp_capable(&mut self, now: Nanos, flow: u32, stage: HandshakeStage, capable: MpCapable) {
        let MpCapable { version, keys, .. } = capable;
        match (stage, keys) {
            (HandshakeStage::Syn, CapableKeys::Sender(a)) => self.store_key(now, flow, version, a),
            (HandshakeStage::Syn, _) => self.keys.remove(flow),
            (HandshakeStage::SynAck, CapableKeys::Sender(b)) => {
                if let Some(a) = self.keys.take(flow) {
                    self.open(now, flow, Tokens::of(version, a, b));
                }
            }
            (
                HandshakeStage::Later,
                CapableKeys::Both { sender, receiver }
                | CapableKeys::WithData { sender, receiver, .. },
            ) => self.open(now, flow, Tokens::of(version, sender, receiver)),
            _ => {}
        }
    }

    /// Handles a version-0 SYN: a new connection, unless it repeats the SYN of the known one.
    fn store_key(&mut self, now: Nanos, flow: u32, version: Version, key: Key) {
        let known = self.entries.find(now, flow);
        if known.is_some_and(|entry| entry.tokens().a == version.token(key)) {
            return;
        }
        self.remove_flow(flow);
        if !self.keys.insert(now, flow, key) {
            self.counters.table_collisions += 1;
        }
    }

    /// Handles a packet that completes the keys: the first subflow of a connection, unless the
    /// entry exists.
    fn open(&mut self, now: Nanos, flow: u32, tokens: Tokens) {
        if self.entries.find(now, flow).is_some_and(|entry| entry.tokens() == tokens) {
            return;
        }
        self.remove_flow(flow);
        match self.insert_connection(now, flow, tokens) {
            Ok(()) => self.counters.connections += 1,
            Err(AssociationError::Token) => self.counters.token_collisions += 1,
            Err(AssociationError::Table) => self.counters.table_collisions += 1,
        }
    }

    fn insert_connection(
        &mut self,
        now: Nanos,
        flow: u32,
        tokens: Tokens,
    ) -> Result<(), AssociationError> {
        let slot = self.entries.free_slot(now, flow).ok_or(AssociationError::Table)?;
        let index_a = self.free_token_slot(now, tokens.a)?;
        let index_b = self.free_token_slot(now, tokens.b)?;
        self.entries.insert(now, slot, flow, tokens, Subflow::FIRST);
        self.tokens.insert(index_a, slot);
        self.tokens.insert(index_b, slot);
        Ok(())
    }

    /// Index in the token table for `token` that no live connection uses.
    fn free_token_slot(&self, now: Nanos, token: Token) -> Result<usize, AssociationError> {
        if self.find_by_token(now, token).is_some() {
            return Err(AssociationError::Token);
        }
        let is_needed = |index: usize| {
            let first = self.entries.first_at(now, self.tokens.slot(index));
            first.is_some_and(|first| {
                !first.is_closed() && self.tokens.may_hold(index, first.tokens())
            })
        };
        self.tokens.bucket(token).find(|&index| !is_needed(index)).ok_or(AssociationError::Table)
    }

    /// Slot and entry of the first subflow of the connection with `token`.
    fn find_by_token(&self, now: Nanos, token: Token) -> Option<(u32, &Entry)> {
        let slots = self.tokens.bucket(token).map(|index| self.tokens.slot(index));
        let mut firsts = slots.filter_map(|slot| Some((slot, self.entries.first_at(now, slot)?)));
        firsts.find(|(_, first)| first.tokens().contains(token))
    }

    /// Handles an MP_JOIN SYN: a further subflow of the connection with `token`, unless the entry
    /// exists.
    fn on_mp_join(&mut self, now: Nanos, flow: u32, token: Token) {
        if self.entries.find(now, flow).is_some_and(|entry| entry.is_join_by(token)) {
            return;
        }
        self.remove_flow(flow);
        let Some((first, entry)) = self.find_by_token(now, token) else {
            self.counters.unknown_tokens += 1;
            return;
        };
        let (tokens, subflows) = (entry.tokens(), entry.subflows);
        let Some(slot) = self.entries.free_slot(now, flow) else {
            self.counters.table_collisions += 1;
            return;
        };
        if let Some(number) = self.entries.count_subflow(first) {
            self.entries.insert(now, slot, flow, tokens, number);
            self.counters.joins += 1;
            self.counters.wraps += u64::from(subflows == Subflow::MAX);
        }
    }
}

#[cfg(test)]
mod tests;
