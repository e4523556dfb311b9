//! Reasons why a daemon does not start.

use heddle_fabric::FabricError;

/// A failure to start.
#[derive(Debug, thiserror::Error)]
pub enum DaemonError {
    /// The kernel refused programs or maps.
    #[error(transparent)]
    Kernel(#[from] heddle_switch_maps::Error),
    /// The folder of pins is not this daemon's.
    #[error(transparent)]
    Pins(#[from] heddle_daemon::pin_lock::PinLockError),
    /// There is no such Ethernet device in this network namespace.
    #[error(
        "there is no Ethernet device {0} here\nhelp: `ip link` lists the devices of this network namespace"
    )]
    NoDevice(String),
    /// The kernel does not tell about devices.
    #[error("the kernel does not tell about devices: {0}")]
    Netlink(std::io::Error),
    /// The kernel does not tell about routes.
    #[error(transparent)]
    Routes(#[from] crate::kernel::KernelError),
    /// The fabric cannot be routed.
    #[error(transparent)]
    Fabric(#[from] FabricError),
    /// The admin socket.
    #[error(transparent)]
    Admin(heddle_daemon::socket::BindError),
    /// The address for metrics.
    #[error(
        "cannot serve metrics at {address}: {error}\nhelp: another address or port for `metrics`"
    )]
    Metrics {
        /// The address.
        address: std::net::SocketAddr,
        /// The system's error.
        error: std::io::Error,
    },
    /// The file of postcards.
    #[error("cannot write postcards to {}: {error}", path.display())]
    Postcards {
        /// The file.
        path: std::path::PathBuf,
        /// The system's error.
        error: std::io::Error,
    },
    /// The thread that sends probes did not start.
    #[error("cannot start the thread that sends probes: {0}")]
    Probes(std::io::Error),
}
