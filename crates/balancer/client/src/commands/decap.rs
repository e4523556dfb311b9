//! `heddle lb decap`: the program that decapsulates on backends.

use std::collections::BTreeSet;
use std::io::ErrorKind;
use std::net::IpAddr;

use heddle_balancer_maps::{Attached, Decap, Error, Mode, Sources, detach, interface_index};
use heddle_program::{Common, Failure, output};
use serde_json::json;

use crate::addresses;
use crate::args::Decap as Arguments;

pub(crate) fn decap(args: &Arguments, common: &Common) -> Result<(), Failure> {
    let done = if args.detach { detach_from(args) } else { attach_to(args) };
    let said = done.map_err(failed)?;
    let warnings = strange_addresses(args, &addresses::all());
    if common.json {
        let interface = &args.interface;
        return output::json(
            &json!({ "interface": interface, "done": said, "warnings": warnings }),
        );
    }
    output::line(said)?;
    let shown = warnings.iter().filter(|_| !common.quiet);
    shown.map(|warning| format!("warning: {warning}")).try_for_each(output::line)
}

/// A warning of each address that this machine does not have. It may still come.
fn strange_addresses(args: &Arguments, here: &BTreeSet<IpAddr>) -> Vec<String> {
    let interface = &args.interface;
    let warning = |own: &IpAddr| {
        format!(
            "this machine has no address {own}: what balancers send to it does not come here; fix: --own with one of: ip -brief address; or ip address add {own} dev {interface}"
        )
    };
    args.own.iter().filter(|own| !here.contains(own)).map(warning).collect()
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
    let list = |addresses: &[IpAddr]| {
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

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::*;
    use crate::args::{Cli, Command};

    #[test]
    fn addresses_of_another_machine_are_warned_of() {
        let line = "heddle-lb decap --interface eth0 --own 10.0.0.1 --own fd00::1 --any";
        let Command::Decap(args) = Cli::try_parse_from(line.split(' ')).unwrap().command else {
            panic!("{line}");
        };
        let here = |text: &[&str]| text.iter().map(|text| text.parse().unwrap()).collect();
        assert_eq!(strange_addresses(&args, &here(&["10.0.0.1", "fd00::1"])), [""; 0]);
        let warnings = strange_addresses(&args, &here(&["10.0.0.1"]));
        assert_eq!(warnings.len(), 1);
        assert!(warnings[0].contains("no address fd00::1: "), "{warnings:?}");
        assert!(warnings[0].ends_with("ip address add fd00::1 dev eth0"), "{warnings:?}");
    }
}
