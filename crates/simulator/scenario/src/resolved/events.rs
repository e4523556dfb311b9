//! Changes of links during a run.

use heddle_units::{Rate, Time};
use serde::Serialize;

/// Something that happens to the fabric.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Event {
    /// Time from the start of the run.
    pub at: Time,
    /// The change.
    pub change: Change,
    /// Links concerned, as indices of [`Graph::links`](super::Graph::links).
    pub links: Vec<u32>,
    /// For each of `links`, the end whose direction alone changes; empty if both directions of all
    /// change.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub senders: Vec<u32>,
}

impl Event {
    /// A change of both directions of links.
    pub const fn both_ways(at: Time, change: Change, links: Vec<u32>) -> Event {
        Event { at, change, links, senders: Vec::new() }
    }

    /// True if it changes the direction of a link in which `sender` sends.
    pub fn changes(&self, link: u32, sender: u32) -> bool {
        let is_sender = |index: usize| self.senders.get(index).is_none_or(|end| *end == sender);
        self.links.iter().enumerate().any(|(index, of)| *of == link && is_sender(index))
    }
}

/// A change of a link's state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Change {
    /// It goes down; packets on it are lost.
    Fail,
    /// It comes back up.
    Recover,
    /// It goes on with impairments; routing does not notice.
    Degrade(Impairment),
    /// Its impairments end.
    Repair,
}

impl Change {
    /// True if the link is up afterwards, false if down; `None` if that does not change.
    pub fn is_up(self) -> Option<bool> {
        match self {
            Change::Fail => Some(false),
            Change::Recover => Some(true),
            Change::Degrade(_) | Change::Repair => None,
        }
    }
}

/// Impairments of a link. `None` leaves what was before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Impairment {
    /// Its rate.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate: Option<Rate>,
    /// Its propagation delay.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delay: Option<Time>,
    /// Probability with which it loses a packet.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub loss: Option<Share>,
    /// Share of flows of which it loses every packet.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub blackhole: Option<Share>,
}

/// A share of all, 0 to 1, in steps of 2^-32.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Share(u64);

impl Share {
    const ALL: f64 = (1u64 << 32) as f64;

    /// The share; `None` of a number that is not from 0 to 1.
    pub fn new(share: f64) -> Option<Share> {
        (0.0..=1.0).contains(&share).then_some(Share((share * Share::ALL + 0.5) as u64))
    }

    /// True for this share of all numbers.
    pub fn holds(self, number: u32) -> bool {
        u64::from(number) < self.0
    }

    /// As a number from 0 to 1.
    pub fn get(self) -> f64 {
        self.0 as f64 / Share::ALL
    }
}

impl Serialize for Share {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_f64(self.get())
    }
}
