//! Synthetic traces: the same from the same seed, on every machine.
//!
//! The paper's trace (CAIDA, an OC-192 link at San Jose, July 2008) may not be passed on, so its
//! load is assumed:
//!
//! - [`RATE`] packets a second (at 600 to 700 bytes each 1.5 Gbps of the link's 10); 10 million
//!   packets last 33 s.
//! - Flows arrive as a Poisson process. Their sizes in packets follow a bounded Pareto
//!   distribution, shape 1.1: heavy-tailed, as in every study of backbones. The mean of 19 makes 15
//!   500 new flows a second.
//! - A flow's packets are a Poisson process too, at 10 to 1000 packets a second, evenly on a
//!   logarithmic scale, or faster where the flow would last longer than [`LONGEST`]: large flows
//!   are fast ones (Zhang et al., SIGCOMM 2002).
//! - The largest flows have 20 000 packets, a fifth to a third of a percent of the link. They are
//!   what makes shares uneven whatever the hash; this bound is chosen so that MD5 over four links
//!   stays about as even as in figure 7a (22 to 28 %).
//! - Reported packets begin [`LONGEST`] after the first flow, when as many flows end as begin.
//!
//! A packet's TTL is its source's. Sizes, rates and times are alike in all mixes (but
//! [`Mix::OnePair`] has fewer and larger flows, for want of ports); headers are what differs.

mod headers;
mod packets;
mod random;

use serde::Serialize;

pub use packets::{LONGEST, Packets, RATE};

/// Whose packets they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mix {
    /// A backbone link of 2008, both halves of its connections: clients and servers in many
    /// prefixes, ephemeral ports on one side, few well-known ones on the other.
    Backbone,
    /// 256 hosts of 10.0.0.0/16 among themselves, few server ports.
    DataCentre,
    /// Two hosts, one server port, source ports in order: the hard case. The TTL is 59, as four or
    /// five routers leave of 64; it is L - 1 modulo the L of B = 3, so that routers read the digit
    /// that is too often 0 as published.
    OnePair,
    /// Every bit random: the control.
    Random,
}

impl Mix {
    /// All of them.
    pub const ALL: [Mix; 4] = [Mix::Backbone, Mix::DataCentre, Mix::OnePair, Mix::Random];

    /// As figures and files have it.
    pub const fn name(self) -> &'static str {
        match self {
            Mix::Backbone => "backbone",
            Mix::DataCentre => "data-centre",
            Mix::OnePair => "one-pair",
            Mix::Random => "random",
        }
    }

    /// The first `count` packets of a seed's trace, in order of time. Memory grows with the flows,
    /// not with the packets.
    pub fn packets(self, seed: u64, count: u64) -> Packets {
        Packets::new(self, seed, count)
    }
}

#[cfg(test)]
mod tests;
