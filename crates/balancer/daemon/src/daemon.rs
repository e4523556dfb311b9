//! The daemon: one task that handles events and requests, and keeps the maps as they should be.
//!
//! Health checks, other balancers, next hops, reloads, admin requests and scrapes all come as
//! messages; between two of them nothing changes. So nothing is locked, and a test can look at a
//! [`Core`] from outside. Packets never wait for any of this.

mod answers;
mod apply;
mod core;
mod error;
mod event_sources;
mod explain;
mod fresh_pins;
mod handle;
mod health;
mod key_supply;
mod lifetimes;
mod message;
mod names;
mod reload;
mod shared;
mod snapshot;
mod state;
mod tables;
#[cfg(test)]
mod testing;

pub use self::core::Core;
pub use apply::ReplaceError;
pub use error::{CoreError, DaemonError};
pub use handle::Handle;

use std::path::PathBuf;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use heddle_balancer_maps::Mode;
use heddle_daemon::{http, notify, signals};
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc;
use tokio::time::{MissedTickBehavior, interval};

use crate::health::forwarding::Sockets;
use crate::heartbeat::RealTime;
use crate::{admin, devices, metrics, privilege};
use event_sources::{Event, EventSources};

/// The time after which the plan is made anew without an event, since indices of removed targets
/// expire.
const EXPIRY_INTERVAL: Duration = Duration::from_secs(5);
/// The time between two looks at what a balancer that starts still waits for.
const STARTING_INTERVAL: Duration = Duration::from_millis(50);
/// The longest wait for the next hops of all backends before the program is attached.
const RESOLVE_TIMEOUT: Duration = Duration::from_secs(2);
/// The length of the queue of requests.
const REQUEST_QUEUE: usize = 32;

/// The daemon's command line.
#[derive(Clone, Debug)]
pub struct Options {
    /// The configuration file.
    pub config: PathBuf,
    /// The mode in which the program is attached.
    pub mode: Mode,
}

/// Runs until SIGTERM or SIGINT. Then the program stays attached and works with the maps as they
/// are; the next daemon takes over. SIGHUP reloads the configuration.
///
/// # Errors
/// [`DaemonError`] if it cannot start. Later failures are logged.
pub async fn run(options: Options) -> Result<(), DaemonError> {
    // Before anything else: a reload must not kill a daemon that is starting.
    let mut hangup = signal(SignalKind::hangup())?;
    let config = reload::read(&options.config)?;
    let devices = devices::find(&config.balancer.interfaces, options.mode).await?;
    let listener = admin::bind(&config.balancer.admin)?;
    let metrics = bind_metrics(&config)?;
    // SIGTERM is not caught until now: the kernel ends a daemon while it verifies the programs.
    let mut core = Core::start(config, &options)?;
    let mut end = pin!(signals::end()?);
    // Opened as long as there are capabilities.
    let peer_states = core.peer_states()?;
    let fragments = core.fragments()?;
    let probes = open_probes(core.config())?;
    core.can_probe_forwarding = probes.is_some();
    let mut sources = EventSources::new(core.config(), options.mode, probes);
    tokio::select! {
        () = &mut end => return Ok(()),
        () = resolve_next_hops(&mut core, &mut sources) => {}
    }
    let program = core.attach(&devices)?;
    let real_time = RealTime::take().inspect_err(|error| {
        tracing::info!(%error, "heartbeats have the priority of ordinary threads");
    });
    // Needs a process with one thread; from here on there may be more.
    privilege::drop_all_but(privilege::RUNNING)?;
    sources.watch_attachment(core.config().balancer.interfaces.clone(), options.mode, program);
    sources.start_membership(core.config(), &core.state.view);
    if core.config().steering.is_some() {
        sources.start_heartbeats(peer_states)?;
    }
    drop(real_time);
    sources.start_fragments(fragments)?;
    let (to, mut messages) = mpsc::channel(REQUEST_QUEUE);
    let handle = Arc::new(Handle::new(to, event_sources::store(core.config())));
    serve(&mut sources, listener, metrics, &handle);
    let mut expiry = interval(EXPIRY_INTERVAL);
    expiry.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut starting = interval(STARTING_INTERVAL);
    let mut told = false;
    tracing::info!(name = core.config().balancer.name, "the balancer runs");
    loop {
        tokio::select! {
            () = &mut end => break,
            _ = hangup.recv() => drop(core.reload()),
            _ = expiry.tick() => {
                core.attach_again(&sources.detached());
                core.follow_shared();
            }
            _ = starting.tick(), if !core.ready => {}
            Some(message) = messages.recv() => core.handle_message(message, &sources.status()),
            event = sources.next() => take(&mut core, &mut sources, event),
        }
        core.state.note_isolation();
        let ready = core.check_ready(&sources.status());
        if ready && !told {
            notify::ready();
            told = true;
        }
        core.reconcile();
        core.supply_keys();
        sources.follow(core.config(), &core.state.view);
        sources.probe(core.probed(), core.seed());
        sources.set_ready(ready);
    }
    notify::stopping();
    tracing::info!("the daemon stops; the program goes on with the maps as they are");
    // From here on `/healthz` answers that the daemon stops.
    drop(messages);
    sources.end().await;
    Ok(())
}

/// Takes an event, and the changes of health that wait: the maps follow all of them at once.
fn take(core: &mut Core, sources: &mut EventSources, event: Event) {
    core.handle_event(event);
    sources.waiting().for_each(|event| core.handle_event(event));
}

/// Waits for the next hops of all backends, for [`RESOLVE_TIMEOUT`] at most, so that the first
/// packets have them.
async fn resolve_next_hops(core: &mut Core, sources: &mut EventSources) {
    let resolve = async {
        while core.state.macs.is_empty() || !core.state.without_next_hop().is_empty() {
            let event = sources.next().await;
            take(core, sources, event);
            core.reconcile();
            sources.follow(core.config(), &core.state.view);
        }
    };
    if tokio::time::timeout(RESOLVE_TIMEOUT, resolve).await.is_err() {
        let without = core.state.without_next_hop().join(", ");
        tracing::warn!(
            without,
            "next hops are missing; the balancer begins with those that it has"
        );
    }
}

/// The sockets of probes on the way of packets, which a reload may need, too; none without the
/// privilege, if no service needs them now.
fn open_probes(config: &crate::config::Config) -> Result<Option<Arc<Sockets>>, DaemonError> {
    match Sockets::open() {
        Ok(sockets) => Ok(Some(Arc::new(sockets))),
        Err(error) if event_sources::probes_forwarding(config) => Err(DaemonError::Probes(error)),
        Err(error) => {
            tracing::info!(%error, "no reload can bring health.through = \"forwarding\": its sockets cannot be opened");
            Ok(None)
        }
    }
}

fn bind_metrics(
    config: &crate::config::Config,
) -> Result<Option<std::net::TcpListener>, DaemonError> {
    let Some(address) = config.balancer.metrics else { return Ok(None) };
    http::bind(address).map(Some).map_err(|error| DaemonError::Metrics { address, error })
}

/// Starts the servers for requests; one that fails starts again on the same socket.
fn serve(
    sources: &mut EventSources,
    admin: admin::Listener,
    metrics: Option<std::net::TcpListener>,
    handle: &Arc<Handle>,
) {
    let (admin, answers) = (Arc::new(admin), handle.clone());
    sources.run("admin socket", move || admin::serve(admin.clone(), answers.clone()));
    let Some(metrics) = metrics else { return };
    let answers = handle.clone();
    sources.run("metrics", move || {
        let (socket, answers) = (metrics.try_clone(), answers.clone());
        async move {
            metrics::serve(TcpListener::from_std(socket?)?, answers).await;
            Ok::<(), std::io::Error>(())
        }
    });
}
