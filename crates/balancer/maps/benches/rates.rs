//! Packets per second over a veth pair: `cargo bench --package heddle-balancer-maps --bench rates`,
//! as root.
//!
//! A generator on each processor sends clients' packets out of one end; the program at the other
//! end sends them back, and they are dropped there. All of that runs on the generator's processor:
//! the pair has a queue for each. Three programs are measured in turn: the balancer as a daemon
//! loads it, one that sends back and does nothing else, and those that `RATES_BESIDE` names, each
//! as `NAME=PATH` of a pinned XDP program that answers TCP to 192.0.2.10:443 with `XDP_TX`. What
//! the balancer takes longer than the second is its own; the rest is the generator's and the
//! pair's.

#[path = "packets/balancers.rs"]
#[allow(dead_code)] // The other bench uses the rest.
mod balancers;
#[path = "packets/cases.rs"]
#[allow(dead_code)]
mod cases;
#[path = "packets/frames.rs"]
#[allow(dead_code)]
mod frames;
#[path = "../tests/it/network/mod.rs"]
#[allow(dead_code, clippy::unwrap_used)] // The tests use the rest.
mod network;

use balancers::{BACKENDS, Feature, balancer};
use cases::{Case, MILLION, cases};
use heddle_balancer_maps::abi::Counter;
use heddle_balancer_maps::{Balancer, Mode, interface_index};
use heddle_bpf_loader::{
    Clients, Error, Program, Senders, discard, own_network, received, send_back,
};
use network::ip;

type Failure = Box<dyn std::error::Error>;

const FLOWS: [u32; 3] = [1, 1000, MILLION];
const FRAMES: u32 = 1_000_000;
const ROUNDS: usize = 7;
/// Frames of each kind that a program gets before it is measured, at least.
const WARM_UP: u32 = 10_000;

fn main() -> Result<(), Failure> {
    own_network()?;
    let processors = std::thread::available_parallelism()?.get().min(2);
    let queues = format!("numrxqueues {processors} numtxqueues {processors}");
    ip(&format!("link add near {queues} type veth peer name far {queues}"));
    ip("link set near up");
    ip("link set far up");
    let mut sink = discard()?;
    sink.attach(interface_index("near")?, Mode::Native)?;
    let subjects = subjects()?;
    let names: Vec<String> =
        subjects.iter().map(|subject| format!("{:>14}", subject.name())).collect();
    println!("million packets a second: medians of {ROUNDS} rounds, each of all programs in turn");
    println!("{:<12} {:<10} {}", "processors", "flows", names.join(" "));
    for used in 1..=processors {
        for flows in FLOWS {
            let rates = measure(&subjects, used, flows)?;
            let cells: Vec<String> = rates.iter().map(|rate| format!("{rate:>14.2}")).collect();
            println!("{used:<12} {flows:<10} {}", cells.join(" "));
        }
    }
    Ok(())
}

/// A program at the far end.
enum Subject {
    Balancer,
    SendBack,
    Pinned { name: String, path: String },
}

fn subjects() -> Result<Vec<Subject>, Failure> {
    let mut all = vec![Subject::Balancer, Subject::SendBack];
    for word in std::env::var("RATES_BESIDE").unwrap_or_default().split_whitespace() {
        let (name, path) =
            word.split_once('=').ok_or("RATES_BESIDE has NAME=PATH, separated by spaces")?;
        all.push(Subject::Pinned { name: name.into(), path: path.into() });
    }
    Ok(all)
}

impl Subject {
    fn name(&self) -> &str {
        match self {
            Subject::Balancer => "balancer",
            Subject::SendBack => "XDP_TX alone",
            Subject::Pinned { name, .. } => name,
        }
    }

    fn attach(&self, case: &Case) -> Result<Attached, Failure> {
        let far = interface_index("far")?;
        match self {
            Subject::Balancer => {
                let mut balancer = balancer(case, MILLION, &Feature::PRODUCTION)?;
                send_out_of(&mut balancer, far)?;
                balancer.program.attach(far, Mode::Native)?;
                Ok(Attached::Balancer(Box::new(balancer)))
            }
            Subject::SendBack => {
                let mut program = send_back()?;
                program.attach(far, Mode::Native)?;
                Ok(Attached::SendBack { _program: program })
            }
            Subject::Pinned { path, .. } => {
                ip(&format!("link set far xdpdrv pinned {path}"));
                Ok(Attached::Pinned)
            }
        }
    }
}

/// All backends are behind the interface that packets come by.
fn send_out_of(balancer: &mut Balancer, interface: u32) -> Result<(), Error> {
    let targets = &mut balancer.maps.targets;
    (1..=BACKENDS).try_for_each(|index| {
        let target = targets.get(index)?;
        targets.set(index, &heddle_balancer_maps::abi::Target { ifindex: interface, ..target })
    })
}

/// Attached until this is dropped.
enum Attached {
    Balancer(Box<Balancer>),
    SendBack { _program: Program },
    Pinned,
}

impl Attached {
    /// Packets that the balancer has sent on by an entry of its table.
    fn known(&self) -> Result<Option<u64>, Error> {
        let Attached::Balancer(balancer) = self else { return Ok(None) };
        Ok(Some(balancer.maps.counters.get(1, Counter::SentFlow)?.packets))
    }
}

impl Drop for Attached {
    fn drop(&mut self) {
        if matches!(self, Attached::Pinned) {
            ip("link set far xdpdrv off");
        }
    }
}

/// The rate of each program: medians of rounds in turn.
fn measure(subjects: &[Subject], processors: usize, flows: u32) -> Result<Vec<f64>, Failure> {
    let case = cases()
        .into_iter()
        .find(|case| case.name == "known flow, IPIP, learn")
        .ok_or("no case of a known flow")?;
    let mut rates = vec![Vec::new(); subjects.len()];
    let mut senders = Senders::new(interface_index("near")?, processors)?;
    for _ in 0..ROUNDS {
        for (subject, rates) in subjects.iter().zip(&mut rates) {
            let attached = subject.attach(&case)?;
            for frame in &case.first {
                senders.send(frame, Clients::Many(flows), flows.max(WARM_UP))?;
            }
            let known = attached.known()?;
            rates.push(rate(&mut senders, &case.frame, flows)?);
            let known = known.zip(attached.known()?).map(|(before, after)| after - before);
            if known.is_some_and(|known| known < u64::from(FRAMES) / 2) {
                return Err(format!("{known:?} packets were of flows in the table").into());
            }
        }
    }
    Ok(rates
        .into_iter()
        .map(|mut rates| {
            rates.sort_by(f64::total_cmp);
            rates[rates.len() / 2]
        })
        .collect())
}

/// Million packets a second that came back.
fn rate(senders: &mut Senders, frame: &[u8], flows: u32) -> Result<f64, Error> {
    let before = received("near")?;
    let time = senders.send(frame, Clients::Many(flows), FRAMES)?;
    Ok((received("near")? - before) as f64 / time.as_secs_f64() / 1e6)
}
