//! `heddle lb drain`.

use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant};

use heddle_program::{Common, Failure, interrupt, output::counted};
use heddled::admin::{BackendChange, BackendStatus, Filter, Reply, Request};
use heddled::health::State;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::backends::state;
use super::changes::changing;
use super::notes::{self, hindrance};
use crate::args::Drain;
use crate::daemon::{Daemon, unexpected};

/// Interval between counts of the flows while waiting.
const INTERVAL: Duration = Duration::from_millis(500);

pub(crate) fn drain(args: &Drain, socket: &Path, common: &Common) -> Result<(), Failure> {
    let mut daemon = Daemon::connect(socket)?;
    let change = BackendChange { weight: None, draining: Some(!args.undo) };
    let request = changing(&args.backend, args.service.as_ref(), change, args.all);
    let mut changed = daemon.changed(&request)?;
    if args.wait {
        changed = wait(&mut daemon, args, &changed, common)?;
    }
    notes::print_with_warnings(&mut daemon, &changed, &note(args, &changed), common)
}

/// Waits until these backends have no flows, or none that is not idle.
fn wait(
    daemon: &mut Daemon,
    args: &Drain,
    of: &[BackendStatus],
    common: &Common,
) -> Result<Vec<BackendStatus>, Failure> {
    let bar = bar(common);
    let began = Instant::now();
    loop {
        let mut now = daemon.backends()?;
        now.retain(|backend| {
            of.iter().any(|o| (&o.service, &o.name) == (&backend.service, &backend.name))
        });
        let flows = match args.idle {
            Some(idle) => active(daemon, args, idle)?,
            None => flows(&now),
        };
        if flows == 0 {
            bar.finish_and_clear();
            return Ok(now);
        }
        bar.set_message(format!("{} left", counted(flows, "flow")));
        bar.tick();
        let left = || format!("{} left; the backend drains on", counted(flows, "flow"));
        if interrupt::stopped() {
            bar.finish_and_clear();
            return Err(Failure::interrupted(left()));
        }
        if args.timeout.is_some_and(|most| began.elapsed() >= most) {
            bar.finish_and_clear();
            let help = format!("heddle lb connections --backend {} lists them", args.backend);
            return Err(Failure::advised(left(), help));
        }
        sleep(INTERVAL);
    }
}

/// The backend's flows that had packets lately.
fn active(daemon: &mut Daemon, args: &Drain, idle: Duration) -> Result<u64, Failure> {
    let filter = Filter {
        service: args.service.clone(),
        backend: Some(args.backend.clone()),
        active: Some(u32::try_from(idle.as_secs()).unwrap_or(u32::MAX)),
        ..Filter::default()
    };
    match daemon.ask(&Request::Connections { filter, limit: 0 })? {
        Reply::Connections(found) => Ok(found.matching),
        other => Err(unexpected(&other)),
    }
}

fn bar(common: &Common) -> ProgressBar {
    let bar = ProgressBar::new_spinner();
    if common.quiet {
        bar.set_draw_target(ProgressDrawTarget::hidden());
    }
    if let Ok(style) = ProgressStyle::with_template("{spinner} {msg}, {elapsed} gone") {
        bar.set_style(style);
    }
    bar
}

fn flows(backends: &[BackendStatus]) -> u64 {
    backends.iter().map(|backend| backend.flows).sum()
}

fn note(args: &Drain, changed: &[BackendStatus]) -> String {
    let name = &args.backend;
    if args.undo {
        let hindrances: Option<Vec<String>> = changed.iter().map(hindrance).collect();
        return match hindrances.as_deref() {
            Some([first, ..]) => {
                format!("{name} is drained no more, and gets no new connections still: {first}")
            }
            _ => format!("{name} gets new connections again"),
        };
    }
    let number = flows(changed);
    let left = counted(number, "flow");
    let idle = args.idle.filter(|_| args.wait).map(|idle| idle.as_secs());
    let down = changed.iter().find(|backend| backend.health == State::Down);
    match (number, idle, down) {
        (0, ..) => format!("{name} has no connections left: it can be stopped"),
        (_, Some(idle), _) => {
            format!("{name} can be stopped: of {left} left, none had a packet for {idle} s")
        }
        (_, _, Some(down)) => {
            format!("{name} gets no new connections; {left} left, and it is {}", state(down))
        }
        _ => format!("{name} gets no new connections; {left} left, whose joins still go there"),
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::*;
    use crate::args::{Cli, Command};
    use crate::commands::backends::example;

    fn noted(words: &str, backend: &BackendStatus) -> String {
        let line = format!("heddle-lb drain be1 {words}");
        match Cli::try_parse_from(line.split_whitespace()).unwrap().command {
            Command::Drain(args) => note(&args, std::slice::from_ref(backend)),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_note_says_what_becomes_of_connections() {
        let up = example("web", "be1");
        let told = "be1 gets no new connections; 12 flows left, whose joins still go there";
        assert_eq!(noted("", &up), told);
        assert_eq!(noted("--undo", &up), "be1 gets new connections again");
        let idle = BackendStatus { flows: 0, ..up.clone() };
        assert_eq!(noted("--wait", &idle), "be1 has no connections left: it can be stopped");
        let told = "be1 can be stopped: of 12 flows left, none had a packet for 2 s";
        assert_eq!(noted("--wait --idle 2s", &up), told);
    }

    #[test]
    fn a_backend_in_maintenance_gets_nothing_drained_or_not() {
        let reason = Some("in maintenance".into());
        let down = BackendStatus { health: State::Down, reason, ..example("web", "be1") };
        let told = "be1 gets no new connections; 12 flows left, and it is down: in maintenance";
        assert_eq!(noted("", &down), told);
        let told =
            "be1 is drained no more, and gets no new connections still: it is down: in maintenance";
        assert_eq!(noted("--undo", &down), told);
        let light = BackendStatus { weight: 0, ..example("web", "be1") };
        assert!(noted("--undo", &light).ends_with("still: its weight is 0"));
    }
}
