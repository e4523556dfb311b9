//! The command line.

mod backend;
mod changes;
mod explain;
mod name;
mod number;

use std::env;
use std::net::IpAddr;
use std::path::PathBuf;
use std::time::Duration;

use clap::{ArgGroup, Args, Parser, Subcommand};
use heddle_program::external::{External, Passed};
use heddle_program::{Common, Generate};

pub(crate) use backend::{Add, Backend, BackendCommand, Remove};
pub(crate) use changes::{Changes, ChangesCommand, Reset};
pub(crate) use explain::{Explain, token};
use name::name;
use number::number;

/// The daemon's default socket.
const SOCKET: &str = "/run/heddle/heddled.sock";

/// The socket where --socket names none. Clap's own `env` is not used: its usage lines show an
/// option that a variable sets as one that has to be given.
fn socket() -> PathBuf {
    let named = env::var_os("HEDDLE_SOCKET").filter(|path| !path.is_empty());
    named.map_or_else(|| SOCKET.into(), PathBuf::from)
}

pub(crate) const EXAMPLES: &str = "\
Examples:
  heddle lb check /etc/heddle/heddled.toml     check the file, list its services
  heddled --config /etc/heddle/heddled.toml    run it
  heddle lb status                             state and warnings
  heddle lb top                                watch it
  heddle lb drain be1 --wait                   drain a backend, and wait until it is idle
  heddle lb backend add be4 web=10.0.1.4       add one without the file
  heddle lb weight be1 3 --all                 on all balancers, by way of etcd
  heddle lb explain --from 198.51.100.7:4000 --to 192.0.2.10:443 --join 0x1c2d3e4f

All but check, schema, openapi, decap, translate and pass talk to the running daemon, whose socket
is root's.";

/// The lab's demonstration.
pub(crate) const DEMO: External = External {
    command: &["demo"],
    program: "heddle-lab",
    subcommand: &["demo"],
    how_to_get: "build it: ./x build, or cargo build --release --package heddle-lab",
};

/// Run and watch the load balancer that keeps MPTCP connections whole (heddled).
#[derive(Debug, Parser)]
#[command(
    name = "heddle-lb",
    bin_name = "heddle lb",
    version,
    max_term_width = 100,
    after_help = EXAMPLES,
    mut_arg("jobs", |jobs| jobs.hide(true))
)]
pub(crate) struct Cli {
    /// The daemon's socket: `admin` in its configuration. The variable HEDDLE_SOCKET is another
    /// default.
    #[arg(long, global = true, value_name = "PATH", default_value_os_t = socket())]
    pub(crate) socket: PathBuf,
    #[command(subcommand)]
    pub(crate) command: Command,
    #[command(flatten)]
    pub(crate) common: Common,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Check a configuration and this machine, and list the services, without a daemon.
    Check(Check),
    /// Print the JSON Schema of the configuration, for editors.
    Schema,
    /// Print the OpenAPI document of the daemon's HTTP API, which its socket serves.
    Openapi,
    /// The daemon's state: services, tables, warnings.
    Status,
    /// Services with addresses, modes and the number of their backends.
    Services,
    /// Backends with health, flows and packets.
    Backends,
    /// Add or remove a backend without the configuration file.
    Backend(Backend),
    /// Drain a backend: no new connections; existing ones continue, joins included.
    Drain(Drain),
    /// Give a backend another weight, until the configuration is read again.
    Weight(Weight),
    /// The changes of backends that all balancers share by way of etcd: list them, or take them
    /// back.
    Changes(Changes),
    /// Entries of the flow table: connections and their backends.
    Connections(Connections),
    /// The balancers of the cluster and the share of the token space that each owns.
    Members,
    /// All counters: packets by verdict, and events.
    Counters(Counters),
    /// Watch services, backends and tables live, in the terminal.
    Top(Top),
    /// Explain the running program's decision for a packet. Nothing is sent, nothing changes.
    Explain(Explain),
    /// Reload the daemon's configuration. A wrong one changes nothing.
    Reload,
    /// On a backend: decapsulate the balancers' packets (IPIP, GUE).
    Decap(Decap),
    /// On a backend of a service with `mptcp = "assign"`: put the balancers' keys in place of the
    /// kernel's.
    Translate(Translate),
    /// At the far end of a veth device of a balancer: a program that passes everything, which XDP's
    /// frames need there.
    Pass(Pass),
    /// Demonstrate it: a download over four subflows, during which a balancer fails. Needs root.
    #[command(disable_help_flag = true)]
    Demo(Passed),
    #[command(flatten)]
    Generate(Generate),
}

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  heddle lb check /etc/heddle/heddled.toml              the file, and the machine that it is for
  heddle lb check heddled.toml --file-only              the file of another machine
  heddle lb check heddled.toml --json | jq .findings

Findings are errors, which cannot work (exit code 3), warnings and notes, each with its fix.")]
pub(crate) struct Check {
    /// The configuration (TOML); `heddle lb schema` describes every key.
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// Check the file alone: this is not the machine that it is for.
    #[arg(long)]
    pub(crate) file_only: bool,
}

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  heddle lb drain be1                  in all services that have it
  heddle lb drain be1 --service web    in one
  heddle lb drain be1 --wait           and wait until its last connection has ended
  heddle lb drain be1 --undo           new connections again
  heddle lb drain be1 --all            on all balancers, by way of etcd

Without --all a restart of the daemon ends it; state = \"drain\" in the configuration is permanent.")]
pub(crate) struct Drain {
    /// The backend's name.
    #[arg(value_name = "NAME", value_parser = name)]
    pub(crate) backend: String,
    /// Only in this service.
    #[arg(long, value_name = "NAME", value_parser = name)]
    pub(crate) service: Option<String>,
    /// On all balancers that share an etcd cluster, until `heddle lb changes reset`; --wait looks
    /// at this balancer.
    #[arg(long)]
    pub(crate) all: bool,
    /// End the draining: new connections again.
    #[arg(long, conflicts_with = "wait")]
    pub(crate) undo: bool,
    /// Wait until it has no connections left. Ctrl-C ends the waiting, not the draining.
    #[arg(long)]
    pub(crate) wait: bool,
    /// With --wait: connections without packets for so long do not count, as of clients that have
    /// vanished. Whole seconds.
    #[arg(long, value_name = "TIME", requires = "wait", value_parser = whole_seconds)]
    pub(crate) idle: Option<Duration>,
    /// With --wait: wait for so long at most. The exit code is 1 if connections are left.
    #[arg(long, value_name = "TIME", requires = "wait", value_parser = whole_seconds)]
    pub(crate) timeout: Option<Duration>,
}

/// As in `30s`, `5m` or `1h`.
fn whole_seconds(text: &str) -> Result<Duration, String> {
    let units = [("s", 1), ("m", 60), ("h", 3600)];
    let seconds = units.iter().find_map(|(unit, seconds)| {
        text.strip_suffix(unit)?.parse::<u32>().ok()?.checked_mul(*seconds)
    });
    match seconds {
        Some(seconds) if seconds > 0 => Ok(Duration::from_secs(seconds.into())),
        _ => Err("a whole number with a unit, as in 30s, 5m or 1h".into()),
    }
}

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  heddle lb weight be1 3                  in all services that have it
  heddle lb weight be1 0 --service web    no new connections in one
  heddle lb weight be1 3 --all            on all balancers, by way of etcd
  heddle lb reload                        all weights as in the configuration again

Established connections stay where they are. Without etcd give each balancer the same weights: until
then `heddle lb members` shows that they differ.")]
pub(crate) struct Weight {
    /// The backend's name.
    #[arg(value_name = "NAME", value_parser = name)]
    pub(crate) backend: String,
    /// Its share of new connections, relative to the others'; 0: none.
    #[arg(value_name = "WEIGHT", value_parser = number(0..=1000_u32))]
    pub(crate) weight: u32,
    /// Only in this service.
    #[arg(long, value_name = "NAME", value_parser = name)]
    pub(crate) service: Option<String>,
    /// On all balancers that share an etcd cluster, until `heddle lb changes reset`.
    #[arg(long)]
    pub(crate) all: bool,
}

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  heddle lb connections --backend be1
  heddle lb connections --client 198.51.100.7
  heddle lb connections --token 1c2d3e4f     the subflows of one connection (as ss -Mti names it)
  heddle lb connections --limit 100000 --json | jq -r '.flows[].client'")]
pub(crate) struct Connections {
    /// Only of this service.
    #[arg(long, value_name = "NAME", value_parser = name)]
    pub(crate) service: Option<String>,
    /// Only to this backend.
    #[arg(long, value_name = "NAME", value_parser = name)]
    pub(crate) backend: Option<String>,
    /// Only from this address.
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) client: Option<IpAddr>,
    /// Only of the MPTCP connection that the backend knows by this token, in hexadecimal.
    #[arg(long, value_name = "TOKEN", value_parser = token)]
    pub(crate) token: Option<u32>,
    /// Maximum number of entries printed.
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = number(0..=u32::MAX))]
    pub(crate) limit: u32,
}

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  heddle lb counters
  heddle lb counters --all --service web
  heddle lb counters --json | jq '.services[] | select(.name == \"web\") | .events'")]
pub(crate) struct Counters {
    /// Only of this service; `none` has the packets of no service.
    #[arg(long, value_name = "NAME", value_parser = name)]
    pub(crate) service: Option<String>,
    /// Include counters that are 0.
    #[arg(long)]
    pub(crate) all: bool,
}

#[derive(Args, Debug)]
#[command(after_help = "\
Keys: q quits, up and down select a backend, s sorts by the next column, r reverses the order.")]
pub(crate) struct Top {
    /// Seconds between updates.
    #[arg(long, value_name = "SECONDS", default_value_t = 1, value_parser = number(1..=60_u64))]
    pub(crate) every: u64,
}

#[derive(Args, Debug)]
#[command(
    group = ArgGroup::new("senders").args(["from", "any"]),
    after_help = "\
Examples:
  heddle lb decap --interface eth0 --own 10.0.1.1 --from 10.0.0.11 --from 10.0.0.12
  heddle lb decap --interface eth0 --own 10.0.1.1 --any --gue-port 0    IPIP only, from anywhere
  heddle lb decap --interface eth0 --detach

The program stays when the command has ended; run again, it takes its own place between two packets.
The kernel's own tunnels (ip link add type ipip) do the same, more slowly."
)]
pub(crate) struct Decap {
    /// The interface on which the balancers' packets arrive.
    #[arg(long, value_name = "NAME")]
    pub(crate) interface: String,
    /// This backend's address that balancers send to. Can be repeated.
    #[arg(long, value_name = "ADDRESS", required_unless_present = "detach", num_args = 1..)]
    pub(crate) own: Vec<IpAddr>,
    /// A balancer's address; packets of other senders pass unchanged. Can be repeated.
    #[arg(long, value_name = "ADDRESS", required_unless_present_any = ["detach", "any"], num_args = 1..)]
    pub(crate) from: Vec<IpAddr>,
    /// Decapsulate packets of any sender: for backends that balancers alone can reach.
    #[arg(long)]
    pub(crate) any: bool,
    /// UDP port of GUE, as `gue_port` in the balancers' configuration; 0: no GUE.
    #[arg(long, value_name = "PORT", default_value_t = 6080, value_parser = number(0..=u16::MAX))]
    pub(crate) gue_port: u16,
    /// Attach in the kernel's generic path, for drivers without XDP: slower.
    #[arg(long)]
    pub(crate) generic: bool,
    /// Detach the program from the interface instead.
    #[arg(long, conflicts_with_all = ["own", "from", "any", "generic"])]
    pub(crate) detach: bool,
    /// The folder in which the program is pinned; below a BPF file system.
    #[arg(long, value_name = "PATH", default_value = "/sys/fs/bpf/heddle-decap")]
    pub(crate) pin: PathBuf,
}

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  heddle lb translate --interface eth0              what eth0 receives and sends
  heddle lb translate --interface ipip0 --bare-ip   a tunnel device, beside the interface of replies
  heddle lb translate --show                        tables and events
  heddle lb translate --interface eth0 --detach

Attach it where the client's packets arrive without outer headers, and where replies leave; two
interfaces share their tables. Behind `heddle lb decap` that is the same interface. The programs
stay when the command has ended; run again, they take their own places between two packets, and
connections go on. Detached, connections with an assigned key break.")]
pub(crate) struct Translate {
    /// An interface through which the service's packets come or go.
    #[arg(long, value_name = "NAME", required_unless_present = "show")]
    pub(crate) interface: Option<String>,
    /// The interface has no Ethernet header: a tunnel device.
    #[arg(long)]
    pub(crate) bare_ip: bool,
    /// Connections that there is room for; twice as many subflows. Of more, the longest unused are
    /// forgotten.
    #[arg(long, value_name = "N", default_value_t = 32_768, value_parser = number(1..=16_777_216_u32))]
    pub(crate) connections: u32,
    /// Show the tables' entries and the events so far.
    #[arg(long, conflicts_with_all = ["interface", "bare_ip", "connections", "detach"])]
    pub(crate) show: bool,
    /// Detach the programs from the interface instead; with the last one their tables are removed.
    #[arg(long, conflicts_with_all = ["bare_ip", "connections"])]
    pub(crate) detach: bool,
    /// The folder in which programs and tables are pinned; below a BPF file system.
    #[arg(long, value_name = "PATH", default_value = "/sys/fs/bpf/heddle-translate")]
    pub(crate) pin: PathBuf,
}

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  heddle lb pass --interface veth-lb
  heddle lb pass --interface veth-lb --detach

Native XDP loses frames that it sends to a veth device whose far end has no XDP program (GRO there
is enough for frames that leave by another interface only). The program stays when the command has
ended.")]
pub(crate) struct Pass {
    /// The interface at the far end.
    #[arg(long, value_name = "NAME")]
    pub(crate) interface: String,
    /// Detach the program from the interface instead.
    #[arg(long)]
    pub(crate) detach: bool,
    /// The folder in which the program is pinned; below a BPF file system.
    #[arg(long, value_name = "PATH", default_value = "/sys/fs/bpf/heddle-pass")]
    pub(crate) pin: PathBuf,
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    /// Text behind the options is broken by hand: no line is wrapped on a page of 100 columns.
    #[test]
    fn examples_fit_the_page() {
        fn check(command: &clap::Command) {
            let after = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            let longest = after.lines().max_by_key(|line| line.chars().count()).unwrap_or_default();
            assert!(longest.chars().count() <= 100, "{}: {longest}", command.get_name());
            command.get_subcommands().for_each(check);
        }
        check(&Cli::command());
    }
}
