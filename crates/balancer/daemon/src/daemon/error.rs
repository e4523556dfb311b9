//! The daemon's errors.

use std::path::PathBuf;

use heddle_daemon::pin_lock::PinLockError;

use super::apply::ReplaceError;
use crate::config::{ConfigError, Mistakes, SecretError};
use crate::devices::DeviceError;
use crate::{admin, plan, privilege};

/// The reasons why a balancer cannot be set up, or changed.
#[derive(Debug, thiserror::Error)]
pub enum CoreError {
    /// The data plane.
    #[error(transparent)]
    DataPlane(#[from] heddle_balancer_maps::Error),
    /// The data plane, which was to be changed as a whole.
    #[error(transparent)]
    Replace(#[from] ReplaceError),
    /// The folder of pins is not this daemon's.
    #[error(transparent)]
    Pins(#[from] PinLockError),
    /// The secret.
    #[error(transparent)]
    Secret(#[from] SecretError),
    /// No randomness for the tables' seed.
    #[error("the system gives no random numbers: {0}")]
    Random(String),
    /// More is configured than maps have room for.
    #[error(transparent)]
    Full(#[from] plan::Full),
}

/// The reasons why the daemon cannot start, or has to stop.
#[derive(Debug, thiserror::Error)]
pub enum DaemonError {
    /// The configuration cannot be read.
    #[error("cannot read {}: {error}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The system's error.
        error: std::io::Error,
    },
    /// The configuration is wrong.
    #[error(transparent)]
    Config(#[from] Mistakes),
    /// The balancer cannot be set up.
    #[error(transparent)]
    Core(#[from] CoreError),
    /// An interface.
    #[error(transparent)]
    Device(#[from] DeviceError),
    /// The admin socket.
    #[error(transparent)]
    Admin(#[from] admin::BindError),
    /// The address for metrics.
    #[error("cannot serve metrics at {address}: {error}")]
    Metrics {
        /// The address.
        address: std::net::SocketAddr,
        /// The system's error.
        error: std::io::Error,
    },
    /// The sockets of `health.through`.
    #[error(
        "cannot open sockets for health.through = \"forwarding\": {0}\nhelp: they need CAP_NET_RAW at the start"
    )]
    Probes(std::io::Error),
    /// Privileges cannot be given up.
    #[error(transparent)]
    Privilege(#[from] privilege::PrivilegeError),
    /// The system.
    #[error(transparent)]
    Io(#[from] std::io::Error),
}

impl DaemonError {
    /// The messages: one for each mistake of the configuration, or one alone.
    pub fn messages(&self) -> Vec<String> {
        match self {
            DaemonError::Config(Mistakes(all)) if !all.is_empty() => {
                all.iter().map(ConfigError::to_string).collect()
            }
            error => vec![error.to_string()],
        }
    }
}
