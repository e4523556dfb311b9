//! The lab's server and client from a shell, on any host: what they find is printed as lines of JSON.

use std::io::{self, Write};
use std::net::SocketAddr;
use std::process::ExitCode;
use std::thread;
use std::time::{Duration, Instant};

use clap::{Args, Parser, Subcommand, ValueEnum};
use heddle_lab::{Connection, Server, Transport};
use serde_json::{Value, json};

/// A server that says who it is, and clients that check each byte: over MPTCP, or TCP.
#[derive(Parser)]
#[command(version)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
    /// What the sockets speak
    #[arg(long, global = true, value_enum, default_value = "mptcp")]
    transport: Speech,
}

#[derive(Clone, Copy, ValueEnum)]
enum Speech {
    Mptcp,
    Tcp,
}

impl From<Speech> for Transport {
    fn from(speech: Speech) -> Transport {
        match speech {
            Speech::Mptcp => Transport::Mptcp,
            Speech::Tcp => Transport::Tcp,
        }
    }
}

#[derive(Subcommand)]
enum Command {
    /// Serve downloads, uploads and pings on all addresses
    Serve {
        /// What clients are told of who answered
        #[arg(long)]
        name: String,
        #[arg(long, default_value_t = 8080)]
        port: u16,
        /// End after so many seconds
        #[arg(long, default_value_t = 3600)]
        seconds: u64,
    },
    /// Receive a known stream and check it
    Download(Transfer),
    /// Send a known stream, which the server checks
    Upload(Transfer),
    /// A byte there and back, every second
    Ping {
        /// Address and port of the service
        service: SocketAddr,
        #[arg(long, default_value_t = 10)]
        count: u32,
    },
}

#[derive(Args)]
struct Transfer {
    /// Address and port of the service
    service: SocketAddr,
    /// How much
    #[arg(default_value_t = 100_000_000)]
    bytes: u64,
    /// Of the stream
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Begin when so many subflows are established, or after 3 seconds
    #[arg(long, default_value_t = 1)]
    subflows: usize,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let transport = arguments.transport.into();
    match run(&arguments.command, transport) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(command: &Command, transport: Transport) -> io::Result<()> {
    match command {
        Command::Serve { name, port, seconds } => {
            let _server = Server::start(name, transport, *port)?;
            print(&json!({ "serving": name, "port": port }))?;
            thread::sleep(Duration::from_secs(*seconds));
            Ok(())
        }
        Command::Download(transfer) => carry(transfer, transport, |connection| {
            connection.download(transfer.bytes, transfer.seed, |_| ())
        }),
        Command::Upload(transfer) => carry(transfer, transport, |connection| {
            connection.upload(transfer.bytes, transfer.seed, |_| ())
        }),
        Command::Ping { service, count } => ping(*service, *count, transport),
    }
}

fn carry(
    transfer: &Transfer,
    transport: Transport,
    stream: impl FnOnce(&mut Connection) -> io::Result<Duration>,
) -> io::Result<()> {
    let mut connection = Connection::open(transport, transfer.service)?;
    if transport == Transport::Mptcp {
        let deadline = Instant::now() + Duration::from_secs(3);
        connection.wait_for_subflows(transfer.subflows, deadline)?;
    }
    let took = stream(&mut connection)?.as_secs_f64();
    print(&json!({
        "backend": connection.backend(),
        "bytes": transfer.bytes,
        "seconds": took,
        "mbps": transfer.bytes as f64 * 8.0 / took / 1e6,
        "mptcp": connection.status().ok(),
    }))
}

fn ping(service: SocketAddr, count: u32, transport: Transport) -> io::Result<()> {
    let mut connection = Connection::open(transport, service)?;
    for _ in 0..count {
        let microseconds = connection.ping()?.as_secs_f64() * 1e6;
        print(&json!({ "backend": connection.backend(), "microseconds": microseconds }))?;
        thread::sleep(Duration::from_secs(1));
    }
    Ok(())
}

fn print(line: &Value) -> io::Result<()> {
    writeln!(io::stdout(), "{line}")
}
