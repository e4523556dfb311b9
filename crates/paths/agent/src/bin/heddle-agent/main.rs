//! `heddle-agent`: a host's MPTCP path manager, which `heddle agent` runs.

mod args;
mod hangup;
mod show;

use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use args::{Cli, Command, Run};
use clap::CommandFactory as _;
use heddle_agent::paths::Paths;
use heddle_agent::{Agent, Settings, admin, check, pm};
use heddle_daemon::privilege::{self, CapabilitySet};
use heddle_daemon::supervisor::supervise;
use heddle_daemon::{log, notify, signals, socket};
use heddle_path_files::{files, network};
use heddle_path_service::{Limits, Options, Service, client};
use heddle_program::{Common, Failure};
use tokio::sync::mpsc;

/// The length of the queue of requests for the status.
const REQUEST_QUEUE: usize = 8;

fn main() -> ExitCode {
    let cli: Cli = heddle_program::parse();
    let run = || match &cli.command {
        Command::Run(args) => run(args, &cli.common),
        Command::Status { admin } => show::status(admin, &cli.common),
        Command::Generate(generate) => generate.run(Cli::command(), &[]),
    };
    heddle_program::exit(
        run().map(|()| ExitCode::SUCCESS),
        &cli.common,
        heddle_path_files::describe,
    )
}

fn run(args: &Run, common: &Common) -> Result<(), Failure> {
    let format = if common.json { log::Format::Json } else { log::Format::Text };
    log::start(format, args.log_level);
    check().map_err(|unmet| Failure::advised(unmet.to_string(), unmet.help()))?;
    let service = args.fabric.as_ref().map(|_| own_service(args)).transpose()?;
    // Needs a process with one thread.
    let held = privilege::drop_all_but(CapabilitySet::NET_ADMIN).map_err(anyhow::Error::from)?;
    if !held.contains(CapabilitySet::NET_ADMIN) {
        return Err(Failure::advised(
            "it lacks the capability CAP_NET_ADMIN, which the kernel asks of path managers",
            "run it as root, or with AmbientCapabilities=CAP_NET_ADMIN in a unit; all other capabilities are dropped",
        ));
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.context("the agent cannot be started")?.block_on(follow(args, service))
}

/// The path service inside this process, of a fabric file and its key.
fn own_service(args: &Run) -> Result<Service, Failure> {
    let Some(fabric) = args.keyed_fabric() else {
        return Err(Failure::usage("no fabric file is given", "name one, or --service"));
    };
    let network = network::with_key(&fabric, &files::fabric(&fabric.fabric)?)?;
    // Its leases end with the agent, which renews them.
    let limits = Limits { lease: Duration::from_secs(3600), ..Limits::default() };
    let options = Options { limits, ..Options::default() };
    Ok(Service::new(network, &options).context("the paths cannot be kept")?)
}

async fn follow(args: &Run, own: Option<Service>) -> Result<(), Failure> {
    let stop = signals::end()?;
    hangup::outlive()?;
    let paths = match (own, args.service) {
        (Some(service), _) => Paths::Own(Arc::new(service)),
        (None, address) => {
            let address = address.unwrap_or(args::DEFAULT_SERVICE);
            let connected = client::connect(address).await.map_err(|error| {
                Failure::advised(
                    format!("no path service answers at {address}: {error}"),
                    "heddle path serve FABRIC starts one; or name the fabric file here",
                )
            })?;
            Paths::Remote(connected)
        }
    };
    let (kernel, events) = pm::open().await.context("the kernel's path manager")?;
    let settings = Settings {
        subflows: args.subflows,
        interval: args.interval,
        timeouts: args.timeouts,
        hold_down: args.hold_down,
    };
    let (to, requests) = mpsc::channel(REQUEST_QUEUE);
    let listener = Arc::new(bind(&args.admin)?);
    let _server =
        supervise("status socket", move || admin::serve(Arc::clone(&listener), to.clone()));
    tracing::info!(subflows = args.subflows, "the agent runs");
    notify::ready();
    Agent::new(kernel, paths, settings).run(events, requests, stop).await?;
    notify::stopping();
    tracing::info!("the agent stops; subflows go on as they are");
    Ok(())
}

fn bind(path: &Path) -> Result<socket::Listener, Failure> {
    socket::bind(path).map_err(|error| {
        Failure::advised(
            error.to_string(),
            "give another path with --admin, or stop the other agent",
        )
    })
}
