//! The daemon: loads the programs, fills their maps, and then follows links and sends probes, without a capability.

mod error;
mod probes;
mod state;

pub use error::DaemonError;
pub use state::State;

use std::path::Path;
use std::time::Duration;

use heddle_daemon::privilege;
use heddle_daemon::supervisor::supervise;
use heddle_program::Failure;
use heddle_switch_maps::Originator;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;
use tokio::time::sleep_until;

use crate::config::{self, Config};
use crate::devices;
use probes::Probes;

/// Runs until SIGTERM or SIGINT. Then the programs stay attached and forward with the maps as they are; the next daemon takes over.
///
/// # Errors
/// A configuration that is wrong, and [`DaemonError`] if it cannot start. Later failures are logged.
pub async fn run(path: &Path) -> Result<(), Failure> {
    // Before anything else: a signal must not kill a daemon that is starting.
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    let config = config::read(path)?;
    let mut state = start(config).await?;
    // Opened as long as there are capabilities.
    let originator = originator(&state)?;
    // Needs a process with one thread; from here on there may be more.
    privilege::drop_all_but(privilege::RUNNING)?;
    let probes = originator.map(|program| start_probes(program, &state.config)).transpose()?;
    let (to, mut changes) = watch::channel(state.devices.clone());
    let names = state.device_names();
    let _watcher = supervise("links", move || devices::watch(names.clone(), to.clone()));
    tracing::info!(node = state.config.node, scheme = %state.config.scheme.scheme, "the switch runs");
    loop {
        let converges = state.converges_at();
        tokio::select! {
            _ = terminate.recv() => break,
            _ = interrupt.recv() => break,
            Ok(()) = changes.changed() => {
                let found = changes.borrow_and_update().clone();
                state.follow(found);
            }
            () = sleep_until(converges.unwrap_or_else(far)), if converges.is_some() => state.converge(),
        }
    }
    if let Some(probes) = probes {
        tracing::info!(sent = probes.sent(), failed = probes.failed(), "the last probes are sent");
    }
    tracing::info!("the daemon stops; the programs go on with the maps as they are");
    Ok(())
}

/// The program that sends probes, if this switch has some of its own.
fn originator(state: &State) -> Result<Option<Originator>, DaemonError> {
    let is_tor = state.config.switch < state.config.fabric.tors;
    let has_probes = is_tor && state.config.scheme.scheme.has_probes();
    Ok(has_probes.then(|| state.switch.originator()).transpose()?)
}

fn start_probes(program: Originator, config: &Config) -> Result<Probes, DaemonError> {
    let period = Duration::from_nanos(config.scheme.mp_hula.hula.probe_period);
    Probes::start(program, config.switch as u16, period).map_err(DaemonError::Probes)
}

/// A time that is not waited for.
fn far() -> tokio::time::Instant {
    tokio::time::Instant::now()
}

/// Loads the programs, fills the maps, and attaches.
async fn start(config: Config) -> Result<State, DaemonError> {
    let names: Vec<String> = config.ports.iter().map(|port| port.device.clone()).collect();
    let devices = devices::read(&names).await.map_err(DaemonError::Netlink)?;
    if let Some(name) = names.iter().find(|name| !devices.contains_key(*name)) {
        return Err(DaemonError::NoDevice(name.clone()));
    }
    State::start(config, devices)
}
