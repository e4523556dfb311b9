//! Rust types of what the balancer's programs share with user space: bpf/include/abi.h, decap_abi.h
//! and translate_abi.h, where comments say more.
//!
//! Addresses are in network order, IPv4 mapped; ports are in network order (`u16::to_be`), other
//! numbers in the machine's. Each enum lists its values (`ALL`), names them as C does (`name`) and
//! is made of a number (`from_number`); structs hold them as numbers.
#![allow(missing_docs)] // Not all of abi.h's names need a comment.
#![allow(unsafe_code)] // aya wants to be told which types are plain old data.

pub use heddle_bpf_loader::abi::{Address, Count};
use heddle_bpf_loader::plain_old_data;

include!(concat!(env!("OUT_DIR"), "/abi.rs"));

plain_old_data! {
    AccessLimit AccessSource AssignedKey Candidate ConnectionCount ConnectionSource Flow FlowKey FragmentBucket JoinCount JoinSource PeerState Opening QuicServer Settings Subflow SubflowKey Target TargetSigns TokenEntry Trace Translation Vip VipKey
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn enums_are_made_of_their_numbers() {
        for (number, state) in FlowState::ALL.iter().enumerate() {
            assert_eq!(FlowState::from_number(number as u32), Some(*state));
        }
        assert_eq!(FlowState::from_number(8), None);
        assert_eq!(Counter::SentSyn.name(), "sent_syn");
        assert_eq!(MptcpMode::SourceIp.name(), "source_ip");
        assert_eq!(Counter::ALL.len(), Counter::ALL_COUNTERS);
        assert_eq!(Counter::FlowAdded as usize, Counter::VERDICTS);
    }
}
