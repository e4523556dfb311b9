//! Generates the message types, the gRPC server and its client from the `.proto` file. No `protoc`
//! is needed.

use std::error::Error;
use std::path::Path;

use prost::Message as _;

const ROOT: &str = "proto";
const FILE: &str = "heddle/path/v1/path.proto";

/// Fields that are numbers in Protocol Buffers and strings in JSON, with the module of `format.rs`
/// that converts them.
const ENUM_FIELDS: [(&str, &str); 9] = [
    ("OpenConnectionRequest.family", "family"),
    ("EncodeRequest.family", "family"),
    ("DecodeRequest.family", "family"),
    ("DecodeResponse.outcome", "outcome"),
    ("Hop.reason", "reason"),
    ("Link.state", "link_state"),
    ("SetLinkRequest.state", "link_state"),
    ("AffectedSubflow.link_impact", "link_impact"),
    ("Subflow.link_impact", "link_impact"),
];

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed={ROOT}");
    let files = protox::compile([FILE], [ROOT])?;
    let out = Path::new(&std::env::var("OUT_DIR")?).join("descriptors.bin");
    std::fs::write(out, files.encode_to_vec())?;
    let json =
        "#[derive(serde::Serialize, serde::Deserialize)]\n#[serde(default, deny_unknown_fields)]";
    let mut builder = tonic_prost_build::configure().message_attribute(".", json);
    for (field, module) in ENUM_FIELDS {
        let path = format!(".heddle.path.v1.{field}");
        builder =
            builder.field_attribute(path, format!("#[serde(with = \"crate::format::{module}\")]"));
    }
    builder.compile_fds(files)?;
    Ok(())
}
