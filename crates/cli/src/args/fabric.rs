//! `heddle fabric`.

use std::path::PathBuf;

use clap::{ArgGroup, Args, Subcommand};

use heddle_path_files::FabricArgs;

#[derive(Debug, Subcommand)]
pub(crate) enum FabricCommand {
    /// Count paths and next hops between all pairs of hosts.
    Stats(Stats),
    /// Print what a fabric file says, defaults included: its graph and addresses as counts, in JSON
    /// whole.
    Show(ShowFabric),
    /// Print the JSON Schema of fabric files, for editors.
    Schema,
}

#[derive(Args, Debug)]
#[command(
    group = ArgGroup::new("what").required(true).multiple(true).args(["files", "shape"]),
    after_help = "\
Examples:
  heddle fabric stats scenarios/fabrics/fat-tree-8.toml scenarios/hula-fig5.toml
  heddle fabric stats --shape 'kind = \"fat-tree\", k = 14' --shape 'kind = \"leaf-spine\", spines = 4'
  heddle fabric stats scenarios/fabrics/fat-tree-8.toml --json | jq '.[0].pairs_by_paths'"
)]
pub(crate) struct Stats {
    /// Fabric files or scenarios.
    #[arg(value_name = "FABRIC")]
    pub(crate) files: Vec<PathBuf>,
    /// A fabric without a file: the keys and values of its fabric table, with commas between. Can
    /// be repeated.
    #[arg(long, value_name = "KEY = VALUE, ..")]
    pub(crate) shape: Vec<String>,
}

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  heddle fabric show scenarios/fabrics/fat-tree-8.toml
  heddle fabric show scenarios/fabrics/fat-tree-8.toml --json | jq .addresses")]
pub(crate) struct ShowFabric {
    #[command(flatten)]
    pub(crate) fabric: FabricArgs,
}
