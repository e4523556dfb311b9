//! `heddle lb explain`.

use std::path::Path;

use heddle_program::{Common, Failure, output};
use heddled::admin::{Explained, Reply, Request};

use crate::args::Explain;
use crate::daemon::{Daemon, unexpected};

pub(crate) fn explain(args: &Explain, socket: &Path, common: &Common) -> Result<(), Failure> {
    if args.from.is_ipv4() != args.to.is_ipv4() {
        let message = format!("{} and {} are of two versions of IP", args.from, args.to);
        return Err(Failure::usage(message, "give both in IPv4, or both in IPv6"));
    }
    let explained = match Daemon::connect(socket)?.ask(&Request::Explain(args.packet()))? {
        Reply::Explained(explained) => explained,
        other => return Err(unexpected(&other)),
    };
    if common.json {
        return output::json(&explained);
    }
    output::line(text(&explained))
}

/// The destination, the reasons, the counters that would have counted.
fn text(explained: &Explained) -> String {
    let mut lines = vec![destination(explained)];
    lines.extend(explained.reasons.iter().map(|reason| format!("  {reason}")));
    let counted = [std::slice::from_ref(&explained.verdict), &explained.events].concat();
    lines.push(format!("  Counted as: {}", counted.join(", ")));
    lines.join("\n")
}

fn destination(explained: &Explained) -> String {
    match (&explained.owner, &explained.backend) {
        (Some(owner), Some(backend)) => format!("to backend {backend}, by way of balancer {owner}"),
        (Some(owner), None) => format!("to balancer {owner}"),
        (None, Some(backend)) => format!("to backend {backend}"),
        (None, None) => end(&explained.verdict).into(),
    }
}

/// The end of a packet that goes to no balancer and no backend with a name.
fn end(verdict: &str) -> &'static str {
    match verdict {
        "too_big" | "refused_closed" | "answered_echo" => "back to the client",
        "replied" | "returned" | "heartbeat_answered" => "back to the balancer that sent it",
        "heartbeat_heard" | "fragment_heard" => "to this balancer: it goes no further",
        "fragment_waits" => "nowhere yet: it waits for the first fragment",
        _ if verdict.starts_with("drop_") => "dropped",
        _ if verdict.starts_with("pass_") => "to this machine itself",
        _ => "to a backend that is gone",
    }
}

#[cfg(test)]
mod tests {
    use heddle_balancer_maps::abi::Counter;

    use super::*;

    #[test]
    fn the_destination_comes_first() {
        let explained = Explained {
            verdict: "queried_join".into(),
            owner: Some("lb2".into()),
            reasons: vec!["It is a SYN.".into(), "Balancer lb2 would be asked.".into()],
            ..Explained::default()
        };
        insta::assert_snapshot!(text(&explained), @r"
        to balancer lb2
          It is a SYN.
          Balancer lb2 would be asked.
          Counted as: queried_join
        ");
    }

    #[test]
    fn destinations() {
        let end = |verdict: &str| {
            destination(&Explained { verdict: verdict.into(), ..Explained::default() })
        };
        let ends = ["drop_no_backend", "refused_closed", "fragment_waits", "sent_flow"].map(end);
        let wanted = [
            "dropped",
            "back to the client",
            "nowhere yet: it waits for the first fragment",
            "to a backend that is gone",
        ];
        assert_eq!(ends, wanted);
        for verdict in &Counter::ALL[..Counter::VERDICTS] {
            let passes = end(verdict.name()) == "to this machine itself";
            assert_eq!(passes, verdict.name().starts_with("pass_"), "{}", verdict.name());
        }
        let backend = Some("be1".into());
        assert_eq!(destination(&Explained { backend, ..Explained::default() }), "to backend be1");
    }
}
