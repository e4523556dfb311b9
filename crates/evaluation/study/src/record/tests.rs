use heddle_claims::Unattended;

use super::*;
use crate::cell::seeded;
use crate::testing::{run, scenario};

/// One flow of 146 000 bytes, which is 100 segments, between two leaves.
fn one_flow() -> Vec<Cell> {
    let changes = [
        ("workload", "{ kind = \"long\", pairs = [\"host-1 host-3\"], start_within = \"1us\" }"),
        ("measure", "{ duration = \"5ms\" }"),
    ];
    seeded("ecmp", &scenario(&changes), &[1, 2])
}

fn wanted(cells: &[Cell], links: &[&str], flows: &[u32]) -> Result<Wanted, String> {
    let links: Vec<String> = links.iter().map(|&link| link.to_owned()).collect();
    Wanted::new(&cells[0].scenario, &links, flows).map_err(|error| error.to_string())
}

#[test]
fn each_seed_has_a_file_for_each_link_and_flow() {
    let (folder, cells) = (tempfile::tempdir().unwrap(), one_flow());
    let wanted = wanted(&cells, &["leaf-1 host-1", "spine-2"], &[1]).unwrap();
    let names = record(&cells, &wanted, folder.path(), &Unattended).unwrap();
    let of_seed = |seed| {
        [
            format!("leaf-1_host-1-seed-{seed}.pcap"),
            format!("spine-2-seed-{seed}.pcap"),
            format!("flow-1-seed-{seed}.csv"),
        ]
    };
    assert_eq!(names, [of_seed(1), of_seed(2)].concat());
    let read = |name: &str| std::fs::read(folder.path().join(name)).unwrap();
    let capture = read("leaf-1_host-1-seed-1.pcap");
    assert!(capture.len() > 1000 && capture.starts_with(&[0x4d, 0x3c, 0xb2, 0xa1]));
    let csv = String::from_utf8(read("flow-1-seed-2.csv")).unwrap();
    let rows: Vec<Vec<&str>> = csv.lines().map(|line| line.split(',').collect()).collect();
    assert_eq!(rows[0].join(","), TRACE_COLUMNS);
    assert!(rows.iter().all(|row| row.len() == rows[0].len()));
    // Ten segments, then one more for each that is acknowledged (RFC 6928, RFC 3465).
    let windows: Vec<u64> = rows[1..].iter().map(|row| row[2].parse().unwrap()).collect();
    assert_eq!(windows[0], 14_600);
    assert!(windows.windows(2).take(20).all(|pair| pair[1] - pair[0] <= 1460), "{windows:?}");
    let last = rows.last().unwrap();
    assert!(last[10].starts_with("spine-") && last[11].starts_with("leaf-1 spine-"), "{last:?}");
}

#[test]
fn links_and_flows_that_are_not_there_are_named() {
    let (folder, cells) = (tempfile::tempdir().unwrap(), one_flow());
    let error = wanted(&cells, &["leaf-1 host-9"], &[]).unwrap_err();
    assert!(error.contains("no node is called \"host-9\""), "{error}");
    let two = wanted(&cells, &[], &[2]).unwrap();
    let error = record(&cells[..1], &two, folder.path(), &Unattended).unwrap_err().to_string();
    assert_eq!(error, "ecmp seed 1: there is no flow 2 to trace: 1 flows started");
    let ideal = seeded("ideal", &scenario(&[("scheme", "ideal")]), &[1]);
    let error = wanted(&ideal, &["leaf-1 host-1"], &[]).unwrap_err();
    assert!(error.starts_with("the ideal fabric has no link"), "{error}");
}

/// The digest is over every event.
#[test]
fn recording_changes_nothing() {
    let cells = seeded("ecmp", &scenario(&[]), &[5]);
    let wanted = wanted(&cells, &["leaf-1", "leaf-2"], &[1, 2]).unwrap();
    let mut files = tempfile::tempdir()
        .map(|folder| Files::create(&wanted, 5, folder.path()))
        .unwrap()
        .unwrap();
    let recorded = (&wanted.recording, &mut files as &mut dyn Recorder);
    let outcome = simulate_recorded(&cells[0].scenario, 5, recorded, &mut |_| Next::Continue);
    assert_eq!(format!("{:016x}", outcome.unwrap().digest), run(&cells[0]).digest);
}
