//! The capabilities that the daemon holds ([`heddle_daemon::privilege`]), tried with the balancer's
//! program.

pub use heddle_daemon::privilege::*;

#[cfg(test)]
mod tests;
