//! `heddle-lab soak`: everything comes and goes at random under load, and nothing may break.

mod load;
mod observe;
mod plan;
mod report;

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::process::ExitCode;
use std::thread::sleep;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use anyhow::Context as _;
use clap::{Args, ValueEnum};
use heddle_lab::{Cluster, Lab, Setup, Transport, equal, eventually};
use heddle_program::{Common, Failure, interrupt, output};
use indicatif::{ProgressBar, ProgressStyle};

use crate::daemon;
use load::{Load, Path};
use observe::{JoinCounters, Memories, NewPackets, Packets};
use plan::{Event, Kind, Plan};
use report::{Counted, Expectation, Outcome, Row};

const PORT: u16 = 8080;

/// Errors of an event that are printed; soak.json has all of them.
const SHOWN: usize = 5;

/// Backends of the services, besides the spare one, and one that is no service's.
const BACKENDS: usize = 4;
const SPARE: usize = BACKENDS;
const CONTROL: usize = BACKENDS + 1;

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  heddle-lab soak 60                                     an hour of everything
  heddle-lab soak --faults 200 --events balancers        200 faults of balancers, nothing else
  heddle-lab soak 10 --seed 7                            the events of another run once more
  heddle-lab soak --faults 50 --balancers 5 --at-once 2  two of five at a time: connections alone are judged")]
pub(crate) struct Soak {
    /// Minutes.
    #[arg(value_name = "MINUTES", default_value_t = 10)]
    minutes: u64,
    /// End after this number of faults of balancers, and not before.
    #[arg(long, value_name = "N")]
    faults: Option<usize>,
    /// Seed of the events [default: the time].
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Source of the list of balancers.
    #[arg(long, value_enum, default_value = "etcd")]
    membership: Membership,
    /// Kinds of events; all that the membership has unless given.
    #[arg(long, value_enum, value_delimiter = ',', value_name = "KIND")]
    events: Vec<Kind>,
    /// Balancers.
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u8).range(2..=6))]
    balancers: u8,
    /// Balancers that fail at the same time.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u8).range(1..=5))]
    at_once: u8,
    /// Folder for report.html and soak.json.
    #[arg(long, value_name = "FOLDER", default_value = "out/soak")]
    out: PathBuf,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum Membership {
    /// A list in each balancer's file.
    Static,
    /// etcd.
    Etcd,
}

impl Soak {
    pub(crate) fn run(&self, common: &Common) -> Result<ExitCode, Failure> {
        if self.at_once >= self.balancers {
            return Err(Failure::usage(
                "all balancers would fail at the same time",
                "--at-once must be less than --balancers",
            ));
        }
        if self.kinds().is_empty() {
            return Err(Failure::usage(
                "a static list has no etcd that could fail",
                "--membership etcd, or other --events",
            ));
        }
        interrupt::catch()?;
        let seed = self.seed.unwrap_or_else(|| {
            SystemTime::now().duration_since(UNIX_EPOCH).map_or(1, |time| time.as_secs())
        });
        if !common.quiet {
            eprintln!("seed {seed}; report: {}", self.out.join("report.html").display());
        }
        let lab = Lab::builder().balancers(self.balancers.into()).backends(BACKENDS + 2).build()?;
        let _servers = lab.serve(Transport::Mptcp, PORT)?;
        let setup = daemon::setup(PORT)?;
        let setup = Setup { extra_config: load::udp_service(&lab, BACKENDS), ..setup };
        let cluster = match self.membership {
            Membership::Static => Cluster::with_static_list(&lab, setup)?,
            Membership::Etcd => Cluster::with_etcd(&lab, setup)?,
        };
        let outcome = Running::start(self, &lab, cluster)?.run(seed, common)?;
        self.write(&outcome)?;
        if common.json {
            output::json(&outcome)?;
        } else {
            output::line(outcome.text())?;
        }
        Ok(if outcome.deviations.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }

    /// The kinds of events that can happen.
    fn kinds(&self) -> Vec<Kind> {
        let wanted = |kind: &Kind| self.events.is_empty() || self.events.contains(kind);
        let possible = |kind: &Kind| *kind != Kind::Etcd || self.membership == Membership::Etcd;
        Kind::value_variants().iter().copied().filter(wanted).filter(possible).collect()
    }

    fn expectation(&self) -> Expectation {
        if self.at_once > 1 { Expectation::Connections } else { Expectation::Everything }
    }

    fn write(&self, outcome: &Outcome) -> anyhow::Result<()> {
        let json = serde_json::to_string_pretty(outcome)?;
        let files =
            [("report.html", outcome.html()), ("soak.json", json), ("summary.txt", outcome.text())];
        fs::create_dir_all(&self.out).with_context(|| self.out.display().to_string())?;
        for (name, text) in files {
            let path = self.out.join(name);
            fs::write(&path, text).with_context(|| path.display().to_string())?;
        }
        Ok(())
    }
}

/// A soak that runs.
struct Running<'a> {
    soak: &'a Soak,
    lab: &'a Lab,
    cluster: Cluster<'a>,
    load: Load<'a>,
    begun: Instant,
    memories: Memories,
    /// Packets of each balancer when its maps were made.
    bases: BTreeMap<usize, Packets>,
    joins: JoinCounters,
}

impl<'a> Running<'a> {
    fn start(soak: &'a Soak, lab: &'a Lab, cluster: Cluster<'a>) -> anyhow::Result<Running<'a>> {
        let (begun, memories, bases) = (Instant::now(), Memories::default(), BTreeMap::new());
        let all: Vec<usize> = (0..soak.balancers.into()).collect();
        configure(lab, &cluster, &all, &Backends::default(), Duration::ZERO)?;
        let idle: Vec<_> = all.iter().map(|&at| cluster.daemons().metrics_address(at)).collect();
        let load = Load::start(lab, CONTROL, &idle)?;
        let joins = JoinCounters::read(lab, CONTROL)?;
        let mut running = Running { soak, lab, cluster, load, begun, memories, bases, joins };
        running.set_bases(&all)?;
        Ok(running)
    }

    fn run(mut self, seed: u64, common: &Common) -> anyhow::Result<Outcome> {
        let balancers = (self.soak.balancers.into(), self.soak.at_once.into());
        let mut plan = Plan::new(seed, self.soak.kinds(), balancers, BACKENDS);
        let bar = self.progress(common);
        let (mut rows, mut failure) = (Vec::new(), None);
        while !self.is_over(&rows) {
            sleep(plan.pause());
            let event = plan.next();
            let row = match self.event(&event) {
                Ok(row) => row,
                Err(error) => {
                    failure = Some(format!("{event}: {error:#}"));
                    break;
                }
            };
            let deviations = row.deviations(self.soak.expectation());
            for deviation in &deviations {
                say(common, &bar, &format!("{} s: {event}: {deviation}", row.at));
            }
            let errors = row.service.errors.iter().filter(|_| !deviations.is_empty());
            for error in errors.take(SHOWN) {
                say(common, &bar, &format!("    {error}"));
            }
            rows.push((row, event.is_fault()));
            match self.soak.faults {
                Some(_) => bar.set_position(faults(&rows) as u64),
                None => bar.set_position(self.begun.elapsed().as_secs()),
            }
        }
        bar.finish_and_clear();
        self.outcome(seed, rows.into_iter().map(|(row, _)| row).collect(), failure)
    }

    fn is_over(&self, rows: &[(Row, bool)]) -> bool {
        interrupt::stopped()
            || match self.soak.faults {
                Some(wanted) => faults(rows) >= wanted,
                None => self.begun.elapsed() >= Duration::from_secs(60 * self.soak.minutes),
            }
    }

    fn progress(&self, common: &Common) -> ProgressBar {
        if common.quiet {
            return ProgressBar::hidden();
        }
        let (length, unit) = match self.soak.faults {
            Some(faults) => (faults as u64, "faults"),
            None => (60 * self.soak.minutes, "s"),
        };
        let style = ProgressStyle::with_template(&format!(
            "{{bar:40}} {{pos}} of {{len}} {unit}, {{eta}} to go"
        ));
        ProgressBar::new(length).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
    }

    /// Makes an event happen and pass, and observes.
    fn event(&mut self, event: &Event) -> anyhow::Result<Row> {
        let at = self.begun.elapsed().as_secs();
        let away = match event {
            Event::BackendAway { backend, .. } => {
                Some(self.lab.backend(*backend).name().to_owned())
            }
            _ => None,
        };
        if let Some(away) = &away {
            self.load.end_streams_to(away);
        }
        self.happen(event)?;
        let waits = [self.load.wait_for_answers(), self.cluster.wait_until_agreed()];
        let failures = waits.into_iter().filter_map(Result::err).map(|e| e.to_string()).collect();
        self.memories.look(
            &self.cluster,
            self.soak.balancers.into(),
            self.begun.elapsed().as_secs(),
        )?;
        let joins = JoinCounters::read(self.lab, CONTROL)?;
        let counted = joins.since(&self.joins);
        self.joins = joins;
        let mut service = self.load.take(Path::Service, away.as_deref());
        let mut direct = self.load.take(Path::Direct, None);
        direct.joins_refused = counted.refused(Path::Direct);
        if away.is_none() {
            // Else they are of connections that are lost with their backend.
            service.joins_refused = counted.refused(Path::Service);
        }
        if *event == Event::Joins {
            // The client has closed them itself, and opens none while it does so.
            for observed in [&mut service, &mut direct] {
                observed.forget_subflows();
            }
        }
        if service.joins_missing > 0 || service.joins_refused > 0 {
            service.errors.push(format!("the kernel counted meanwhile: {counted}"));
            let collisions = observe::collisions(&self.cluster, self.soak.balancers.into())?;
            service.errors.push(format!("token collisions at the balancers so far: {collisions}"));
        }
        self.load.reopen()?;
        let (name, withdrawal) = (event.name(), event.withdrawal());
        let event = event.to_string();
        Ok(Row { at, name, event, withdrawal, failures, service, direct })
    }

    fn happen(&mut self, event: &Event) -> anyhow::Result<()> {
        match event {
            Event::Fault { fault, victims, withdrawal, length } => {
                self.cluster.begin(*fault, victims, *withdrawal)?;
                sleep(*length);
                self.cluster.end(*fault, victims)?;
                if *fault == heddle_lab::Fault::Machine {
                    self.set_bases(victims)?;
                }
            }
            Event::BackendAway { backend, length } => {
                self.lab.cut(self.lab.backend(*backend))?;
                sleep(*length);
                self.lab.restore(self.lab.backend(*backend))?;
            }
            Event::Drain { backend, order, gap, length } => {
                let drained = Backends { drained: Some(*backend), spare: false };
                configure(self.lab, &self.cluster, order, &drained, *gap)?;
                sleep(*length);
                configure(self.lab, &self.cluster, order, &Backends::default(), *gap)?;
            }
            Event::Spare { order, gap, length } => {
                // Drained first and last: all balancers know it when connections come, and none are
                // left when it goes.
                for drained in [Some(SPARE), None, Some(SPARE)] {
                    let backends = Backends { drained, spare: true };
                    configure(self.lab, &self.cluster, order, &backends, *gap)?;
                    sleep(*length);
                }
                self.load.end_streams_to(self.lab.backend(SPARE).name());
                self.wait_until_unused(SPARE)?;
                configure(self.lab, &self.cluster, order, &Backends::default(), *gap)?;
            }
            Event::Etcd { restarted, length } => {
                if let Some(etcd) = self.cluster.etcd_mut() {
                    etcd.kill();
                }
                sleep(*length / 2);
                self.cluster.daemons_mut().stop(*restarted);
                self.cluster.daemons_mut().restart(*restarted)?;
                sleep(*length / 2);
                if let Some(etcd) = self.cluster.etcd_mut() {
                    etcd.restart()?;
                }
            }
            Event::Joins => self.lab.renew_joins()?,
        }
        Ok(())
    }

    /// Waits until a backend has no connection: an operator removes none that has.
    fn wait_until_unused(&self, backend: usize) -> anyhow::Result<()> {
        let line = format!("ss -H -t -n state connected exclude time-wait sport = :{PORT}");
        eventually(LAST_CONNECTION, || {
            let open = self.lab.backend(backend).run(&line).map_err(|error| error.to_string())?;
            if open.trim().is_empty() { Ok(()) } else { Err(format!("still open:\n{open}")) }
        })?;
        Ok(())
    }

    fn set_bases(&mut self, balancers: &[usize]) -> anyhow::Result<()> {
        for &index in balancers {
            let packets = Packets::read(self.lab, self.cluster.daemons(), index)?;
            self.bases.insert(index, packets);
        }
        Ok(())
    }

    /// The outcome, also where something has kept it from going on.
    fn outcome(
        mut self,
        seed: u64,
        rows: Vec<Row>,
        failure: Option<String>,
    ) -> anyhow::Result<Outcome> {
        let datagrams = self.load.datagrams();
        self.load.end();
        let daemons = self.cluster.daemons();
        let counted = |(&balancer, base): (&usize, &Packets)| -> anyhow::Result<Counted> {
            let now = Packets::read(self.lab, daemons, balancer)?;
            let NewPackets { counted, received_least, received_most } = now.since(base);
            Ok(Counted { balancer, counted, received_least, received_most })
        };
        // A balancer that is not there any more has no counters.
        let running = |(balancer, _): &(&usize, &Packets)| daemons.process(**balancer).is_some();
        let (counted, errors): (Vec<_>, Vec<_>) =
            self.bases.iter().filter(running).map(counted).partition(Result::is_ok);
        let errors = errors.into_iter().filter_map(Result::err).map(|error| format!("{error:#}"));
        let failures: Vec<String> = failure.into_iter().chain(errors).collect();
        let counted = counted.into_iter().filter_map(Result::ok).collect();
        let failure = (!failures.is_empty()).then(|| failures.join("; "));
        let seconds = self.begun.elapsed().as_secs();
        let mut outcome = Outcome {
            command: std::env::args().collect::<Vec<_>>().join(" "),
            version: env!("CARGO_PKG_VERSION").into(),
            seed,
            membership: format!("{:?}", self.soak.membership).to_lowercase(),
            seconds,
            interrupted: interrupt::stopped(),
            expectation: self.soak.expectation(),
            failure,
            rows,
            datagrams,
            counted,
            memory: self.memories.of_running(&self.cluster, self.soak.balancers.into(), seconds),
            deviations: Vec::new(),
        };
        outcome.judge();
        Ok(outcome)
    }
}

/// A line above the bar, also where standard error is no terminal.
fn say(common: &Common, bar: &ProgressBar, text: &str) {
    if !common.quiet {
        bar.suspend(|| eprintln!("{text}"));
    }
}

fn faults(rows: &[(Row, bool)]) -> usize {
    rows.iter().filter(|(_, is_fault)| *is_fault).count()
}

/// The backends of the services, besides those that always are.
#[derive(Clone, Copy, Debug, Default)]
struct Backends {
    /// One that is drained.
    drained: Option<usize>,
    /// The spare one is there, too.
    spare: bool,
}

/// Limit on the time until the last connection to a drained backend has ended: one that waits for
/// its joins takes 20 s, and one whose client has gone without an answer to its FIN is sent that
/// for some 100 s (`net.ipv4.tcp_orphan_retries`).
const LAST_CONNECTION: Duration = Duration::from_secs(180);

/// Limit on the time until a daemon has its new configuration.
const RELOAD: Duration = Duration::from_secs(60);

/// Writes and reloads the configuration of balancers, one after the other with a pause between;
/// each has it before the next one's turn.
fn configure(
    lab: &Lab,
    cluster: &Cluster<'_>,
    order: &[usize],
    backends: &Backends,
    gap: Duration,
) -> anyhow::Result<()> {
    let daemons = cluster.daemons();
    let all: Vec<usize> = (0..lab.backends().len()).collect();
    let used: Vec<usize> = (0..BACKENDS + usize::from(backends.spare)).collect();
    let mut services = daemons.services(&used);
    if let Some(drained) = backends.drained {
        let name = format!("name = \"{}\"\n", lab.backend(drained).name());
        services = services.replace(&name, &format!("{name}state = \"drain\"\n"));
    }
    for (nth, &index) in order.iter().enumerate() {
        if nth > 0 {
            sleep(gap);
        }
        let text = daemons.config(index).replace(&daemons.services(&all), &services);
        daemons.write_config(index, &text)?;
        daemons.reload(index);
        let expected = (used.len(), usize::from(backends.drained.is_some()));
        eventually(RELOAD, || {
            let metrics = daemons.metrics(index).map_err(|error| error.to_string())?;
            equal(&observe::backends(&metrics), &expected).map_err(|found| {
                format!("backends and drained ones in the metrics of balancer-{index}: {found}")
            })
        })?;
    }
    Ok(())
}
