//! `heddle-lab demo`: several balancers, a download over several subflows, and a balancer that fails on the way.

use std::net::{IpAddr, SocketAddr};
use std::time::{Duration, Instant};

use heddle_lab::{Connection, Daemons, Lab, NextHop, Status, Transport, mptcp_counters};
use heddle_program::{Common, Failure, output, table};
use heddle_units::Rate;
use indicatif::{ProgressBar, ProgressStyle};

use crate::daemon;

const PORT: u16 = 8080;
const BALANCERS: usize = 3;
const BACKENDS: usize = 4;
/// The balancer that dies, and after which part of the download.
const VICTIM: usize = 0;
const DEATH: (u64, u64) = (1, 3);

pub(crate) fn demo(megabytes: u64, common: &Common) -> Result<(), Failure> {
    let bytes = megabytes * 1_000_000;
    say(common, "namespaces: a client with 4 addresses, a router, 3 balancers, 4 backends");
    let lab = Lab::builder()
        .balancers(BALANCERS)
        .backends(BACKENDS)
        .client_rate(Rate::mbps(100))
        .build()?;
    let _servers = lab.serve(Transport::Mptcp, PORT)?;
    let daemons = Daemons::start(&lab, daemon::setup(PORT)?)?;
    let service = SocketAddr::new(lab.vips()[0], PORT);
    say(
        common,
        &format!("service {service}, mptcp = \"learn\", each balancer with its own heddled"),
    );
    let mut connection = lab.connect(Transport::Mptcp, service)?;
    let subflows = connection.wait_for_subflows(4, Instant::now() + Duration::from_secs(5))?;
    say(common, &format!("a connection to {} with {subflows} subflows\n", connection.backend()));

    let before = paths(&lab, &daemons, &connection.status()?);
    let mut at_death = None;
    let bar = progress(common, bytes);
    let begun = Instant::now();
    download(&mut connection, bytes, |so_far, status| {
        bar.set_position(so_far);
        if at_death.is_none() && so_far * DEATH.1 > bytes * DEATH.0 {
            at_death = status.ok();
            bar.println(format!("balancer-{VICTIM} dies: its link is cut, and the router sends nothing there any more"));
            let left: Vec<NextHop> =
                (0..BALANCERS).filter(|i| *i != VICTIM).map(NextHop::Balancer).collect();
            return lab.cut(lab.balancer(VICTIM)).and_then(|()| lab.route_vip(&left));
        }
        Ok(())
    })?;
    bar.finish_and_clear();
    let took = begun.elapsed();
    let after = connection.status()?;
    let living = paths(&lab, &daemons, &after);
    print_table(&before, &living, at_death.as_ref(), &after);
    let joins = mptcp_counters(lab.client())?;
    output::line(format_args!(
        "{megabytes} MB arrived as they were sent, in {:.1} s; {} of {} joins worked, {} of 4 subflows live",
        took.as_secs_f64(),
        joins.get("MPJoinSynAckRx").copied().unwrap_or(0),
        joins.get("MPJoinSynTx").copied().unwrap_or(0),
        after.established(),
    ))
}

fn say(common: &Common, text: &str) {
    if !common.quiet {
        eprintln!("{text}");
    }
}

/// Downloads; `watch` is called from time to time with the bytes received so far and the status of the subflows.
fn download(
    connection: &mut Connection,
    bytes: u64,
    mut watch: impl FnMut(u64, std::io::Result<Status>) -> Result<(), heddle_lab::LabError>,
) -> anyhow::Result<()> {
    let mut failed = None;
    // The download borrows the connection; the reader is a second handle on its socket.
    let reader = connection.status_reader()?;
    connection.download(bytes, 7, |so_far| {
        if failed.is_none() {
            failed = watch(so_far, reader.status()).err();
        }
    })?;
    failed.map_or(Ok(()), |error| Err(error.into()))
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

/// For each subflow: its client address, the reachable balancers that have it in their tables, and its backend.
fn paths(lab: &Lab, daemons: &Daemons<'_>, status: &Status) -> Vec<(SocketAddr, String, String)> {
    let of = |local: SocketAddr| {
        let mut via = Vec::new();
        let mut backend = String::from("-");
        for index in 0..lab.balancers().len() {
            if let Some(name) = daemon::backend_of(&daemons.socket(index), local) {
                via.push(format!("balancer-{index}"));
                backend = name;
            }
        }
        (local, via.join(", "), backend)
    };
    status.subflows.iter().map(|subflow| of(subflow.local)).collect()
}

fn print_table(
    before: &[(SocketAddr, String, String)],
    living: &[(SocketAddr, String, String)],
    at_death: Option<&Status>,
    after: &Status,
) {
    let mut table = table::of_words(&[
        "subflow from",
        "in the tables of, before",
        "and after",
        "backend",
        "MB before",
        "MB after",
        "now",
    ]);
    for (local, via, backend) in before {
        let received = |status: Option<&Status>| {
            let flow = status?.subflows.iter().find(|flow| flow.local == *local)?;
            Some(flow.bytes_received)
        };
        let first = received(at_death).unwrap_or(0);
        let rest = received(Some(after)).map(|all| all.saturating_sub(first));
        let alive = after.subflows.iter().any(|flow| flow.local == *local && flow.established);
        let now = living
            .iter()
            .find(|(other, ..)| other == local)
            .map_or("-", |(_, via, _)| via.as_str());
        table.add_row([
            address(*local),
            via.clone(),
            now.to_owned(),
            backend.clone(),
            format!("{:.1}", first as f64 / 1e6),
            rest.map_or("-".into(), |rest| format!("{:.1}", rest as f64 / 1e6)),
            if alive { "established".into() } else { "gone".to_owned() },
        ]);
    }
    println!("{table}");
}

/// IPv4-mapped addresses as what they are.
fn address(local: SocketAddr) -> String {
    let ip: IpAddr = local.ip().to_canonical();
    SocketAddr::new(ip, local.port()).to_string()
}
