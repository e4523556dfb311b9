//! The bytes of flows: a fixed pattern, entered at a place that follows from the flow's number, so
//! that bytes out of place show.

/// Length of the pattern, a prime: bytes shifted by a segment, a window or a page differ.
const PERIOD: usize = 65_521;

/// Most bytes of one write or comparison.
pub(super) const CHUNK: usize = 32 * 1024;

/// The pattern, long enough for a chunk from any place in it.
pub(super) struct Pattern(Vec<u8>);

impl Pattern {
    pub(super) fn new() -> Pattern {
        let mut state = 0x2545_f491_4f6c_dd1d_u64;
        let next = move |_| {
            // Marsaglia's xorshift64.
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state as u8
        };
        let mut bytes: Vec<u8> = (0..PERIOD).map(next).collect();
        bytes.extend_from_within(..CHUNK);
        Pattern(bytes)
    }

    /// The bytes of a flow from `offset` on, at most `length` and at most a chunk.
    pub(super) fn at(&self, flow: u64, offset: u64, length: u64) -> &[u8] {
        let start = (flow.wrapping_mul(7919).wrapping_add(offset) % PERIOD as u64) as usize;
        &self.0[start..start + length.min(CHUNK as u64) as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_of_a_flow_continue_each_other() {
        let pattern = Pattern::new();
        let whole: Vec<u8> =
            (0..4).flat_map(|i| pattern.at(5, i * 30_000, 30_000).to_vec()).collect();
        assert_eq!(whole.len(), 120_000);
        assert_eq!(&whole[65_000..70_000], pattern.at(5, 65_000, 5_000));
    }

    #[test]
    fn shifted_bytes_and_other_flows_differ() {
        let pattern = Pattern::new();
        assert_ne!(pattern.at(5, 0, 1000), pattern.at(5, 1460, 1000));
        assert_ne!(pattern.at(5, 0, 1000), pattern.at(6, 0, 1000));
        assert_eq!(pattern.at(5, 0, u64::MAX).len(), CHUNK);
    }
}
