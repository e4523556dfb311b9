//! Rust types of what the switch's programs share with user space: bpf/switch/abi.h, switch_abi.h
//! and the schemes' tables, where comments say more.
#![allow(missing_docs)] // Not all names in the headers need a comment.
#![allow(clippy::all)] // Made by bindgen.
#![allow(unsafe_code)] // aya wants to be told which types are plain old data.

use heddle_bpf_loader::plain_old_data;

pub use heddle_bpf_loader::abi::{Address, Count};

include!(concat!(env!("OUT_DIR"), "/abi.rs"));

plain_old_data! {
    BestHop CflbConstants Flowlet HopTable KeyEntry MappingRow NextHops PortMeter Postcard SchemeCounters SubflowEntry SwitchConfig
    SwitchDestination SwitchPort
}
