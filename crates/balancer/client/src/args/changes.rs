//! `heddle lb changes`.

use clap::{Args, Subcommand};

use super::name;

#[derive(Args, Debug)]
pub(crate) struct Changes {
    #[command(subcommand)]
    pub(crate) command: ChangesCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ChangesCommand {
    /// List the changes that all balancers share, those that this one ignores included.
    List,
    /// Take changes back: the file of each balancer counts again.
    Reset(Reset),
}

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  heddle lb changes list
  heddle lb changes reset be1                  in all services
  heddle lb changes reset be1 --service web
  heddle lb changes reset web/be1              by its key, as warnings name it
  heddle lb changes reset --every              all of them, those that cannot be read included

Put what is to stay into the file of each balancer first, and reload: then nothing changes.")]
pub(crate) struct Reset {
    /// The backend's name, or the key of a change.
    #[arg(value_name = "NAME", required_unless_present = "every", value_parser = name)]
    pub(crate) backend: Option<String>,
    /// Only in this service.
    #[arg(long, value_name = "NAME", requires = "backend", value_parser = name)]
    pub(crate) service: Option<String>,
    /// Take all changes back.
    #[arg(long, conflicts_with = "backend")]
    pub(crate) every: bool,
}
