//! Traces: packets in, where they go and what is counted, on the real programs.

mod access;
mod churn;
mod closed;
mod closing;
mod explain;
mod failing;
mod forged;
mod fragments;
mod full;
mod groups;
mod hashes;
mod heartbeats;
mod icmp;
mod joins;
mod learning;
mod modes;
mod plain;
mod ports;
mod quic;
mod registrations;
mod silent;
mod steering;
mod strangers;
mod used_again;
mod verdicts;
mod vlan;
pub mod world;
