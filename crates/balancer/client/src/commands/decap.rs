//! `heddle lb decap`: the program that decapsulates on backends.

use heddle_program::{Common, Failure, output};
use std::io::ErrorKind;

use heddle_balancer_maps::{Attached, Decap, Error, Mode, Sources, detach, interface_index};
use serde_json::json;

use crate::args::Decap as Arguments;

pub(crate) fn decap(args: &Arguments, common: &Common) -> Result<(), Failure> {
    let done = if args.detach { detach_from(args) } else { attach_to(args) };
    let said = done.map_err(failed)?;
    match common.json {
        true => output::json(&json!({ "interface": args.interface, "done": said })),
        false => output::line(said),
    }
}

fn detach_from(args: &Arguments) -> Result<String, Error> {
    detach(&args.pin, interface_index(&args.interface)?)?;
    Ok(format!("{}: detached", args.interface))
}

fn attach_to(args: &Arguments) -> Result<String, Error> {
    let sources = if args.any { Sources::Any } else { Sources::Listed };
    let mut decap = Decap::load(args.gue_port, sources)?;
    for own in &args.own {
        decap.own.insert(&(*own).into(), &1)?;
    }
    for from in &args.from {
        decap.allowed.insert(&(*from).into(), &1)?;
    }
    let mode = if args.generic { Mode::Generic } else { Mode::Native };
    let attached = decap.attach_pinned(&args.pin, interface_index(&args.interface)?, mode)?;
    Ok(text(args, attached))
}

fn text(args: &Arguments, attached: Attached) -> String {
    let list = |addresses: &[std::net::IpAddr]| {
        addresses.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
    };
    let how = match attached {
        Attached::Afresh => "attached",
        Attached::InPlace => "took the place of the one before",
    };
    let what = match args.gue_port {
        0 => "IPIP".to_owned(),
        port => format!("IPIP, and GUE at UDP port {port}"),
    };
    let from = if args.any { "anywhere".into() } else { list(&args.from) };
    let (interface, own) = (&args.interface, list(&args.own));
    format!("{interface}: {how}; takes {what} off what comes to {own} from {from}")
}

/// A failure to attach or detach a program, with help.
pub(super) fn failed(error: Error) -> Failure {
    let message = error.to_string();
    match error {
        Error::Interface { .. } => Failure::usage(message, "ip link lists the interfaces"),
        Error::Pins { error, .. } if error.kind() == ErrorKind::NotFound => Failure::advised(
            message,
            "no program of heddle's is attached there; --pin if it is pinned elsewhere",
        ),
        _ if !rustix::process::geteuid().is_root() => {
            Failure::advised(message, "eBPF programs are root's to attach: try it with sudo")
        }
        Error::Attach { .. } => {
            let (message, help) =
                message.split_once("\nhelp: ").unwrap_or((&message, "dmesg may say more"));
            Failure::advised(message, help.replace("--attach generic", "--generic"))
        }
        error @ Error::Program(_) => Failure::advised(
            format!("{:#}", anyhow::Error::new(error)),
            "does the interface have another XDP program (ip link)? For a driver without XDP: --generic",
        ),
        error => error.into(),
    }
}
