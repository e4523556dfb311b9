//! The token table: MPTCP token to backend.

use aya::maps::Map;
use heddle_bpf_loader::maps::{Access, Memory, array};

use super::flows::is_at_or_after;
use crate::Error;
use crate::abi::{self, TokenState};

/// The token table in memory shared with the program, to be read.
#[derive(Debug)]
pub struct Tokens {
    memory: Memory,
}

/// An entry of the token table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Token {
    /// The token.
    pub token: u32,
    /// The service's number.
    pub service: u16,
    /// The connection's backend: an index of `targets`.
    pub target: u16,
    /// Its state: provisional or confirmed.
    pub state: TokenState,
    /// Joins since the last refresh.
    pub joins: u8,
    /// The tick when it was last registered or confirmed.
    pub seen: u32,
}

impl Token {
    fn decode(raw: &abi::TokenEntry) -> Option<Self> {
        if raw.seen == 0 || raw.seen == abi::SEEN_BUSY {
            return None;
        }
        let state = TokenState::from_number(raw.state.into())?;
        (state != TokenState::Free).then_some(Self {
            token: raw.token,
            service: raw.vip,
            target: raw.target,
            state,
            joins: raw.joins,
            seen: raw.seen,
        })
    }
}

impl Tokens {
    pub(super) fn new(map: Map) -> Result<Self, Error> {
        Ok(Self { memory: Memory::new("tokens", array(map)?, Access::Read)? })
    }

    /// Places for tokens, in buckets of [`abi::BUCKET_ENTRIES`].
    pub fn room(&self) -> usize {
        self.memory.entries(size_of::<abi::TokenEntry>())
    }

    /// The tokens in the table, in its order. Those that expired stay until a new one takes their
    /// place. A token that is written meanwhile may be missing, or half old.
    pub fn iter(&self) -> impl Iterator<Item = Token> + '_ {
        (0..self.room()).filter_map(|place| self.at(place))
    }

    /// The token at this place.
    pub fn at(&self, place: usize) -> Option<Token> {
        Token::decode(&self.memory.read(place)?)
    }

    /// The number of tokens in each state that were registered at `since` or later, in ticks.
    pub fn census(&self, since: u32) -> TokenCensus {
        let mut census = TokenCensus::default();
        for token in self.iter().filter(|token| is_at_or_after(token.seen, since)) {
            census.counts[token.state as usize] += 1;
        }
        census
    }
}

/// The number of tokens in each state.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TokenCensus {
    counts: [u64; TokenState::ALL.len()],
}

impl TokenCensus {
    /// Tokens in this state.
    pub fn of(&self, state: TokenState) -> u64 {
        self.counts[state as usize]
    }

    /// Tokens in any state.
    pub fn all(&self) -> u64 {
        self.counts.iter().sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_is_read_as_abi_h_says() {
        let raw = abi::TokenEntry {
            token: 0xdead_beef,
            vip: 3,
            target: 7,
            state: TokenState::Confirmed as u8,
            joins: 2,
            settled: 0,
            generation: 0,
            seen: 100,
        };
        let token = Token::decode(&raw).unwrap();
        assert_eq!((token.token, token.service, token.target), (0xdead_beef, 3, 7));
        assert_eq!((token.state, token.joins, token.seen), (TokenState::Confirmed, 2, 100));
        for (state, seen) in [(raw.state, 0), (raw.state, abi::SEEN_BUSY), (0, 100), (9, 100)] {
            assert_eq!(Token::decode(&abi::TokenEntry { state, seen, ..raw }), None);
        }
    }
}
