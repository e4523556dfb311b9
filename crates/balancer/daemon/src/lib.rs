//! The balancer's daemon: configuration, health checks, membership, and the maps that follow them.

pub mod admin;
pub mod attachment;
pub mod config;
pub mod daemon;
pub mod devices;
pub mod fragments;
pub mod generic;
pub mod health;
pub mod heartbeat;
pub mod hex;
pub mod ids;
pub mod key_pool;
pub mod links;
pub mod members;
pub mod metrics;
pub mod mtu;
pub mod neighbours;
pub mod offloads;
pub mod plan;
pub mod private_file;
pub mod privilege;
pub mod service;
pub mod shared;
pub mod vlan;

pub use heddle_daemon::{log, mac};
use heddle_daemon::{netlink, supervisor};
