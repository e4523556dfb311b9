//! `heddle lb pass`: the program that passes everything, for the far ends of veth devices.

use heddle_balancer_maps::{Attached, Error, Mode, detach, interface_index};
use heddle_program::{Common, Failure, output};
use serde_json::json;

use super::decap::failed;
use crate::args::Pass;

pub(crate) fn pass(args: &Pass, common: &Common) -> Result<(), Failure> {
    let done = if args.detach { detach_from(args) } else { attach_to(args) };
    let said = format!("{}: {}", args.interface, done.map_err(failed)?);
    match common.json {
        true => output::json(&json!({ "interface": args.interface, "done": said })),
        false => output::line(said),
    }
}

fn detach_from(args: &Pass) -> Result<&'static str, Error> {
    detach(&args.pin, interface_index(&args.interface)?)?;
    Ok("detached")
}

fn attach_to(args: &Pass) -> Result<&'static str, Error> {
    let interface = interface_index(&args.interface)?;
    let mut program = heddle_balancer_maps::pass()?;
    Ok(match program.attach_lasting(&args.pin, interface, Mode::Native)? {
        Attached::Afresh => "attached; it passes everything",
        Attached::InPlace => "took the place of the one before",
    })
}
