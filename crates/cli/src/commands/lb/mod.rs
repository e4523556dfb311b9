//! `heddle lb`: the load balancer, asked over its daemon's socket.

mod ask;
mod backends;
mod check;
mod connections;
mod counters;
mod decap;
mod demo;
mod drain;
mod explain;
mod status;
mod top;
mod words;

use heddled::config;

use crate::args::Common;
use crate::args::lb::{Lb, LbCommand};
use crate::failure::Failure;
use crate::files;

pub(crate) fn lb(args: &Lb, common: &Common) -> Result<(), Failure> {
    let socket = args.socket.as_path();
    match &args.command {
        LbCommand::Check(args) => check::check(args, common),
        LbCommand::Schema => files::print_json(&config::schema()),
        LbCommand::Status => status::status(socket, common),
        LbCommand::Backends => backends::backends(socket, common),
        LbCommand::Drain(args) => drain::drain(args, socket, common),
        LbCommand::Connections(args) => connections::connections(args, socket, common),
        LbCommand::Members => status::members(socket, common),
        LbCommand::Counters(args) => counters::counters(args, socket, common),
        LbCommand::Top(args) => top::top(args, socket, common),
        LbCommand::Explain(args) => explain::explain(args, socket, common),
        LbCommand::Reload => status::reload(socket, common),
        LbCommand::Decap(args) => decap::decap(args, common),
        LbCommand::Demo(args) => demo::demo(args, common).map_err(Failure::Other),
    }
}
