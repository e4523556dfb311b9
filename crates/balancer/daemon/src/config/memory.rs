//! The memory that the maps take.

use std::fmt;

use heddle_balancer_maps::Sizes;
use heddle_balancer_maps::abi::{FlowBucket, MAGLEV_STRIDE, TokenBucket};

/// Bytes of the large maps. Taken from the kernel when the daemon starts, whether used or not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Memory {
    /// The flow table, with the ticks at which its buckets overflowed.
    pub flows: u64,
    /// The token table.
    pub tokens: u64,
    /// The Maglev tables.
    pub maglev: u64,
}

impl Memory {
    /// The memory of maps of these sizes.
    pub fn of(sizes: &Sizes) -> Memory {
        let bytes = |count: u32, size: usize| u64::from(count) * size as u64;
        let flows = sizes.flow_buckets();
        Memory {
            flows: bytes(flows.all(), size_of::<FlowBucket>())
                + bytes(flows.main, size_of::<u32>()),
            tokens: bytes(sizes.token_buckets().all(), size_of::<TokenBucket>()),
            maglev: bytes(sizes.maglev_tables, 4) * u64::from(MAGLEV_STRIDE),
        }
    }

    /// Total bytes.
    pub fn total(&self) -> u64 {
        self.flows + self.tokens + self.maglev
    }
}

/// As in `83 MiB (flows 45, tokens 22, Maglev tables 16)`.
impl fmt::Display for Memory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mib = |bytes: u64| (bytes + (1 << 19)) >> 20;
        write!(
            f,
            "{} MiB (flows {}, tokens {}, Maglev tables {})",
            mib(self.total()),
            mib(self.flows),
            mib(self.tokens),
            mib(self.maglev),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 360448 buckets of 128 and of 64 bytes, a word for each of 262144, 4 tables of 65538 words.
    #[test]
    fn a_million_flows_and_tokens() {
        let sizes = Sizes { maglev_tables: 4, ..Sizes::default() };
        let memory = Memory::of(&sizes);
        assert_eq!(memory, Memory { flows: 47_185_920, tokens: 23_068_672, maglev: 1_048_608 });
        assert_eq!(memory.to_string(), "68 MiB (flows 45, tokens 22, Maglev tables 1)");
    }
}
