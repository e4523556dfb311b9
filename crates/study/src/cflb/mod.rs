//! What CFLB's paper says of routers and flows that nobody steers (section 4.1): how evenly they are spread (figures 6 and 7), and what
//! a decision costs.

pub mod flows;
pub mod hashes;
pub mod mix;
pub mod pcap;
pub mod speed;
pub mod spread;
