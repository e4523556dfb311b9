//! Rust types of bpf/switch/step_abi.h and of what it needs, where comments say more.
#![allow(missing_docs)] // Not all names in the headers need a comment.
#![allow(clippy::all)] // Made by bindgen.
#![allow(unsafe_code)] // bindgen clears the padding of a default.

pub use heddle_switch_maps::abi::{
    CflbConstants, CongaConfig, HulaConfig, MpHulaConfig, SchemeCounters, ShuttleConfig,
};

include!(concat!(env!("OUT_DIR"), "/abi.rs"));
