//! `heddle lb drain`.

use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant};

use heddle_program::{
    Common, Failure, interrupt,
    output::{self, counted},
};
use heddled::admin::{BackendChange, BackendStatus, Filter, Reply, Request};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::backends::table_of;
use super::changes::changing;
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
    if common.json {
        return output::json(&changed);
    }
    output::line(table_of(&changed))?;
    if !common.quiet {
        output::line(note(args, &changed))?;
    }
    Ok(())
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
    match (args.undo, flows(changed)) {
        (true, _) => format!("{name} gets new connections again"),
        (false, 0) => format!("{name} has no connections left: it can be stopped"),
        (false, flows) => {
            format!(
                "{name} gets no new connections; {} left, whose joins still go there",
                counted(flows, "flow")
            )
        }
    }
}
