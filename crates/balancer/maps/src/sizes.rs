//! The sizes of the balancer's maps.

use crate::abi::{BUCKET_ENTRIES, FRAGMENT_WAYS};

/// A balancer's capacities. Maps do not grow: their memory is allocated when they are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sizes {
    /// Flows at least; the table has between this and twice as many places, of 32 bytes, and a word
    /// for each main bucket.
    pub flows: u32,
    /// Extra buckets of both tables, in eighths of the main ones: 0 to 8.
    pub extra_eighths: u32,
    /// MPTCP tokens at least; the table has between this and twice as many places, of 16 bytes.
    pub tokens: u32,
    /// Entries of the VIP table: addresses with port and protocol, and addresses alone.
    pub vips: u32,
    /// Services: their numbers are from 1 to this.
    pub services: u32,
    /// Maglev tables, of 256 KiB each.
    pub maglev_tables: u32,
    /// Backends and other balancers, [`crate::abi::NO_TARGET`] included.
    pub targets: u32,
    /// Other balancers' addresses.
    pub peers: u32,
    /// Handshakes under way with the addresses and ports of live flows.
    pub candidates: u32,
    /// Joins of one token from one address, counted.
    pub join_counts: u32,
    /// Prefixes of sources that may use a service, or may not.
    pub access_rules: u32,
    /// Source prefixes whose connections are counted.
    pub access_sources: u32,
    /// Fragmented packets under way: of settled flows so many, rounded up to a power of two, and as
    /// many of others.
    pub fragments: u32,
    /// Connections with a key of the balancer's (`mptcp = "assign"`).
    pub assigned: u32,
    /// Keys made ahead (`mptcp = "assign"`).
    pub ready_keys: u32,
}

impl Default for Sizes {
    /// A million connections.
    fn default() -> Self {
        Self {
            flows: 1 << 20,
            extra_eighths: 3,
            tokens: 1 << 20,
            vips: 1024,
            services: 255,
            maglev_tables: 64,
            targets: 4096,
            peers: 256,
            candidates: 8192,
            join_counts: 16384,
            access_rules: 16384,
            access_sources: 16384,
            fragments: 32_768,
            assigned: 65536,
            ready_keys: 4096,
        }
    }
}

impl Sizes {
    /// A few thousand flows and one service or two: tests.
    pub fn small() -> Self {
        Self {
            flows: 4096,
            tokens: 4096,
            fragments: 4096,
            services: 15,
            maglev_tables: 4,
            ..Self::default()
        }
    }

    /// The flow table's buckets.
    pub fn flow_buckets(&self) -> Buckets {
        Buckets::holding(self.flows, self.extra_eighths)
    }

    /// The buckets of each table of fragments: a power of two.
    pub fn fragment_buckets(&self) -> u32 {
        (self.fragments.max(64) / FRAGMENT_WAYS).next_power_of_two()
    }

    /// The token table's buckets.
    pub fn token_buckets(&self) -> Buckets {
        Buckets::holding(self.tokens, self.extra_eighths)
    }
}

/// A table's buckets: the main ones, and behind them the extra ones that full main buckets use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Buckets {
    /// A power of two.
    pub main: u32,
    /// Some eighths of `main`.
    pub extra: u32,
}

impl Buckets {
    /// The least main buckets with which there is a place for `entries`.
    pub fn holding(entries: u32, extra_eighths: u32) -> Self {
        let extra_eighths = extra_eighths.min(8);
        let places = u64::from(BUCKET_ENTRIES * (8 + extra_eighths));
        let main = (u64::from(entries) * 8).div_ceil(places) as u32;
        let main = main.next_power_of_two().max(8);
        Self { main, extra: main / 8 * extra_eighths }
    }

    /// Main and extra ones.
    pub fn all(&self) -> u32 {
        self.main + self.extra
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_has_places_for_what_is_asked_and_less_than_double() {
        for flows in [50, 4096, 65_536, 1 << 20, 3_000_000, 100_000_000] {
            let buckets = Buckets::holding(flows, 3);
            let places = u64::from(buckets.all()) * u64::from(BUCKET_ENTRIES);
            assert!(buckets.main.is_power_of_two());
            assert_eq!(buckets.extra * 8, buckets.main * 3);
            assert!(
                places >= flows.into() && places < 2 * u64::from(flows) + 44,
                "{flows}: {places}"
            );
        }
        assert_eq!(Buckets::holding(u32::MAX, 3).main, 1 << 30);
    }

    #[test]
    fn a_million_flows_take_46_megabytes() {
        let buckets = Sizes::default().flow_buckets();
        assert_eq!(buckets, Buckets { main: 262_144, extra: 98_304 });
        assert_eq!(buckets.all() * 128, 46_137_344);
    }
}
