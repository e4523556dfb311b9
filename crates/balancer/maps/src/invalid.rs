//! Sources that no client has (bpf/balancer/invalid.h).

use crate::abi::{Address, Settings};

impl Settings {
    /// The bit of an address in [`Settings::service_bits`], which hold those of all services. A
    /// source without its bit there is looked up nowhere.
    pub fn source_bit(address: Address) -> u64 {
        let mixed = (address.high ^ address.low).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        1 << (mixed >> 58)
    }
}
