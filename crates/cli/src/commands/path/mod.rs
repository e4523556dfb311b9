//! `heddle path`: paths, and the header fields that name them.

mod decode;
mod encode;
mod find;
mod keygen;
mod listed;
mod steps;

use std::process::ExitCode;

use heddle_path_encoder::{Family, Network, Pair};
use heddle_policy::cflb::Field;

use crate::args::Common;
use crate::args::path::{PacketArgs, PathCommand};
use crate::external;
use crate::failure::Failure;

pub(crate) fn path(command: &PathCommand, common: &Common) -> Result<ExitCode, Failure> {
    match command {
        PathCommand::Find(find) => find::find(find, common),
        PathCommand::Encode(encode) => encode::encode(encode, common),
        PathCommand::Decode(decode) => decode::decode(decode, common),
        PathCommand::Keygen(keygen) => keygen::keygen(keygen, common),
        PathCommand::Serve(passed) => return external::PATH_SERVICE.run(common, &passed.arguments),
    }?;
    Ok(ExitCode::SUCCESS)
}

/// Two hosts by names or addresses.
fn pair(network: &Network, from: &str, to: &str, packet: &PacketArgs) -> Result<Pair, Failure> {
    let family = match network.codec().field() {
        _ if packet.ipv6 => Family::V6,
        Field::FlowLabel => Family::V6,
        Field::Ports | Field::SourcePort(_) => Family::V4,
    };
    Ok(network.pair(from, to, family)?)
}

/// A node's name.
fn name(network: &Network, node: u32) -> String {
    network.fabric().node(node).name.clone()
}
