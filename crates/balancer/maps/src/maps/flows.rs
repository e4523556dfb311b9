//! The flow table: 5-tuple to target.

use std::net::IpAddr;

use aya::maps::Map;
use heddle_bpf_loader::maps::{Access, Memory, array};

use crate::Error;
use crate::abi::{self, FlowState};

/// The flow table in memory shared with the program, to be read.
#[derive(Debug)]
pub struct Flows {
    memory: Memory,
}

/// An entry of the flow table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Flow {
    /// The client's address.
    pub client: IpAddr,
    /// The client's port.
    pub port: u16,
    /// The service's number.
    pub service: u16,
    /// The token of the MPTCP connection that it is a subflow of, if known.
    pub token: Option<u32>,
    /// The target of its packets: an index of `targets`.
    pub target: u16,
    /// Its state.
    pub state: FlowState,
    /// Its [`abi::FLOW_TOKEN_PENDING`], [`abi::FLOW_OWNER_PENDING`], [`abi::FLOW_KEYS_SECOND`] and
    /// [`abi::FLOW_CONTESTED`].
    pub flags: u8,
    /// The ring's epoch when it was last registered.
    pub epoch: u8,
    /// The tick of its last packet, or up to [`abi::TOUCH`] ticks before it.
    pub seen: u32,
}

impl Flow {
    /// None if the place is free or being written.
    fn decode(raw: &abi::Flow) -> Option<Self> {
        if raw.seen == 0 || raw.seen == abi::SEEN_BUSY {
            return None;
        }
        let state = FlowState::from_number(u32::from(raw.state) & abi::FLOW_STATE_MASK)?;
        (state != FlowState::Free).then(|| Self {
            client: raw.client.into(),
            port: u16::from_be(raw.port),
            service: raw.vip,
            token: (raw.token != 0).then_some(raw.token),
            target: raw.target,
            state,
            flags: raw.state & !(abi::FLOW_STATE_MASK as u8),
            epoch: raw.epoch,
            seen: raw.seen,
        })
    }
}

impl Flows {
    pub(super) fn new(map: Map) -> Result<Self, Error> {
        Ok(Self { memory: Memory::new("flows", array(map)?, Access::Read)? })
    }

    /// Places for flows, in buckets of [`abi::BUCKET_ENTRIES`].
    pub fn room(&self) -> usize {
        self.memory.entries(size_of::<abi::Flow>())
    }

    /// The flows in the table, in its order. Those that expired stay until a new one takes their
    /// place. A flow that is written meanwhile may be missing, or half old.
    pub fn iter(&self) -> impl Iterator<Item = Flow> + '_ {
        (0..self.room()).filter_map(|place| self.at(place))
    }

    /// The flow at this place.
    pub fn at(&self, place: usize) -> Option<Flow> {
        Flow::decode(&self.memory.read(place)?)
    }

    /// The number of flows in each state that had a packet at `since` or later, in ticks.
    pub fn census(&self, since: u32) -> FlowCensus {
        let mut census = FlowCensus::default();
        for flow in self.iter().filter(|flow| is_at_or_after(flow.seen, since)) {
            census.counts[flow.state as usize] += 1;
        }
        census
    }
}

/// Ticks wrap: half of the numbers lie before a tick, half behind it.
pub(super) fn is_at_or_after(tick: u32, since: u32) -> bool {
    tick.wrapping_sub(since) < 1 << 31
}

/// The number of flows in each state.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FlowCensus {
    counts: [u64; FlowState::ALL.len()],
}

impl FlowCensus {
    /// Flows in this state.
    pub fn of(&self, state: FlowState) -> u64 {
        self.counts[state as usize]
    }

    /// Flows in any state.
    pub fn all(&self) -> u64 {
        self.counts.iter().sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_is_read_as_abi_h_says() {
        let raw = abi::Flow {
            client: "192.0.2.1".parse::<IpAddr>().unwrap().into(),
            port: 4000_u16.to_be(),
            vip: 3,
            token: 0xdead_beef,
            target: 7,
            state: FlowState::Learning as u8 | abi::FLOW_KEYS_SECOND as u8,
            epoch: 9,
            seen: 100,
        };
        let flow = Flow::decode(&raw).unwrap();
        assert_eq!((flow.client.to_string().as_str(), flow.port), ("192.0.2.1", 4000));
        assert_eq!(
            (flow.state, u32::from(flow.flags)),
            (FlowState::Learning, abi::FLOW_KEYS_SECOND)
        );
        assert_eq!(flow.token, Some(0xdead_beef));
        for seen in [0, abi::SEEN_BUSY] {
            assert_eq!(Flow::decode(&abi::Flow { seen, ..raw }), None);
        }
    }

    #[test]
    fn ticks_wrap() {
        assert!(is_at_or_after(5, 5) && is_at_or_after(6, 5) && !is_at_or_after(4, 5));
        assert!(is_at_or_after(3, u32::MAX - 3) && !is_at_or_after(u32::MAX - 3, 3));
    }
}
