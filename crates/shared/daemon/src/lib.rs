//! The parts that Heddle's daemons have in common: logs, capabilities, rtnetlink, a Unix socket of their own, and tasks that start again.

pub mod log;
pub mod mac;
pub mod netlink;
pub mod privilege;
pub mod socket;
pub mod supervisor;
