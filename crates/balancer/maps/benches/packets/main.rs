//! The balancer's time for a packet: `cargo bench --package heddle-balancer-maps --bench packets`,
//! as root.
//!
//! Nanoseconds of processor time, medians over batches of 100,000 packets
//! ([`heddle_bpf_loader::Bench`]). Each case says which verdict its packets must have had, and
//! fails if the program's own counters say otherwise. Two tables:
//!
//! - Each packet at a balancer with its service and no more, and, in turns with that, at one as a
//!   daemon loads it that has everything: for other services and interfaces.
//! - What each of these features costs packets that do not need it: differences to a balancer
//!   without it, in turns.
//!
//! `PACKETS_BESIDE` names other programs that are measured in the same turns, each as `NAME=PATH`
//! of a pinned XDP program that answers for the same services. The first table then has shares of
//! the first one's time, too: medians over the turns. Words of the command line choose the cases
//! whose names have all of them: where tables of the others fill up, a case at a time is given
//! fresh ones.

mod balancers;
mod cases;
mod frames;

use aya::programs::ProgramFd;
use balancers::{Feature, balancer};
use cases::{Case, MILLION, cases};
use heddle_balancer_maps::abi::Counter;
use heddle_balancer_maps::{Balancer, Error};
use heddle_bpf_loader::{Bench, Clients, Cost, Program, pass, pinned_program, send_back};

type Failure = Box<dyn std::error::Error>;

/// The packets of the table of features.
const WITHOUT_NEED: [&str; 5] = [
    "for no service",
    "known flow, IPIP, learn",
    "known flow, IPv6 in IPv6, learn",
    "known UDP flow, IPIP",
    "SYN, learn, one flow again",
];
/// Flows that their balancers hold.
const FEW: u32 = 1 << 16;
const BATCHES: u32 = 31;
/// Packets of a batch.
const BATCH: u32 = 100_000;

fn main() -> Result<(), Failure> {
    let wanted: Vec<String> =
        std::env::args().skip(1).filter(|arg| !arg.starts_with("--")).collect();
    let is_wanted = |name: &str| wanted.iter().all(|word| name.contains(word));
    let kernel = std::fs::read_to_string("/proc/sys/kernel/osrelease")?;
    println!("kernel {}, nanoseconds per packet, medians", kernel.trim());
    let [pass, send_back] = [pass()?, send_back()?].map(|program| floor(&program));
    println!("programs of one instruction: XDP_PASS {} ns, XDP_TX {} ns", pass?, send_back?);
    let (mut bench, cases) = (Bench::new()?, cases());
    print_size(&balancer(&cases[0], FEW, &[])?)?;
    let others = others()?;
    print_head(&others);
    for case in cases.iter().filter(|case| is_wanted(case.name)) {
        let features: [&[Feature]; 2] = [&[], &Feature::PRODUCTION];
        let costs = measure(&mut bench, case, MILLION, &features, &others)?;
        print_costs(case.name, &costs);
    }
    if is_wanted("features") || wanted.is_empty() {
        print_features(&mut bench, &cases)?;
    }
    Ok(())
}

/// Another program that answers for the bench's services.
struct Other {
    name: String,
    program: ProgramFd,
}

fn others() -> Result<Vec<Other>, Failure> {
    let words = std::env::var("PACKETS_BESIDE").unwrap_or_default();
    let other = |word: &str| {
        let (name, path) =
            word.split_once('=').ok_or("PACKETS_BESIDE has NAME=PATH, separated by spaces")?;
        Ok(Other { name: name.into(), program: pinned_program(path.as_ref())? })
    };
    words.split_whitespace().map(other).collect()
}

fn print_head(others: &[Other]) {
    let names = ["bare", "production"].into_iter().chain(others.iter().map(|other| &*other.name));
    let names: Vec<String> = names.map(|name| format!("{name:>10}")).collect();
    print!("\n{:<44} {} {:>9}", "packet", names.join(" "), "(wrapper)");
    match others.first() {
        Some(first) => println!("  shares of {}'s, in this order", first.name),
        None => println!(),
    }
}

/// The balancers' first, then the others'.
fn print_costs(name: &str, costs: &Costs) {
    let all = || costs.balancers.iter().chain(&costs.others);
    let times: Vec<String> = all().map(|cost| format!("{:>10.1}", cost.program)).collect();
    print!("{name:<44} {} {:>9.1}", times.join(" "), costs.balancers[0].wrapper);
    if costs.others.is_empty() {
        return println!();
    }
    let shares: Vec<String> = all().map(|cost| format!("{:>6.2}", cost.share)).collect();
    println!(" {}", shares.join(""));
}

fn print_size(balancer: &Balancer) -> Result<(), Error> {
    let size = balancer.program.size()?;
    println!(
        "the program: {} instructions, {} bytes of machine code; the verifier followed {}",
        size.instructions, size.machine_code, size.verified
    );
    Ok(())
}

/// The least that any program takes on this machine: the median of runs without a wrapper.
fn floor(program: &Program) -> Result<u128, Error> {
    let run = |_| Ok(program.run(&[0; 64], 1_000_000)?.duration.as_nanos());
    let mut runs = (0..15).map(run).collect::<Result<Vec<u128>, Error>>()?;
    runs.sort_unstable();
    Ok(runs[runs.len() / 2])
}

/// The cost of each feature for packets that do not need it.
fn print_features(bench: &mut Bench, cases: &[Case]) -> Result<(), Failure> {
    let chosen: Vec<&Case> =
        cases.iter().filter(|case| WITHOUT_NEED.contains(&case.name)).collect();
    let features: Vec<&[Feature]> = Feature::ALL.iter().map(std::slice::from_ref).collect();
    let balancers = [&[&[][..]][..], &features, &[&Feature::PRODUCTION]].concat();
    let mut rows = Vec::new();
    for case in &chosen {
        rows.push(measure(bench, case, FEW, &balancers, &[])?.balancers);
    }
    println!("\nmore than without, by feature; columns:");
    (1..).zip(&chosen).for_each(|(number, case)| println!("{number}  {}", case.name));
    let names = Feature::ALL.map(Feature::name).into_iter().chain(["all but the last"]);
    for (row, name) in (1..).zip(names) {
        let cells = rows.iter().map(|costs| format!("{:>8.1}", costs[row].more));
        println!("{name:<44} {}", cells.collect::<Vec<_>>().join(" "));
    }
    Ok(())
}

/// Costs of one packet.
struct Costs {
    balancers: Vec<Cost>,
    others: Vec<Cost>,
}

/// One packet at balancers that have these features each, and at the others.
fn measure(
    bench: &mut Bench,
    case: &Case,
    flows: u32,
    features: &[&[Feature]],
    others: &[Other],
) -> Result<Costs, Failure> {
    let load = |features: &&[Feature]| balancer(case, flows, features);
    let balancers = features.iter().map(load).collect::<Result<Vec<_>, _>>()?;
    let mut programs: Vec<&ProgramFd> = others.iter().map(|other| &other.program).collect();
    for balancer in &balancers {
        programs.push(balancer.program.fd()?);
    }
    for frame in &case.first {
        bench.compare(&programs, std::slice::from_ref(frame), case.clients, rounds(case))?;
    }
    let counted = || balancers.iter().map(|balancer| counted(balancer, case.verdict));
    let before = counted().collect::<Result<Vec<_>, _>>()?;
    // Where nothing was sent before, a client comes once.
    let once = case.first.is_empty() && case.clients != Clients::AsWritten;
    let batches = if once { rounds(case) - 1 } else { BATCHES };
    let frame = std::slice::from_ref(&case.frame);
    let mut costs = bench.compare(&programs, frame, case.clients, batches)?;
    let balancers_costs = costs.split_off(others.len());
    for ((after, before), cost) in counted().zip(before).zip(&balancers_costs) {
        let (name, counted, sent) = (case.name, after? - before, cost.packets);
        if counted < sent {
            return Err(format!("{name}: {counted} of {sent} packets had the verdict meant").into());
        }
    }
    for (other, cost) in others.iter().zip(&costs) {
        if cost.action != balancers_costs[0].action {
            let (name, action) = (&other.name, cost.action);
            return Err(format!("{name}: {action:?} of a packet {}", case.name).into());
        }
    }
    Ok(Costs { balancers: balancers_costs, others: costs })
}

/// Batches in which each client comes.
fn rounds(case: &Case) -> u32 {
    match case.clients {
        Clients::Many(clients) | Clients::Shuffled(clients) => clients.div_ceil(BATCH),
        Clients::AsWritten => 1,
    }
}

fn counted(balancer: &Balancer, verdict: Counter) -> Result<u64, Error> {
    let of_no_service = [Counter::PassNoVip, Counter::HeartbeatAnswered];
    let service = u16::from(!of_no_service.contains(&verdict));
    Ok(balancer.maps.counters.get(service, verdict)?.packets)
}
