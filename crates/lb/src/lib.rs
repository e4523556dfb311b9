//! The balancer's daemon: what is configured, what is healthy, and the maps that say so.

pub mod health;
