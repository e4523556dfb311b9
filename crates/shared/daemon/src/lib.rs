//! The parts that Heddle's daemons have in common: logs, capabilities, rtnetlink, facts about interfaces, a Unix socket of their own, and tasks that start again.

pub mod links;
pub mod log;
pub mod mac;
pub mod netlink;
pub mod privilege;
pub mod socket;
pub mod supervisor;
