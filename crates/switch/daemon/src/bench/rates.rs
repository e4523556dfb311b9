//! Packets a second end to end: frames enter one veth pair, the switch forwards them to eight
//! others, and what arrives there is counted.
//!
//! Beside the schemes at both hooks stand the kernel's own routes and programs that send everything
//! out of one port: the least that forwarding takes at a hook. The generator, the switch and the
//! sinks share one processor, so a rate is that of the whole path; ratios say what a scheme adds.
//! Rates are of processor time: what other programs do meanwhile does not lower them.

use std::time::Duration;

use heddle_bpf_loader::{Clients, Error, Forwarding, Generator, ProcessorClock, Program};
use heddle_switch_maps::Hook;
use heddle_switch_maps::abi::SwitchCounter;
use serde::Serialize;

use super::cases::{self, Case};
use super::network::Network;
use super::{BenchError, median};
use crate::frames::{self, MptcpOption};
use crate::rig::Rig;

/// The rate of a case.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Rate {
    /// The forwarder: a scheme, the kernel's routes, or a program that sends all to one port.
    pub case: String,
    /// Place: `"xdp"`, `"tc"` or `"kernel"`.
    pub hook: &'static str,
    /// Flows in turn; of the cases with shims, subflows.
    pub flows: u32,
    /// Million packets that arrived in a second of processor time: the median over all rounds.
    pub million_per_second: f64,
    /// The same over ECMP's of the hook (the kernel's over that of tc): the median of the ratios in
    /// each round.
    pub to_ecmp: f64,
    /// The share of packets that did not arrive, over all rounds.
    pub lost: f64,
}

/// The measurement's size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Load {
    /// Rounds over all cases.
    pub rounds: u32,
    /// Flows at a time: 1 to 32,768.
    pub flows: u32,
    /// Frames of a case and round.
    pub frames: u32,
}

/// Frames before each measurement, uncounted.
const WARM_UP: u32 = 2_000;

/// Measures all cases in rounds over all of them, in a network namespace of this thread's own,
/// where it stays.
///
/// # Errors
/// See [`BenchError`].
pub fn rates(load: Load, mut progress: impl FnMut(&str)) -> Result<Vec<Rate>, BenchError> {
    let network = Network::new()?;
    let mut generator = Generator::new(network.generator)?;
    let clock = ProcessorClock::new(0)?;
    let mut subjects: Vec<Measuring> = subjects().into_iter().map(Measuring::new).collect();
    for round in 0..load.rounds {
        for one in &mut subjects {
            let (name, hook) = (one.subject.name(), one.subject.hook());
            progress(&format!(
                "{} flows, round {} of {}: {name}, {hook}",
                load.flows,
                round + 1,
                load.rounds
            ));
            let arrived = one.round(&network, &mut generator, &clock, load)?;
            one.arrived.push(arrived);
        }
    }
    Ok(summary(&subjects, load))
}

/// Something that forwards.
enum Subject {
    Scheme(Case, Hook),
    /// Everything to one port, by a program.
    Bare(Hook),
    /// The kernel's routes over so many ports.
    Routes(u16),
}

fn subjects() -> Vec<Subject> {
    let mut all = Vec::new();
    for hook in [Hook::Xdp, Hook::Tc] {
        let forwards = |case: &Case| case.verdict == SwitchCounter::Forwarded;
        let schemes = cases::all().into_iter().filter(forwards);
        all.extend(schemes.map(|case| Subject::Scheme(case, hook)));
        all.push(Subject::Bare(hook));
    }
    all.extend([Subject::Routes(1), Subject::Routes(crate::rig::UPLINKS)]);
    all
}

impl Subject {
    fn name(&self) -> &str {
        match self {
            Subject::Scheme(case, _) => &case.name,
            Subject::Bare(_) => "bare forwarding to one port",
            Subject::Routes(1) => "a route",
            Subject::Routes(_) => "a multipath route",
        }
    }

    fn hook(&self) -> &'static str {
        match self {
            Subject::Scheme(_, Hook::Xdp) | Subject::Bare(Hook::Xdp) => "xdp",
            Subject::Routes(_) => "kernel",
            _ => "tc",
        }
    }

    /// The frame, and the flows that are made of it.
    fn traffic(&self, flows: u32) -> (Vec<u8>, u32) {
        let plain = || frames::data("10.0.0.0", "10.0.1.1", (0x4000, 5000), MptcpOption::None);
        match self {
            Subject::Scheme(case, _) => {
                let flows = if case.fixed { case.frames.len() as u32 } else { flows };
                (case.frames.first().cloned().unwrap_or_else(plain), flows)
            }
            _ => (plain(), flows),
        }
    }
}

/// Programs and routes of a measurement, attached until this is dropped.
struct Attached {
    switch: Option<Rig>,
    _bare: Option<Forwarding>,
    /// A program that passes all frames on, in front of what is not XDP.
    _pass: Option<Program>,
}

impl Attached {
    fn new(subject: &Subject, network: &Network) -> Result<Attached, BenchError> {
        let _pass = if subject.hook() == "xdp" { None } else { Some(network.behind_xdp()?) };
        let (switch, _bare) = match subject {
            Subject::Scheme(case, hook) => {
                let mut rig = case.rig_on(network.ports, *hook)?;
                network.attach(&mut rig.switch, *hook)?;
                (Some(rig), None)
            }
            Subject::Bare(hook) => (None, Some(network.bare(*hook)?)),
            Subject::Routes(ports) => {
                network.route_over(*ports)?;
                (None, None)
            }
        };
        Ok(Attached { switch, _bare, _pass })
    }

    /// Packets that the switch says it has forwarded.
    fn forwarded(&self) -> Result<Option<u64>, Error> {
        self.switch.as_ref().map(Rig::forwarded).transpose()
    }
}

/// A subject with its measurements.
struct Measuring {
    subject: Subject,
    arrived: Vec<Arrived>,
}

/// The result of a round.
struct Arrived {
    packets: u64,
    time: Duration,
}

impl Arrived {
    fn rate(&self) -> f64 {
        self.packets as f64 / self.time.as_secs_f64() / 1e6
    }
}

impl Measuring {
    fn new(subject: Subject) -> Measuring {
        Measuring { subject, arrived: Vec::new() }
    }

    fn round(
        &self,
        network: &Network,
        generator: &mut Generator,
        clock: &ProcessorClock,
        load: Load,
    ) -> Result<Arrived, BenchError> {
        let attached = Attached::new(&self.subject, network)?;
        let (frame, flows) = self.subject.traffic(load.flows);
        let clients = Clients::Many(flows);
        generator.send(&frame, clients, WARM_UP)?;
        let (before, counted) = (network.arrived()?, attached.forwarded()?);
        let start = clock.now()?;
        generator.send(&frame, clients, load.frames)?;
        let time = clock.now()? - start;
        let packets = network.arrived()? - before;
        let forwarded = attached.forwarded()?.zip(counted).map(|(after, before)| after - before);
        match forwarded {
            Some(forwarded) if forwarded < packets => Err(self.astray(forwarded, packets)),
            _ if packets == 0 => Err(self.astray(0, load.frames.into())),
            _ => Ok(Arrived { packets, time }),
        }
    }

    /// Packets arrived by another way than the subject's, or none.
    fn astray(&self, forwarded: u64, packets: u64) -> BenchError {
        let case = format!("{}, {}", self.subject.name(), self.subject.hook());
        BenchError::NotForwarded { case, forwarded, packets }
    }

    fn rates(&self) -> Vec<f64> {
        self.arrived.iter().map(Arrived::rate).collect()
    }
}

fn summary(all: &[Measuring], load: Load) -> Vec<Rate> {
    let ecmp = |hook: &str| {
        let of_hook = if hook == "xdp" { "xdp" } else { "tc" };
        let is_ecmp =
            |one: &&Measuring| one.subject.name() == "ecmp" && one.subject.hook() == of_hook;
        all.iter().find(is_ecmp).map(Measuring::rates).unwrap_or_default()
    };
    let rate_of = |one: &Measuring| {
        let mut rates = one.rates();
        let mut ratios: Vec<f64> =
            rates.iter().zip(ecmp(one.subject.hook())).map(|(rate, ecmp)| rate / ecmp).collect();
        let arrived: u64 = one.arrived.iter().map(|round| round.packets).sum();
        let sent = u64::from(load.rounds) * u64::from(load.frames);
        Rate {
            case: one.subject.name().to_owned(),
            hook: one.subject.hook(),
            flows: one.subject.traffic(load.flows).1,
            million_per_second: median(&mut rates),
            to_ecmp: median(&mut ratios),
            lost: 1.0 - arrived as f64 / sent as f64,
        }
    };
    all.iter().map(rate_of).collect()
}
