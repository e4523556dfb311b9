//! The arguments that name a fabric file and its key.

use std::path::PathBuf;

use clap::Args;
use heddle_program::key_value;

/// A fabric file and changes to it.
#[derive(Args, Clone, Debug)]
pub struct FabricArgs {
    /// A fabric file (TOML); see scenarios/fabrics/ for examples and `heddle fabric schema` for
    /// every key.
    pub fabric: PathBuf,
    /// Replace a value: a dotted key and a TOML value or bare text, as in cflb.ttl=32. Can be
    /// repeated.
    #[arg(long, value_name = "KEY=VALUE", value_parser = key_value)]
    pub set: Vec<(String, String)>,
}

/// A fabric file and its key.
#[derive(Args, Clone, Debug)]
pub struct KeyedFabricArgs {
    /// The fabric file.
    #[command(flatten)]
    pub fabric: FabricArgs,
    /// The file of the key [default: the fabric file's cflb.key_file].
    #[arg(long, value_name = "FILE")]
    pub key_file: Option<PathBuf>,
}
