//! Makes the message types, the gRPC server and its client from the `.proto` file, without a `protoc` on the machine.

use std::error::Error;

const ROOT: &str = "proto";
const FILE: &str = "heddle/path/v1/path.proto";

/// Where a field is a number in Protocol Buffers and a word in JSON.
const WORDS: [(&str, &str); 9] = [
    ("OpenConnectionRequest.family", "family"),
    ("EncodeRequest.family", "family"),
    ("DecodeRequest.family", "family"),
    ("DecodeResponse.end", "end"),
    ("Hop.reason", "reason"),
    ("Link.state", "link_state"),
    ("SetLinkRequest.state", "link_state"),
    ("Affected.damage", "damage"),
    ("Subflow.damage", "damage"),
];

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed={ROOT}");
    let files = protox::compile([FILE], [ROOT])?;
    let json =
        "#[derive(serde::Serialize, serde::Deserialize)]\n#[serde(default, deny_unknown_fields)]";
    let mut builder = tonic_prost_build::configure().message_attribute(".", json);
    for (field, word) in WORDS {
        let path = format!(".heddle.path.v1.{field}");
        builder =
            builder.field_attribute(path, format!("#[serde(with = \"crate::words::{word}\")]"));
    }
    builder.compile_fds(files)?;
    Ok(())
}
