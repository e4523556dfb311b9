//! The switch's state as text.

use std::fmt::Write as _;

use crate::explain::Explanation;
use crate::status::Status;

/// The state as `heddle-switch status` and `top` print it.
pub fn status(status: &Status) -> String {
    let mut text = format!("{}: {}\n\n", status.node, status.scheme);
    ports(status, &mut text);
    routes(status, &mut text);
    counters(status, &mut text);
    text
}

/// A packet's way, with its next hops.
pub fn explanation(explained: &Explanation) -> String {
    let mut text = explained.steps.join("\n");
    for hop in &explained.next_hops {
        let state = if hop.up { "up" } else { "DOWN" };
        let _ = write!(
            text,
            "\nnext hop {:<12} {state:<5} {:>5.1}% {:>14} sent",
            hop.peer,
            hop.utilisation * 100.0,
            hop.sent.packets
        );
    }
    if let Some(to) = &explained.to {
        let _ = write!(text, "\nto {to}");
    }
    text
}

/// The links that are said to be down.
pub fn links(down: &[(String, String)]) -> String {
    let names: Vec<String> = down.iter().map(|(a, b)| format!("{a} - {b}")).collect();
    match names.as_slice() {
        [] => "no link is reported down".into(),
        names => format!("reported down: {}", names.join(", ")),
    }
}

fn ports(status: &Status, text: &mut String) {
    let _ = writeln!(
        text,
        "{:<12} {:<12} {:<5} {:<5} {:>6} {:>14} {:>14}",
        "device", "peer", "role", "state", "util", "received", "sent"
    );
    for port in &status.ports {
        let state = if port.up { "up" } else { "DOWN" };
        let _ = writeln!(
            text,
            "{:<12} {:<12} {:<5} {:<5} {:>5.1}% {:>14} {:>14}",
            port.device,
            port.peer,
            port.role,
            state,
            port.utilisation * 100.0,
            port.received.packets,
            port.sent.packets
        );
    }
}

fn routes(status: &Status, text: &mut String) {
    let _ = writeln!(text, "\n{:<12} next hops", "towards");
    for route in &status.routes {
        let _ = write!(text, "{:<12} {}", route.tor, route.next_hops.join(" "));
        if !route.prefixes.is_empty() {
            let _ = write!(text, " ({})", route.prefixes.join(", "));
        }
        for (rank, best) in (1..).zip(&route.best) {
            let _ = write!(
                text,
                "; best {rank}: {} (util {}, {:.1} ms ago)",
                best.peer, best.util, best.age_ms
            );
        }
        text.push('\n');
    }
}

/// Those that are not 0.
fn counters(status: &Status, text: &mut String) {
    let _ = writeln!(text, "\n{} flowlets, {} subflows live", status.flowlets, status.subflows);
    for (name, count) in status.counters.iter().filter(|(_, count)| count.packets > 0) {
        let _ = writeln!(text, "{name:<20} {:>14}", count.packets);
    }
    for (name, count) in status.scheme_counters.iter().filter(|(_, count)| **count > 0) {
        let _ = writeln!(text, "scheme {name:<13} {count:>14}");
    }
}
