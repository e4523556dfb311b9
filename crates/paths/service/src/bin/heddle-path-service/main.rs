//! `heddle-path-service`: the path service as a program, which `heddle path serve` runs.

mod args;

use std::io;
use std::net::SocketAddr;
use std::path::Path;
use std::process::ExitCode;

use anyhow::Context as _;
use args::{Action, Serve};
use heddle_daemon::signals;
use heddle_path_files::{files, network, secrets};
use heddle_path_service::{Bound, Clock, Limits, Options, ServeError, TlsFiles, Tokens};
use heddle_program::{Common, Failure, output};
use serde_json::json;
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::{Layer as _, layer::SubscriberExt as _, util::SubscriberInitExt as _};

fn main() -> ExitCode {
    let cli = args::parse();
    let run = || match &cli.action {
        Action::Generate(generate) => generate.run(args::command(), &[]),
        Action::Serve(args) => serve(args, &cli.common),
    };
    heddle_program::exit(
        run().map(|()| ExitCode::SUCCESS),
        &cli.common,
        heddle_path_files::describe,
    )
}

fn serve(args: &Serve, common: &Common) -> Result<(), Failure> {
    let network = network::with_key(&args.fabric, &files::fabric(&args.fabric.fabric)?)?;
    let options = options(args)?;
    start_log(args.log.clone(), common);
    let mut builder = tokio::runtime::Builder::new_multi_thread();
    if let Some(jobs) = common.jobs.map(usize::from) {
        builder.worker_threads(jobs);
    }
    let runtime = builder.enable_all().build().context("the service cannot be started")?;
    runtime.block_on(async {
        let stop = signals::end().context("signals cannot be caught")?;
        let secured = Secured { tls: options.tls.is_some(), tokens: !options.tokens.is_open() };
        let ready = move |bound: Bound| announce(bound, secured, common);
        heddle_path_service::serve(network, options, stop, ready).await.map_err(failed)
    })
}

/// Protections of the service.
#[derive(Clone, Copy, Debug)]
struct Secured {
    tls: bool,
    tokens: bool,
}

fn options(args: &Serve) -> Result<Options, Failure> {
    let limits = Limits {
        lease: args.lease,
        longest_lease: args.longest_lease,
        connections: args.connections.get(),
        ..Limits::default()
    };
    let (grpc, http) = (args.grpc.0, args.http.0);
    let (state, first_connection) = (args.state.clone(), heddle_path_service::epoch());
    let scheduler = args.scheduler.into();
    let files = args.tls_certificate.clone().zip(args.tls_key.clone());
    let tls = files.map(|(certificate, key)| TlsFiles { certificate, key });
    let tokens = args.token_file.as_deref().map(tokens).transpose()?.unwrap_or_default();
    let clock = Clock::default();
    Ok(Options { grpc, http, scheduler, limits, clock, first_connection, state, tls, tokens })
}

/// The tokens of a file that only its owner can read.
fn tokens(path: &Path) -> Result<Tokens, Failure> {
    let text =
        secrets::read(path, "write one token a line, as of `openssl rand -hex 32`, and chmod 600")?;
    Tokens::parse(&text).map_err(|error| {
        Failure::advised(
            format!("{}: {error}", path.display()),
            "give one token a line, of 16 characters or more",
        )
    })
}

/// Sends the log to standard error.
fn start_log(targets: Option<Targets>, common: &Common) {
    let level = if common.quiet { LevelFilter::WARN } else { LevelFilter::INFO };
    let targets = targets.unwrap_or_else(|| Targets::new().with_default(level));
    let layer = tracing_subscriber::fmt::layer().with_writer(io::stderr).with_ansi(false);
    let layer = match common.json {
        true => layer.json().with_filter(targets).boxed(),
        false => layer.with_filter(targets).boxed(),
    };
    tracing_subscriber::registry().with(layer).init();
}

/// Prints the addresses of the service: for people, or as one line of JSON.
fn announce(bound: Bound, secured: Secured, common: &Common) {
    let Bound { grpc, http } = bound;
    for at in [grpc, http].into_iter().flatten().filter(|at| !at.ip().is_loopback()) {
        if !secured.tokens {
            tracing::warn!(%at, "there is no authentication: every host that reaches this address can hold paths (--token-file)");
        } else if !secured.tls {
            tracing::warn!(%at, "there is no encryption: tokens can be read on the way (--tls-certificate, --tls-key)");
        }
    }
    let printed = match common.json {
        true => output::line(json!({ "grpc": grpc, "http": http })),
        false => output::line(addresses(grpc, http, secured)),
    };
    if printed.is_err() {
        tracing::warn!("standard output is closed");
    }
}

fn addresses(grpc: Option<SocketAddr>, http: Option<SocketAddr>, secured: Secured) -> String {
    let (with, scheme) = if secured.tls { (" (TLS)", "https") } else { ("", "http") };
    let grpc = grpc.map(|at| format!("gRPC at {at}{with}"));
    let http = http.map(|at| format!("HTTP at {scheme}://{at}"));
    grpc.into_iter().chain(http).collect::<Vec<_>>().join("\n")
}

fn failed(error: ServeError) -> Failure {
    let message = error.to_string();
    match error {
        ServeError::NothingOn => Failure::usage(message, "leave one of --grpc and --http on"),
        ServeError::Listen { .. } => Failure::advised(
            message,
            "give another address with --grpc or --http; port 0 takes a free one",
        ),
        ServeError::State(_) => Failure::advised(
            message,
            "give a file in a folder that can be written with --state, or leave it out",
        ),
        ServeError::Tls(_) => Failure::advised(
            message,
            "give PEM files: the certificate with --tls-certificate, its private key with --tls-key",
        ),
        ServeError::Grpc(_) => error.into(),
    }
}
