//! The daemon: loads the programs, fills their maps, and then follows links and routes and sends
//! probes, without a capability.

mod error;
mod neighbours;
mod postcards;
mod probes;
mod state;

pub use error::DaemonError;
pub use state::State;

use std::path::Path;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use heddle_daemon::socket::{self, Listener};
use heddle_daemon::supervisor::{Supervised, supervise};
use heddle_daemon::{http, notify, privilege, signals};
use heddle_program::Failure;
use heddle_switch_maps::Originator;
use tokio::net::TcpListener;
use tokio::sync::{mpsc, watch};
use tokio::time::{MissedTickBehavior, interval, sleep_until};

use crate::admin::{self, Answer, Message, Request};
use crate::config::{self, Config, Routes};
use crate::kernel::{self, Fib, upper};
use crate::status::Status;
use crate::{devices, explain, metrics};
use postcards::Postcards;
use probes::Probes;

/// Runs until SIGTERM or SIGINT. Then the programs stay attached and forward with the maps as they
/// are; the next daemon takes over.
///
/// # Errors
/// A configuration that is wrong, and [`DaemonError`] if it cannot start. Later failures are
/// logged.
pub async fn run(path: &Path) -> Result<(), Failure> {
    let config = config::read(path)?;
    config.warnings().iter().for_each(|warning| tracing::warn!("{warning}"));
    let reserved = socket::reserve(&config.admin).map_err(DaemonError::Admin)?;
    let metrics = bind_metrics(&config)?;
    // SIGTERM is not caught until then: the kernel ends a daemon while it verifies the programs.
    let mut state = start(config).await?;
    let mut end = pin!(signals::end()?);
    // Opened as long as there are capabilities.
    let originator = originator(&state)?;
    let mut postcards = postcards(&mut state)?;
    // Needs a process with one thread; from here on there may be more.
    privilege::drop_all_but(privilege::RUNNING)?;
    let listener = Arc::new(reserved.listen().map_err(DaemonError::Admin)?);
    let probes = originator.map(|program| start_probes(program, &state.config)).transpose()?;
    let (to, mut changes) = watch::channel(state.devices.clone());
    let names = state.device_names();
    let _watcher = supervise("links", move || devices::watch(names.clone(), to.clone()));
    let (_routes, mut tables) = follow_routes(&state.config);
    let mut retry = interval(neighbours::RETRY);
    retry.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let (to_task, mut requests) = mpsc::channel(REQUEST_QUEUE);
    let mut look = interval(postcards::PERIOD);
    look.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let _servers = servers(&listener, metrics, &to_task);
    tracing::info!(node = state.config.node, scheme = %state.config.scheme.scheme, "the switch runs");
    notify::ready();
    loop {
        let converges = state.converges_at();
        tokio::select! {
            () = &mut end => break,
            Some((request, back)) = requests.recv() => {
                // Who has asked may be gone.
                let _ = back.send(answer(&mut state, probes.as_ref(), request));
            }
            Ok(()) = changes.changed() => {
                let found = changes.borrow_and_update().clone();
                state.follow(found);
            }
            Ok(()) = tables.changed() => {
                let found = tables.borrow_and_update().clone();
                state.follow_kernel(found);
            }
            _ = retry.tick(), if !state.towards.unresolved.is_empty() => {
                neighbours::resolve(state.unresolved()).await;
            }
            _ = look.tick(), if postcards.is_some() => {
                postcards.iter_mut().for_each(Postcards::write);
            }
            () = sleep_until(converges.unwrap_or_else(far)), if converges.is_some() => state.converge(),
        }
    }
    postcards.iter_mut().for_each(Postcards::write);
    if let Some(probes) = probes {
        tracing::info!(sent = probes.sent(), failed = probes.failed(), "the last probes are sent");
    }
    notify::stopping();
    tracing::info!("the daemon stops; the programs go on with the maps as they are");
    Ok(())
}

/// Warns if the kernel does not forward: it then drops all packets that the program passes to it, those for
/// this ToR's hosts included.
fn warn_of_forwarding() {
    let forwards = std::fs::read_to_string("/proc/sys/net/ipv4/ip_forward");
    if forwards.is_ok_and(|value| value.trim() == "0") {
        tracing::warn!(
            "the kernel drops packets that the program passes to it, as those for hosts here: sysctl -w net.ipv4.ip_forward=1"
        );
    }
}

/// The kernel's tables, if routes come from there; nothing else ever.
fn follow_routes(config: &Config) -> (Option<Supervised>, watch::Receiver<Fib>) {
    let (to, tables) = watch::channel(Fib::default());
    let Routes::Kernel(routes) = &config.routes else { return (None, tables) };
    let routes = routes.clone();
    let watcher = supervise("routes", move || kernel::watch(routes.clone(), to.clone()));
    (Some(watcher), tables)
}

/// The length of the queue of requests.
const REQUEST_QUEUE: usize = 32;

fn bind_metrics(config: &Config) -> Result<Option<std::net::TcpListener>, DaemonError> {
    let Some(address) = config.metrics else { return Ok(None) };
    http::bind(address).map(Some).map_err(|error| DaemonError::Metrics { address, error })
}

/// The servers for requests; one that fails starts again on the same socket.
fn servers(
    listener: &Arc<Listener>,
    metrics: Option<std::net::TcpListener>,
    to: &mpsc::Sender<Message>,
) -> Vec<Supervised> {
    let (listener, answers) = (Arc::clone(listener), to.clone());
    let serve = move || admin::serve(Arc::clone(&listener), answers.clone());
    let mut servers = vec![supervise("admin socket", serve)];
    if let Some(socket) = metrics {
        let answers = to.clone();
        servers.push(supervise("metrics", move || {
            let (socket, answers) = (socket.try_clone(), answers.clone());
            async move {
                metrics::serve(TcpListener::from_std(socket?)?, answers).await;
                Ok::<(), std::io::Error>(())
            }
        }));
    }
    servers
}

/// The answer to a request.
fn answer(state: &mut State, probes: Option<&Probes>, request: Request) -> Answer {
    let refused = |error: heddle_switch_maps::Error| Answer::Refused(error.to_string());
    let sent = probes.map_or((0, 0), |probes| (probes.sent(), probes.failed()));
    match request {
        Request::Status => {
            Status::read(state, sent).map_or_else(refused, |status| Answer::Status(status.into()))
        }
        Request::Explain(packet) => {
            explain::explain(state, &packet).map_or_else(refused, Answer::Explained)
        }
        Request::Link { ends, up } => {
            state.report(&ends, up).map_or_else(Answer::Refused, Answer::Links)
        }
    }
}

/// The program that sends probes, if this switch has some of its own.
fn originator(state: &State) -> Result<Option<Originator>, DaemonError> {
    let has_probes = state.config.tor.is_some() && state.config.scheme.scheme.has_probes();
    Ok(has_probes.then(|| state.switch.originator()).transpose()?)
}

/// The writer of postcards, if packets have some.
fn postcards(state: &mut State) -> Result<Option<Postcards>, DaemonError> {
    let cards = state.switch.postcards.take();
    let Some((cards, sample)) = cards.zip(state.config.postcards.as_ref()) else {
        return Ok(None);
    };
    Postcards::open(cards, sample, &state.config).map(Some)
}

fn start_probes(program: Originator, config: &Config) -> Result<Probes, DaemonError> {
    let period = Duration::from_nanos(config.scheme.mp_hula.hula.probe_period);
    let header = match config.probe_protocol {
        None => probes::Header::Ethernet,
        Some(protocol) => {
            let source = config.icmp_source.0.unwrap_or(std::net::Ipv4Addr::UNSPECIFIED);
            probes::Header::Ipv4 { protocol, source }
        }
    };
    let frame = probes::frame(config.tor.unwrap_or(0), header);
    Probes::start(program, frame, period).map_err(DaemonError::Probes)
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
    let fib = match &config.routes {
        Routes::Fabric(_) => Fib::default(),
        Routes::Kernel(routes) => {
            warn_of_forwarding();
            let uppers = upper::read(&names).await.map_err(DaemonError::Netlink)?;
            upper::warnings(&config, &uppers)
                .iter()
                .for_each(|warning| tracing::warn!("{warning}"));
            kernel::read(routes).await.map_err(DaemonError::Routes)?
        }
    };
    State::start(config, devices, fib)
}
