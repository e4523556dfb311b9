//! `heddle path`.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::{ArgGroup, Args, Subcommand, ValueEnum};
use heddle_path_files::{FabricArgs, KeyedFabricArgs};
use heddle_policy::cflb::Cipher;
use heddle_program::external::Passed;

pub(crate) const EXAMPLES: &str = "\
Routers that speak CFLB (Detal et al., Computer Networks 2013) read their next hops from a
packet's ports, by a key that they share with the senders: who may choose a port chooses a path.

Examples, with F=scenarios/fabrics/fat-tree-8.toml:
  heddle path find $F host-1 host-128
  heddle path keygen scenarios/fabrics/fat-tree-8.key
  heddle path encode $F host-1 host-128 --path 5
  heddle path decode $F --from host-1 --to host-128 --source-port 40000 --destination-port 8443";

#[derive(Debug, Subcommand)]
pub(crate) enum PathCommand {
    /// List the load-balanced paths between two hosts.
    Find(Find),
    /// Name a path: print the ports, or the flow label, that make a flow take it.
    Encode(Encode),
    /// Follow a packet by its header fields, router by router.
    Decode(Decode),
    /// Make the key that routers and senders share.
    Keygen(Keygen),
    /// Run the service that names paths for hosts: gRPC, and JSON over HTTP.
    #[command(disable_help_flag = true)]
    Serve(Passed),
}

#[derive(Args, Debug)]
#[command(after_help = "\
Examples, with F=scenarios/fabrics/fat-tree-8.toml:
  heddle path find $F host-1 host-128
  heddle path find $F 10.0.0.1 10.0.0.100 --disjoint 4
  heddle path find $F host-1 host-128 --set 'fabric.failed=[\"core-1\"]'
  heddle path find $F host-1 host-128 --json | jq .total

Paths are numbered from 0, in the order of their choices; so are a router's next hops, in the
order of its links. Finding paths needs no key.")]
pub(crate) struct Find {
    #[command(flatten)]
    pub(crate) fabric: FabricArgs,
    /// The host that sends, by name or address.
    pub(crate) from: String,
    /// The host that receives, by name or address.
    pub(crate) to: String,
    /// Most paths to list.
    #[arg(long, value_name = "N", default_value = "64")]
    pub(crate) limit: NonZeroUsize,
    /// List up to so many paths no two of which share a link between routers.
    #[arg(long, value_name = "K", conflicts_with = "limit")]
    pub(crate) disjoint: Option<NonZeroUsize>,
}

/// Header fields of a flow's packets, besides addresses and the fields that name the path.
#[derive(Args, Clone, Debug)]
pub(crate) struct PacketArgs {
    /// The protocol: tcp, udp or its number.
    #[arg(long, default_value = "tcp", value_parser = protocol)]
    pub(crate) protocol: u8,
    /// Use the hosts' IPv6 addresses (always done where flow labels name paths).
    #[arg(long)]
    pub(crate) ipv6: bool,
    /// The TTL, or hop limit, that the sender writes [default: the fabric file's cflb.ttl, and for
    /// encode all of cflb.ttls].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..))]
    pub(crate) ttl: Option<u8>,
}

#[derive(Args, Debug)]
#[command(
    group = ArgGroup::new("which").required(true).args(["path", "via"]),
    after_help = "\
Examples, with F=scenarios/fabrics/fat-tree-8.toml (its key: heddle path keygen ${F%.toml}.key):
  heddle path encode $F host-1 host-128 --path 5
  heddle path encode $F host-1 host-128 --via tor-1,agg-2,core-6,agg-30,tor-32 --explain
  heddle path encode $F host-1 host-128 --path 5 --count 4 --taken 40000,40001
  heddle path encode $F host-1 host-128 --path 5 --destination-port 443 \\
      --set cflb.field=source-port --set cflb.cipher=feistel

The same question has the same answer: say by --taken what is in use. Ports of cflb.reserved are not
chosen, and TTLs are those of cflb.ttls."
)]
pub(crate) struct Encode {
    #[command(flatten)]
    pub(crate) fabric: KeyedFabricArgs,
    /// The host that sends, by name or address.
    pub(crate) from: String,
    /// The host that receives, by name or address.
    pub(crate) to: String,
    /// The path's number, as `heddle path find` lists it.
    #[arg(long, value_name = "N")]
    pub(crate) path: Option<u64>,
    /// The path's routers by name, in order; core-3#2 is the second of parallel links to core-3.
    #[arg(long, value_name = "ROUTER,..", value_delimiter = ',')]
    pub(crate) via: Vec<String>,
    #[command(flatten)]
    pub(crate) packet: PacketArgs,
    /// The flow's source port, where flow labels name paths.
    #[arg(long, value_name = "PORT")]
    pub(crate) source_port: Option<u16>,
    /// The flow's destination port, where flow labels or source ports alone name paths.
    #[arg(long, value_name = "PORT")]
    pub(crate) destination_port: Option<u16>,
    /// Source ports (or flow labels) that are in use.
    #[arg(long, value_name = "PORT,..", value_delimiter = ',')]
    pub(crate) taken: Vec<u32>,
    /// Number of encodings to print: different ports, or flow labels, of the same path.
    #[arg(long, value_name = "N", default_value = "1", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub(crate) count: u32,
    /// Show what each router reads: the TTL, the position in the path selector, the digit there.
    #[arg(long)]
    pub(crate) explain: bool,
}

#[derive(Args, Debug)]
#[command(after_help = "\
Examples, with F=scenarios/fabrics/fat-tree-8.toml (its key: heddle path keygen ${F%.toml}.key):
  heddle path decode $F --from host-1 --to host-128 --source-port 40000 --destination-port 8443
  heddle path decode $F --from 10.0.0.1 --to 10.0.0.100 --protocol udp --ttl 128 \\
      --source-port 40000 --destination-port 8443 --json | jq -r '.hops[].router'

A packet without ports is a fragment, or of a protocol that has none.")]
pub(crate) struct Decode {
    #[command(flatten)]
    pub(crate) fabric: KeyedFabricArgs,
    /// The host that sends, by name or address.
    #[arg(long, value_name = "HOST")]
    pub(crate) from: String,
    /// The host that receives, by name or address.
    #[arg(long, value_name = "HOST")]
    pub(crate) to: String,
    /// The packet's source port.
    #[arg(long, value_name = "PORT", requires = "destination_port")]
    pub(crate) source_port: Option<u16>,
    /// The packet's destination port.
    #[arg(long, value_name = "PORT", requires = "source_port")]
    pub(crate) destination_port: Option<u16>,
    #[command(flatten)]
    pub(crate) packet: PacketArgs,
    /// The packet's IPv6 flow label.
    #[arg(long, value_name = "N", default_value = "0", value_parser = clap::value_parser!(u32).range(..=0xf_ffff))]
    pub(crate) flow_label: u32,
}

/// An invertible function between path selectors and header fields.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum CipherName {
    /// RC5, for both ports: 16 bytes.
    Rc5,
    /// Skip32, for both ports: 10 bytes.
    Skip32,
    /// A Feistel network, for any field: 16 bytes.
    Feistel,
}

impl From<CipherName> for Cipher {
    fn from(name: CipherName) -> Cipher {
        match name {
            CipherName::Rc5 => Cipher::Rc5,
            CipherName::Skip32 => Cipher::Skip32,
            CipherName::Feistel => Cipher::Feistel,
        }
    }
}

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  heddle path keygen scenarios/fabrics/fat-tree-8.key
  heddle path keygen fabric.key --cipher skip32

The file is for its owner alone (mode 600) and is never overwritten. What is printed goes into
[cflb] of the fabric file: by the check value a wrong key is noticed; it does not tell the key.")]
pub(crate) struct Keygen {
    /// The file to write.
    pub(crate) file: PathBuf,
    /// The cipher that the key is for, cflb.cipher of the fabric file.
    #[arg(long, default_value = "rc5")]
    pub(crate) cipher: CipherName,
}

fn protocol(text: &str) -> Result<u8, String> {
    match text {
        "tcp" => Ok(6),
        "udp" => Ok(17),
        number => number.parse().map_err(|_| "write tcp, udp or a number from 0 to 255".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn protocols_are_names_or_numbers() {
        assert_eq!((protocol("tcp"), protocol("udp"), protocol("132")), (Ok(6), Ok(17), Ok(132)));
        assert!(protocol("256").is_err() && protocol("sctp").is_err());
    }
}
