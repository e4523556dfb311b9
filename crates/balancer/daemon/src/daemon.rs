//! The daemon: what happens in the world is told to one task, which keeps the maps as they should be.
//!
//! Health checks, other balancers, next hops, reloads, admin requests and scrapes all come as messages; between two of them
//! nothing changes. So nothing is locked, and a test can look at a [`Core`] from outside. Packets never wait for any of this.

mod alive;
mod answers;
mod apply;
mod core;
mod door;
mod explain;
mod key_supply;
mod names;
mod reload;
mod snapshot;
#[cfg(test)]
mod testing;
mod wiring;

pub use self::core::{Core, CoreError};
pub use door::Door;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use heddle_balancer_maps::Mode;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc;
use tokio::time::{MissedTickBehavior, interval};

use crate::config::ConfigError;
use crate::{admin, metrics, privilege};
use wiring::Wiring;

/// How often targets' indices age, where nothing else happens.
const AGEING: Duration = Duration::from_secs(5);
/// How long the balancer looks for the ways to its backends before it begins.
const LOOKING: Duration = Duration::from_secs(2);
/// Requests that may wait.
const WAITING: usize = 32;

/// What the daemon is started with.
#[derive(Clone, Debug)]
pub struct Options {
    /// The configuration file.
    pub config: PathBuf,
    /// How the program is attached.
    pub mode: Mode,
}

/// Why the daemon could not start, or had to stop.
#[derive(Debug, thiserror::Error)]
pub enum DaemonError {
    /// The configuration cannot be read.
    #[error("cannot read {}: {error}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why not.
        error: std::io::Error,
    },
    /// It is wrong.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The balancer could not be set up.
    #[error(transparent)]
    Core(#[from] CoreError),
    /// The admin socket.
    #[error(transparent)]
    Admin(#[from] admin::BindError),
    /// The metrics' address.
    #[error("cannot serve metrics at {address}: {error}")]
    Metrics {
        /// Where.
        address: std::net::SocketAddr,
        /// Why not.
        error: std::io::Error,
    },
    /// Privileges could not be given up.
    #[error(transparent)]
    Privilege(#[from] privilege::PrivilegeError),
    /// The system.
    #[error(transparent)]
    Io(#[from] std::io::Error),
}

/// Runs until SIGTERM or SIGINT. Then the program stays attached and goes on with what the maps say; the next daemon takes over. SIGHUP
/// reads the configuration again.
///
/// # Errors
/// [`DaemonError`] if it cannot start. Later failures are logged.
pub async fn run(options: Options) -> Result<(), DaemonError> {
    // First of all: who signals a daemon that begins must not kill it.
    let (mut hangup, mut terminate) =
        (signal(SignalKind::hangup())?, signal(SignalKind::terminate())?);
    let mut interrupt = signal(SignalKind::interrupt())?;
    let config = reload::read(&options.config)?;
    let listener = admin::bind(&config.balancer.admin)?;
    let metrics = bind_metrics(&config).await?;
    let mut core = Core::start(config, &options)?;
    let (to, mut asks) = mpsc::channel(WAITING);
    let door = Arc::new(Door::new(to));
    let mut wiring = Wiring::new(core.config()).await?;
    look_around(&mut core, &mut wiring).await;
    core.attach(options.mode)?;
    privilege::drop_all_but(privilege::RUNNING)?;
    tokio::spawn(admin::serve(listener, door.clone()));
    if let Some(metrics) = metrics {
        tokio::spawn(metrics::serve(metrics, door));
    }
    let mut ageing = interval(AGEING);
    ageing.set_missed_tick_behavior(MissedTickBehavior::Delay);
    tracing::info!(name = core.config().balancer.name, "the balancer runs");
    loop {
        tokio::select! {
            _ = terminate.recv() => break,
            _ = interrupt.recv() => break,
            _ = hangup.recv() => drop(core.reload()),
            _ = ageing.tick() => {}
            Some(ask) = asks.recv() => core.take(ask, &wiring.checks()),
            news = wiring.next() => core.learn(news),
        }
        core.reconcile();
        core.supply_keys();
        wiring.follow(core.config());
    }
    tracing::info!("the daemon stops; packets go on as the maps say");
    wiring.leave().await;
    Ok(())
}

/// Finds the ways to all backends before the first packet comes, or waits no longer.
async fn look_around(core: &mut Core, wiring: &mut Wiring) {
    let look = async {
        while !core.knows_all_ways() {
            let news = wiring.next().await;
            core.learn(news);
            core.reconcile();
            wiring.follow(core.config());
        }
    };
    if tokio::time::timeout(LOOKING, look).await.is_err() {
        tracing::warn!("not all backends can be reached; the balancer begins with those that can");
    }
}

async fn bind_metrics(
    config: &crate::config::Config,
) -> Result<Option<tokio::net::TcpListener>, DaemonError> {
    let Some(address) = config.balancer.metrics else { return Ok(None) };
    let listener = tokio::net::TcpListener::bind(address).await;
    listener.map(Some).map_err(|error| DaemonError::Metrics { address, error })
}
