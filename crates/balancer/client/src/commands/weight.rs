//! `heddle lb weight`.

use std::path::Path;

use heddle_program::{Common, Failure, output};
use heddled::admin::{BackendChange, Request};

use super::backends::table_of;
use crate::args::Weight;
use crate::daemon::Daemon;

pub(crate) fn weight(args: &Weight, socket: &Path, common: &Common) -> Result<(), Failure> {
    let request = Request::Change {
        service: args.service.clone(),
        backend: args.backend.clone(),
        change: BackendChange { weight: Some(args.weight), draining: None },
    };
    let changed = Daemon::connect(socket)?.changed(&request)?;
    match common.json {
        true => output::json(&changed),
        false => output::line(table_of(&changed)),
    }
}
