//! `heddle-lab demo`: several balancers, a download over several subflows, and a balancer that
//! fails on the way; first with plain hashing, then with learning.

mod transfer;

use std::collections::BTreeMap;
use std::fmt::Display;
use std::net::{IpAddr, SocketAddr};
use std::time::{Duration, Instant};

use heddle_lab::{
    Cluster, Connection, Fault, Lab, LabError, Setup, StatusReader, Transport, eventually,
    joins_refused, mptcp_counters,
};
use heddle_program::{Common, Failure, output, table};
use heddle_units::Rate;
use indicatif::{ProgressBar, ProgressStyle};
use serde::Serialize;

use crate::daemon::{self, Flow};
use transfer::End;

const PORT: u16 = 8080;
const BALANCERS: usize = 3;
const BACKENDS: usize = 4;
const SUBFLOWS: usize = 4;
const JOINS: u64 = SUBFLOWS as u64 - 1;

/// Limit on the time until each of the client's joins is established or refused; with plain hashing
/// most of them are refused.
const JOINING: Duration = Duration::from_secs(60);

/// Limit on the time until the balancers have noted a packet of each subflow since the download
/// began.
const NOTING: Duration = Duration::from_secs(30);

/// A download with one kind of balancer.
#[derive(Debug, Serialize)]
struct Run {
    /// `mptcp` of the services.
    mode: &'static str,
    megabytes: u64,
    seconds: f64,
    /// Joins that the client attempted.
    joins: u64,
    /// Joins that were established.
    joins_established: u64,
    /// Joins that reached a backend which does not know their token.
    joins_refused: u64,
    /// The balancer that failed.
    cut: usize,
    subflows: Vec<Subflow>,
}

#[derive(Debug, Serialize)]
struct Subflow {
    /// The client's address and port.
    from: String,
    /// The balancers to which its packets came, before the failure and at the end.
    through: [String; 2],
    backend: String,
    bytes: u64,
    longest_stall: f64,
    end: End,
}

pub(crate) fn demo(megabytes: u64, common: &Common) -> Result<(), Failure> {
    say(common, "namespaces: a client with 4 addresses, a router, 3 balancers, 4 backends");
    let modes = [("off", "plain hashing"), ("learn", "heddled learns tokens")];
    let runs: Vec<Run> = modes
        .into_iter()
        .map(|(mode, words)| {
            say(common, &format!("\nmptcp = \"{mode}\": {words}"));
            let run = run(mode, megabytes, common)?;
            if !common.json {
                print_subflows(&run);
            }
            Ok(run)
        })
        .collect::<Result<_, Failure>>()?;
    if common.json {
        return output::json(&runs);
    }
    print_summary(&runs);
    Ok(())
}

fn run(mode: &'static str, megabytes: u64, common: &Common) -> Result<Run, Failure> {
    let bytes = megabytes * 1_000_000;
    let rate = Rate::mbps(100);
    let lab = Lab::builder().balancers(BALANCERS).backends(BACKENDS).client_rate(rate).build()?;
    let _servers = lab.serve(Transport::Mptcp, PORT)?;
    let mut cluster =
        Cluster::with_static_list(&lab, Setup { mptcp: mode, ..daemon::setup(PORT)? })?;
    let service = SocketAddr::new(lab.vips()[0], PORT);
    let mut connection = lab.connect(Transport::Mptcp, service)?;
    let joins_refused = wait_for_joins(&lab, &connection)?;
    let subflows = 1 + JOINS - joins_refused;
    say(
        common,
        &format!("a connection to {} with {subflows} of {SUBFLOWS} subflows", connection.backend()),
    );
    let bar = progress(common, bytes);
    let (mut before, mut cut) = (BTreeMap::new(), 0);
    let reader = connection.status_reader()?;
    let happened = |begun| {
        before = flows_of_subflows(&cluster, &reader, begun)?;
        cut = busiest(&before);
        bar.println(format!(
            "balancer-{cut} dies: its link is gone, and the router sends nothing there any more"
        ));
        cluster.begin(Fault::Machine, &[cut], Duration::ZERO)
    };
    let ended =
        transfer::download(&mut connection, bytes, |so_far| bar.set_position(so_far), happened)?;
    bar.finish_and_clear();
    let after = daemon::flows(cluster.daemons(), BALANCERS)?;
    let subflow = |(local, part, end): &(SocketAddr, transfer::Part, End)| Subflow {
        from: address(*local),
        through: [&before, &after].map(|flows| through(flows, *local)),
        backend: before.get(local).map_or("-".into(), |flow| flow.backend.clone()),
        bytes: part.bytes,
        longest_stall: part.longest_stall.as_secs_f64(),
        end: *end,
    };
    let subflows = ended.parts.iter().map(subflow).collect();
    let counters = mptcp_counters(lab.client())?;
    let count = |name: &str| {
        let missing = || LabError::unreadable("nstat", name, format!("{counters:?}"));
        counters.get(name).copied().ok_or_else(missing)
    };
    let (joins, joins_established) = (count("MPJoinSynTx")?, count("MPJoinSynAckRx")?);
    Ok(Run {
        mode,
        megabytes,
        seconds: ended.took.as_secs_f64(),
        joins,
        joins_established,
        joins_refused,
        cut,
        subflows,
    })
}

/// Waits until each join is established or refused; the number of those refused.
fn wait_for_joins(lab: &Lab, connection: &Connection) -> Result<u64, LabError> {
    let failed = |error: &dyn Display| format!("joins of the client: {error}");
    eventually(JOINING, || {
        let status = connection.status().map_err(|error| failed(&error))?;
        let established = status.established() as u64 - 1;
        let refused = joins_refused(lab).map_err(|error| failed(&error))?;
        let all = established + refused == JOINS;
        all.then_some(refused).ok_or_else(|| {
            failed(&format!("{established} are established and {refused} refused of {JOINS}"))
        })
    })
}

/// The flows of the established subflows: since the download began, packets of each came to the
/// balancer that it has.
fn flows_of_subflows(
    cluster: &Cluster<'_>,
    reader: &StatusReader,
    begun: Instant,
) -> Result<BTreeMap<SocketAddr, Flow>, LabError> {
    eventually(NOTING, || {
        let status = reader.status().map_err(|error| error.to_string())?;
        let flows = daemon::flows(cluster.daemons(), BALANCERS);
        let mut flows = flows.map_err(|error| error.to_string())?;
        flows.retain(|client, flow| flow.seen > begun && status.has(*client));
        let unknown = status.subflows.iter().filter(|flow| flow.established);
        let unknown: Vec<_> = unknown.filter(|flow| !flows.contains_key(&flow.local)).collect();
        if unknown.is_empty() {
            return Ok(flows);
        }
        Err(format!("no balancer has noted a packet of {unknown:?} since the download began"))
    })
}

fn say(common: &Common, text: &str) {
    if !common.quiet {
        eprintln!("{text}");
    }
}

fn progress(common: &Common, bytes: u64) -> ProgressBar {
    if common.quiet {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template(
        "{bar:40} {bytes} of {total_bytes}, {bytes_per_sec}, {eta} to go",
    );
    ProgressBar::new(bytes).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}

/// The balancer to which a subflow's packets come.
fn through(flows: &BTreeMap<SocketAddr, Flow>, local: SocketAddr) -> String {
    flows.get(&local).map_or("-".into(), |flow| format!("balancer-{}", flow.balancer))
}

/// The balancer with the most subflows.
fn busiest(flows: &BTreeMap<SocketAddr, Flow>) -> usize {
    let flows = |index: &usize| flows.values().filter(|flow| flow.balancer == *index).count();
    (0..BALANCERS).rev().max_by_key(flows).unwrap_or(0)
}

fn print_subflows(run: &Run) {
    let mut table = table::of_words(&[
        "subflow from",
        "through",
        "and then",
        "backend",
        "MB",
        "longest stall, s",
        "at the end",
    ]);
    for subflow in &run.subflows {
        let [before, after] = &subflow.through;
        table.add_row([
            subflow.from.clone(),
            before.clone(),
            after.clone(),
            subflow.backend.clone(),
            format!("{:.1}", subflow.bytes as f64 / 1e6),
            format!("{:.2}", subflow.longest_stall),
            format!("{:?}", subflow.end).to_lowercase(),
        ]);
    }
    println!("{table}");
}

fn print_summary(runs: &[Run]) {
    let mut table = table::of_words(&[
        "mptcp",
        "cut",
        "joins established",
        "subflows live",
        "longest stall, s",
        "MB arrived as sent",
        "s",
    ]);
    for run in runs {
        let live = run.subflows.iter().filter(|flow| flow.end == End::Live).count();
        let stalls = run.subflows.iter().map(|flow| format!("{:.2}", flow.longest_stall));
        table.add_row([
            run.mode.to_owned(),
            format!("balancer-{}", run.cut),
            format!("{} of {}", run.joins_established, run.joins),
            format!("{live} of {SUBFLOWS}"),
            stalls.collect::<Vec<_>>().join(", "),
            run.megabytes.to_string(),
            format!("{:.1}", run.seconds),
        ]);
    }
    println!("\n{table}");
}

/// IPv4-mapped addresses as what they are.
fn address(local: SocketAddr) -> String {
    let ip: IpAddr = local.ip().to_canonical();
    SocketAddr::new(ip, local.port()).to_string()
}
