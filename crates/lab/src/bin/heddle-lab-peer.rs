//! The lab's server and client as a program, for any host. It prints its results as lines of JSON.

use std::io::{self, Write};
use std::net::SocketAddr;
use std::process::ExitCode;
use std::thread;
use std::time::{Duration, Instant};

use clap::{Args, Parser, Subcommand, ValueEnum};
use heddle_lab::{Connection, Pattern, Server, Streams, Transport};
use serde_json::{Value, json};

/// A server, and clients that check each byte they receive: over MPTCP, or TCP.
#[derive(Parser)]
#[command(version)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
    /// Transport protocol of the sockets
    #[arg(long, global = true, value_enum, default_value = "mptcp")]
    transport: TransportArgument,
}

#[derive(Clone, Copy, ValueEnum)]
enum TransportArgument {
    Mptcp,
    Tcp,
}

impl From<TransportArgument> for Transport {
    fn from(argument: TransportArgument) -> Transport {
        match argument {
            TransportArgument::Mptcp => Transport::Mptcp,
            TransportArgument::Tcp => Transport::Tcp,
        }
    }
}

#[derive(Subcommand)]
enum Command {
    /// Serve downloads, uploads and pings on all addresses
    Serve {
        /// Name that clients receive
        #[arg(long)]
        name: String,
        /// Port to listen on
        #[arg(long, default_value_t = 8080)]
        port: u16,
        /// Seconds until it exits
        #[arg(long, default_value_t = 3600)]
        seconds: u64,
    },
    /// Receive a payload and check each byte
    Download(Transfer),
    /// Send a payload, which the server checks
    Upload(Transfer),
    /// Exchange bytes on many connections, and measure the longest stall of each and of each
    /// subflow
    Streams {
        /// Address and port of the service
        service: SocketAddr,
        /// Number of connections
        #[arg(long, default_value_t = 30)]
        count: usize,
        /// Seconds
        #[arg(long, default_value_t = 10)]
        seconds: u64,
        /// Subflows to wait for, at most 3 seconds a connection
        #[arg(long, default_value_t = 1)]
        subflows: usize,
    },
    /// Measure the round-trip time every second
    Ping {
        /// Address and port of the service
        service: SocketAddr,
        /// Number of requests
        #[arg(long, default_value_t = 10)]
        count: u32,
    },
}

#[derive(Args)]
struct Transfer {
    /// Address and port of the service
    service: SocketAddr,
    /// Bytes of payload
    #[arg(default_value_t = 100_000_000)]
    bytes: u64,
    /// Seed of the payload
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Wait for this number of subflows, at most 3 seconds
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
        Command::Download(arguments) => transfer(arguments, transport, |connection| {
            connection.download(arguments.bytes, arguments.seed, |_| ())
        }),
        Command::Upload(arguments) => transfer(arguments, transport, |connection| {
            connection.upload(arguments.bytes, arguments.seed, |_| ())
        }),
        Command::Streams { service, count, seconds, subflows } => {
            streams(*service, *count, *subflows, Duration::from_secs(*seconds), transport)
        }
        Command::Ping { service, count } => ping(*service, *count, transport),
    }
}

fn transfer(
    arguments: &Transfer,
    transport: Transport,
    stream: impl FnOnce(&mut Connection) -> io::Result<Duration>,
) -> io::Result<()> {
    let mut connection = open(transport, arguments.service, arguments.subflows)?;
    let took = stream(&mut connection)?.as_secs_f64();
    print(&json!({
        "backend": connection.backend(),
        "bytes": arguments.bytes,
        "seconds": took,
        "mbps": arguments.bytes as f64 * 8.0 / took / 1e6,
        "mptcp": connection.status().ok(),
    }))
}

/// A connection; an MPTCP one has been given time for its subflows.
fn open(transport: Transport, service: SocketAddr, subflows: usize) -> io::Result<Connection> {
    let connection = Connection::open(transport, service)?;
    if transport == Transport::Mptcp {
        connection.wait_for_subflows(subflows, Instant::now() + Duration::from_secs(3))?;
    }
    Ok(connection)
}

fn streams(
    service: SocketAddr,
    count: usize,
    subflows: usize,
    time: Duration,
    transport: Transport,
) -> io::Result<()> {
    let connections =
        (0..count).map(|_| open(transport, service, subflows)).collect::<io::Result<_>>()?;
    let streams = Streams::over(connections, transport, Pattern::PING_PONG)?;
    thread::sleep(time);
    streams.finish().iter().try_for_each(|report| print(&json!(report)))
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
