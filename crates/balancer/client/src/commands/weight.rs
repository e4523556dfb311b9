//! `heddle lb weight`.

use std::path::Path;

use heddle_program::{Common, Failure, output};
use heddled::admin::BackendChange;

use super::backends::table_of;
use super::changes::changing;
use crate::args::Weight;
use crate::daemon::Daemon;

pub(crate) fn weight(args: &Weight, socket: &Path, common: &Common) -> Result<(), Failure> {
    let change = BackendChange { weight: Some(args.weight), draining: None };
    let request = changing(&args.backend, args.service.as_ref(), change, args.all);
    let changed = Daemon::connect(socket)?.changed(&request)?;
    match common.json {
        true => output::json(&changed),
        false => output::line(table_of(&changed)),
    }
}
