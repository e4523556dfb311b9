//! `heddle-switch`: a switch of a fabric, on Linux.

use std::net::IpAddr;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::{CommandFactory as _, Parser, Subcommand, ValueEnum};
use heddle_daemon::log;
use heddle_program::{Common, Failure, Generate, interrupt, output};
use heddle_switch::admin::{self, Answer, Request};
use heddle_switch::config::{self, Config};
use heddle_switch::explain::Packet;
use heddle_switch::{bench, daemon, format};

/// Forwards a fabric's packets by ECMP, HULA, MP-HULA or CFLB, in eBPF
///
/// A configuration names a scenario of the simulator, the switch's node in its fabric, and the devices of its ports. Routes and parameters are the
/// scenario's.
#[derive(Parser)]
#[command(name = "heddle-switch", version)]
struct Cli {
    #[command(flatten)]
    common: Common,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Load the programs, attach them to the ports, and keep their maps until SIGTERM
    ///
    /// Packets go on without the daemon, and the next one takes over where it stopped.
    Run {
        /// The configuration.
        config: PathBuf,
        /// Format of logs, which go to standard error
        #[arg(long, value_enum, default_value_t = Logs::Text)]
        logs: Logs,
        /// Least level that is logged: error, warn, info, debug or trace
        #[arg(long, default_value = "info")]
        log_level: tracing_subscriber::filter::LevelFilter,
    },
    /// Check a configuration and the files that it names
    Check {
        /// The configuration.
        config: PathBuf,
    },
    /// Show ports, routes, best hops and counters of a running switch
    Status {
        /// The configuration.
        config: PathBuf,
    },
    /// The same, again and again until Ctrl-C
    Top {
        /// The configuration.
        config: PathBuf,
        /// Seconds between two looks
        #[arg(long, default_value_t = 1.0)]
        every: f64,
    },
    /// Show where a packet would go, and why
    Explain {
        /// The configuration.
        config: PathBuf,
        /// The sender's address
        source: IpAddr,
        /// The receiver's address
        destination: IpAddr,
        /// The sender's port
        #[arg(default_value_t = 0)]
        source_port: u16,
        /// The receiver's port
        #[arg(default_value_t = 0)]
        destination_port: u16,
        /// IP's number of the protocol
        #[arg(long, default_value_t = 6)]
        protocol: u8,
        /// TTL or hop limit on arrival
        #[arg(long, default_value_t = 64)]
        ttl: u8,
        /// IPv6's flow label
        #[arg(long, default_value_t = 0)]
        flow_label: u32,
    },
    /// Tell the switch that links between two nodes are down, or work again; its routes follow after the fabric's convergence time
    Link {
        /// The configuration.
        config: PathBuf,
        /// A node
        from: String,
        /// The node at the other end
        to: String,
        /// Their state
        state: LinkState,
    },
    /// Measure nanoseconds a packet for each scheme, beside ECMP (as root)
    Bench {
        /// Rounds over all cases
        #[arg(long, default_value_t = 5)]
        rounds: u32,
        /// Flows at a time: powers of two; can be repeated
        #[arg(long, default_values_t = [1, 65536])]
        flows: Vec<u32>,
    },
    /// Detach the programs from all ports, and forget tables
    Detach {
        /// The configuration.
        config: PathBuf,
    },
    /// Print the JSON Schema of configurations
    Schema,
    #[command(flatten)]
    Generate(Generate),
}

#[derive(Clone, Copy, ValueEnum)]
enum Logs {
    /// Lines for people
    Text,
    /// One JSON object a line
    Json,
}

#[derive(Clone, Copy, ValueEnum)]
enum LinkState {
    Up,
    Down,
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    let result = run(&cli).map(|()| ExitCode::SUCCESS);
    heddle_program::exit(result, &cli.common, config::describe)
}

fn run(cli: &Cli) -> Result<(), Failure> {
    let json = cli.common.json;
    match &cli.command {
        Command::Run { config, logs, log_level } => {
            let format = match logs {
                Logs::Text => log::Format::Text,
                Logs::Json => log::Format::Json,
            };
            log::start(format, *log_level);
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
            runtime.block_on(daemon::run(config))
        }
        Command::Check { config } => {
            let checked = Checked::of(&config::read(config)?);
            if json { output::json(&checked) } else { output::line(checked.text()) }
        }
        Command::Status { config } => print_status(&config::read(config)?, json),
        Command::Top { config, every } => {
            let every = Duration::try_from_secs_f64(*every).map_err(|error| {
                Failure::advised(format!("--every {every}: {error}"), "seconds, as in --every 0.5")
            })?;
            let config = config::read(config)?;
            interrupt::catch()?;
            while !interrupt::stopped() {
                if !json {
                    output::line("\u{1b}[H\u{1b}[2J")?;
                }
                print_status(&config, json)?;
                std::thread::sleep(every);
            }
            Ok(())
        }
        Command::Explain {
            config,
            source,
            destination,
            source_port,
            destination_port,
            protocol,
            ttl,
            flow_label,
        } => {
            let packet = Packet {
                source: *source,
                destination: *destination,
                ports: (*source_port, *destination_port),
                protocol: *protocol,
                ttl: *ttl,
                flow_label: *flow_label,
            };
            explain(&config::read(config)?, packet, json)
        }
        Command::Link { config, from, to, state } => {
            let up = matches!(state, LinkState::Up);
            let request = Request::Link { ends: (from.clone(), to.clone()), up };
            match admin::call(&config::read(config)?.admin, &request)? {
                answer if json => output::json(&answer),
                Answer::Links(down) => output::line(format::links(&down)),
                _ => Err(unexpected()),
            }
        }
        Command::Bench { rounds, flows } => bench(*rounds, flows, &cli.common),
        Command::Detach { config } => detach(&config::read(config)?, json),
        Command::Schema => output::json(&config::schema()),
        Command::Generate(generate) => generate.run(Cli::command(), &[]),
    }
}

/// A configuration that was found right.
#[derive(serde::Serialize)]
struct Checked {
    node: String,
    scheme: &'static str,
    ports: usize,
    /// Neighbours to which no port has a device.
    without_device: Vec<String>,
}

impl Checked {
    fn of(config: &Config) -> Checked {
        let all = (0..).zip(config.fabric.ports_of(config.fabric.hosts + config.switch));
        let has_device = |number: u16| config.ports.iter().any(|port| port.number == number);
        let without = all.filter(|&(number, _)| !has_device(number));
        Checked {
            node: config.node.clone(),
            scheme: config.scheme.scheme.name(),
            ports: config.ports.len(),
            without_device: without
                .map(|(_, port)| config.fabric.node(port.to).name.clone())
                .collect(),
        }
    }

    fn text(&self) -> String {
        let Checked { node, scheme, ports, without_device } = self;
        match without_device.as_slice() {
            [] => format!("{node}: {scheme}, all {ports} ports have a device"),
            missing => format!(
                "{node}: {scheme}, ports with a device: {ports}; without one, and so down: {}",
                missing.join(", ")
            ),
        }
    }
}

fn detach(config: &Config, json: bool) -> Result<(), Failure> {
    let was_pinned = config.pin.exists();
    heddle_switch_maps::remove_pins(&config.pin)?;
    let pin = config.pin.display();
    match (json, was_pinned) {
        (true, _) => {
            output::json(&serde_json::json!({ "pin": config.pin, "detached": was_pinned }))
        }
        (_, true) => output::line(format!("detached, and {pin} is removed")),
        (_, false) => output::line(format!("nothing is pinned in {pin}")),
    }
}

fn print_status(config: &Config, json: bool) -> Result<(), Failure> {
    match admin::call(&config.admin, &Request::Status)? {
        Answer::Status(status) if json => output::json(&status),
        Answer::Status(status) => output::line(format::status(&status).trim_end()),
        _ => Err(unexpected()),
    }
}

fn explain(config: &Config, packet: Packet, json: bool) -> Result<(), Failure> {
    match admin::call(&config.admin, &Request::Explain(packet))? {
        Answer::Explained(explained) if json => output::json(&explained),
        Answer::Explained(explained) => {
            let to = explained.to.unwrap_or_else(|| "nowhere".into());
            output::line(format!("{}\nto {to}", explained.steps.join("\n")))
        }
        _ => Err(unexpected()),
    }
}

fn unexpected() -> Failure {
    Failure::advised("the daemon's answer is another's", "run one version of heddle-switch")
}

fn bench(rounds: u32, flows: &[u32], common: &Common) -> Result<(), Failure> {
    let note = |what: &str| {
        if !common.quiet {
            eprintln!("{what}");
        }
    };
    if !rustix::process::geteuid().is_root() {
        let why = "bench loads programs into the kernel, which this user may not";
        return Err(Failure::advised(why, "run it as root: sudo heddle-switch bench"));
    }
    let measured = bench::run(rounds, flows, note)?;
    if common.json {
        return output::json(&measured);
    }
    output::line(format!("{:<40} {:>8} {:>10} {:>8}", "case", "flows", "ns", "/ ecmp"))?;
    measured.iter().try_for_each(|one| {
        let (case, flows, ns, ratio) = (&one.case, one.flows, one.nanoseconds, one.to_ecmp);
        output::line(format!("{case:<40} {flows:>8} {ns:>10.1} {ratio:>8.2}"))
    })
}
