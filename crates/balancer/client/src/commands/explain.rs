//! `heddle lb explain`.

use std::path::Path;

use heddle_program::{Common, Failure, output};
use heddled::admin::{Explained, Reply, Request};

use crate::args::Explain;
use crate::daemon::{Daemon, unexpected};

pub(crate) fn explain(args: &Explain, socket: &Path, common: &Common) -> Result<(), Failure> {
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
    let verdict = explained.verdict.as_str();
    match (&explained.owner, &explained.backend) {
        (Some(owner), Some(backend)) => format!("to backend {backend}, by way of balancer {owner}"),
        (Some(owner), None) => format!("to balancer {owner}"),
        (None, Some(backend)) => format!("to backend {backend}"),
        (None, None) if verdict.starts_with("drop_") => "dropped".into(),
        (None, None) if verdict == "too_big" => "back to the client".into(),
        (None, None) => "to this machine itself".into(),
    }
}

#[cfg(test)]
mod tests {
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
        let ends = ["drop_no_backend", "too_big", "pass_no_vip"].map(end);
        assert_eq!(ends, ["dropped", "back to the client", "to this machine itself"]);
        let backend = Some("be1".into());
        assert_eq!(destination(&Explained { backend, ..Explained::default() }), "to backend be1");
    }
}
