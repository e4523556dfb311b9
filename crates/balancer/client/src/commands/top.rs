//! `heddle lb top`: the daemon's numbers as rates, live.
//!
//! [`Sample`] is the daemon's state at one moment, [`Rates`] are the differences of two samples,
//! [`Screen`] is the user's choice, and [`view`] draws them.
//! Only this file touches the terminal, and `ratatui` restores it however the program ends.

mod rates;
mod screen;
mod view;

use heddle_program::{Common, Failure, interrupt};
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use ratatui::DefaultTerminal;
use ratatui::crossterm::event::{self, Event};

use crate::args::Top;
use crate::daemon::Daemon;
use rates::{Rates, Sample};
use screen::{Screen, Then};

pub(crate) fn top(args: &Top, socket: &Path, common: &Common) -> Result<(), Failure> {
    if common.json {
        return Err(Failure::usage(
            "top is for terminals",
            "heddle lb counters --json has the numbers",
        ));
    }
    let mut daemon = Daemon::connect(socket)?;
    let first = sample(&mut daemon)?;
    let mut terminal = ratatui::try_init().context("top needs a terminal")?;
    let result = watch(&mut terminal, &mut daemon, first, Duration::from_secs(args.every));
    ratatui::restore();
    result
}

/// Until the user quits or the daemon is gone.
fn watch(
    terminal: &mut DefaultTerminal,
    daemon: &mut Daemon,
    first: Sample,
    every: Duration,
) -> Result<(), Failure> {
    let mut rates = Rates::first(first);
    let mut screen = Screen::default();
    let mut next = Instant::now() + every;
    loop {
        terminal
            .draw(|frame| view::draw(frame, &rates, &mut screen))
            .context("the terminal cannot be drawn on")?;
        let left = next.saturating_duration_since(Instant::now());
        if event::poll(left).context("the terminal cannot be read")? {
            let event = event::read().context("the terminal cannot be read")?;
            if handle(&event, &mut screen, &rates) == Then::Quit {
                return Ok(());
            }
        } else {
            rates = rates.next(sample(daemon)?);
            next = Instant::now() + every;
        }
        if interrupt::stopped() {
            return Ok(());
        }
    }
}

fn handle(event: &Event, screen: &mut Screen, rates: &Rates) -> Then {
    match event {
        Event::Key(key) => screen.press(*key, rates.backends.len()),
        _ => Then::GoOn,
    }
}

fn sample(daemon: &mut Daemon) -> Result<Sample, Failure> {
    let (status, backends) = (daemon.status()?, daemon.backends()?);
    Ok(Sample { at: Instant::now(), status, backends, snapshot: daemon.counters()? })
}
