//! The balancer's daemon: what is configured, what is healthy, and the maps that say so.

pub mod admin;
pub mod config;
pub mod daemon;
pub mod health;
pub mod ids;
pub mod keys;
pub mod members;
pub mod metrics;
pub mod neighbours;
pub mod plan;
pub mod privilege;
pub mod service;
