//! `heddle lb weight`.

use std::path::Path;

use heddle_program::{Common, Failure, output};
use heddled::admin::{Reply, Request};

use super::backends::table_of;
use crate::args::Weight;
use crate::daemon::{Daemon, unexpected};

pub(crate) fn weight(args: &Weight, socket: &Path, common: &Common) -> Result<(), Failure> {
    let request = Request::Weigh {
        service: args.service.clone(),
        backend: args.backend.clone(),
        weight: args.weight,
    };
    let changed = match Daemon::connect(socket)?.ask(&request)? {
        Reply::Backends(backends) => backends,
        other => return Err(unexpected(&other)),
    };
    match common.json {
        true => output::json(&changed),
        false => output::line(table_of(&changed)),
    }
}
