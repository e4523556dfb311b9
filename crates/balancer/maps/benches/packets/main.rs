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

mod balancers;
mod cases;
mod frames;

use balancers::{Feature, balancer};
use cases::{Case, MILLION, cases};
use heddle_balancer_maps::abi::Counter;
use heddle_balancer_maps::{Balancer, Error};
use heddle_bpf_loader::{Bench, Clients, Cost, Program, pass, send_back};

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
    println!("\n{:<44} {:>8} {:>10} {:>9}", "packet", "bare", "production", "(wrapper)");
    for case in cases.iter().filter(|case| is_wanted(case.name)) {
        let features: [&[Feature]; 2] = [&[], &Feature::PRODUCTION];
        let costs = measure(&mut bench, case, MILLION, &features)?;
        let [bare, production] = [&costs[0], &costs[1]];
        println!(
            "{:<44} {:>8.1} {:>10.1} {:>9.1}",
            case.name, bare.program, production.program, bare.wrapper
        );
    }
    if is_wanted("features") || wanted.is_empty() {
        print_features(&mut bench, &cases)?;
    }
    Ok(())
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
        rows.push(measure(bench, case, FEW, &balancers)?);
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

/// One packet at balancers that have these features each.
fn measure(
    bench: &mut Bench,
    case: &Case,
    flows: u32,
    features: &[&[Feature]],
) -> Result<Vec<Cost>, Failure> {
    let load = |features: &&[Feature]| balancer(case, flows, features);
    let balancers = features.iter().map(load).collect::<Result<Vec<_>, _>>()?;
    let programs: Vec<&Program> = balancers.iter().map(|balancer| &balancer.program).collect();
    let all = match case.clients {
        Clients::Many(clients) | Clients::Shuffled(clients) => clients.div_ceil(100_000).max(1),
        Clients::AsWritten => 1,
    };
    for frame in &case.first {
        bench.compare(&programs, std::slice::from_ref(frame), case.clients, all)?;
    }
    let counted = || balancers.iter().map(|balancer| counted(balancer, case.verdict));
    let before = counted().collect::<Result<Vec<_>, _>>()?;
    let batches = if case.clients == Clients::AsWritten { BATCHES } else { 10 };
    let frame = std::slice::from_ref(&case.frame);
    let costs = bench.compare(&programs, frame, case.clients, batches)?;
    for ((after, before), cost) in counted().zip(before).zip(&costs) {
        let counted = after? - before;
        if counted < cost.packets {
            let sent = cost.packets;
            let name = case.name;
            return Err(format!("{name}: {counted} of {sent} packets had the verdict meant").into());
        }
    }
    Ok(costs)
}

fn counted(balancer: &Balancer, verdict: Counter) -> Result<u64, Error> {
    let of_no_service = [Counter::PassNoVip, Counter::HeartbeatAnswered];
    let service = u16::from(!of_no_service.contains(&verdict));
    Ok(balancer.maps.counters.get(service, verdict)?.packets)
}
