//! Choices with which programs are loaded.

/// The source of a balancer's time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clock {
    /// The kernel's.
    Kernel,
    /// [`crate::abi::Settings::now`]: tests and studies.
    Settings,
}

/// The senders whose outer headers are taken off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sources {
    /// The addresses in [`crate::Decap::allowed`].
    Listed,
    /// Any address: for networks where only balancers can send to the backend.
    Any,
}
