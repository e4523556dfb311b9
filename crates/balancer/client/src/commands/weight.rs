//! `heddle lb weight`.

use std::path::Path;

use heddle_program::{Common, Failure};
use heddled::admin::BackendChange;

use super::changes::changing;
use super::notes::{self, until};
use crate::args::Weight;
use crate::daemon::Daemon;

pub(crate) fn weight(args: &Weight, socket: &Path, common: &Common) -> Result<(), Failure> {
    let mut daemon = Daemon::connect(socket)?;
    let change = BackendChange { weight: Some(args.weight), draining: None };
    let request = changing(&args.backend, args.service.as_ref(), change, args.all);
    let changed = daemon.changed(&request)?;
    let note = format!("{} has weight {} {}", args.backend, args.weight, until(args.all));
    notes::print_with_warnings(&mut daemon, &changed, &note, common)
}
