use heddle_sim::{PortCounters, PortName, Samples, Totals};
use heddle_units::{Bytes, Rate, Time};

use super::sampled::series;
use super::*;

/// A flow of some bytes that took some microseconds; ten in an empty fabric.
fn flow(bytes: u64, micros: u64) -> FlowRecord {
    let (start, fct, ideal_fct) = (Time::ZERO, Time::micros(micros), Time::micros(10));
    FlowRecord {
        id: 1,
        index: 0,
        workload: 0,
        start,
        from: 0,
        to: 1,
        size: Bytes(bytes),
        fct,
        ideal_fct,
    }
}

fn outcome(flows: Vec<FlowRecord>, samples: Samples) -> Outcome {
    let (totals, scheme, digest) = (Totals::default(), Default::default(), 0);
    Outcome {
        flows,
        unfinished: Vec::new(),
        long_flows: Vec::new(),
        requests: Vec::new(),
        samples,
        totals,
        scheme,
        path_use: None,
        port_counters: Vec::new(),
        digest,
    }
}

/// One 1 Gbps port sampled every 10 us (1250 bytes at most); each sample is bytes sent and bytes
/// waiting.
fn samples(rows: impl IntoIterator<Item = (u32, u32)>) -> Samples {
    let name = |from: &str, to: &str| PortName {
        from: from.into(),
        to: to.into(),
        parallel: None,
        rate: Rate(1_000_000_000),
    };
    let (sent, queued): (Vec<u32>, Vec<u32>) = rows.into_iter().unzip();
    let times = (1..=sent.len() as u64).map(|i| Time::micros(10 * i)).collect();
    let (dropped, marked) = (vec![0; sent.len()], vec![0; sent.len()]);
    let ports = vec![name("leaf-1", "spine-1")];
    Samples { ports, times, sent, queued, dropped, marked, measured_from: 0 }
}

/// 101 flows of 0 to 100 us: the q-quantile is q x 100 us; in any order of arrival.
#[test]
fn times_and_slowdowns_of_an_even_distribution() {
    let flows: Vec<FlowRecord> = (0..=100).rev().map(|micros| flow(1_000, micros)).collect();
    let fct = FctSummary::new(&flows, &[]);
    let all = fct.all.unwrap();
    let near = |found: f64, micros: f64| assert!((found - micros * 1e-6).abs() < 1e-12, "{found}");
    near(all.seconds.mean, 50.0);
    near(all.seconds.p50, 50.0);
    near(all.seconds.p95, 95.0);
    near(all.seconds.p99, 99.0);
    assert!((all.slowdown.mean - 5.0).abs() < 1e-12 && (all.slowdown.p99 - 9.9).abs() < 1e-12);
    assert_eq!(fct.quantiles.len(), 201);
    near(fct.quantiles[0], 0.0);
    near(fct.quantiles[50], 25.0);
    near(fct.quantiles[200], 100.0);
    assert!(fct.quantiles.is_sorted());
}

#[test]
fn no_flows_at_all() {
    assert!(FctSummary::new(&[], &[]).all.is_none());
    let run = RunSummary::new(
        &crate::testing::scenario(&[]),
        1,
        &outcome(Vec::new(), Samples::default()),
        0.0,
    );
    assert_eq!((run.totals.goodput_bps, run.ports.len(), run.frames.len()), (0.0, 0, 0));
    assert_eq!((run.load, run.digest.as_str()), (Some(0.4), "0000000000000000"));
    let over = crate::results::OverSeeds::new(&[run]);
    assert_eq!((over.fct_mean, over.slowdown_mean), (None, None));
    assert_eq!(over.goodput_bps.unwrap().mean, 0.0);
}

/// 1 MB in a window of 10 ms is 800 Mbps, whatever came before the window.
#[test]
fn goodput_is_of_the_window() {
    let mut outcome = outcome(Vec::new(), Samples::default());
    outcome.totals.window = Time::millis(10);
    outcome.totals.delivered_in_window = Bytes(1_000_000);
    outcome.totals.delivered = Bytes(7_000_000);
    assert_eq!(TotalsSummary::new(&outcome).goodput_bps, 800e6);
}

/// Full, half, idle; the first sample lies before the window and is drawn, but is in no figure.
#[test]
fn a_port_in_the_window() {
    let mut samples = samples([(1250, 9_000), (1250, 3_000), (625, 1_500), (0, 0)]);
    samples.measured_from = 1;
    let mut outcome = outcome(Vec::new(), samples);
    let (from, to) = ("leaf-1".to_owned(), "spine-1".to_owned());
    outcome.port_counters = vec![PortCounters { from, to, dropped: 3, ecn_marked: 0 }];
    let port = &ports(&outcome)[0];
    assert!((port.utilisation - 0.5).abs() < 1e-12);
    assert_eq!(port.series, [1000, 1000, 500, 0]);
    assert_eq!(port.queue_peaks, [9_000, 3_000, 1_500, 0]);
    assert_eq!((port.queue[0], port.queue[100], port.queue[200]), (0.0, 1_500.0, 3_000.0));
    assert_eq!((port.queue.len(), port.dropped), (201, 3));
}

/// Full for 10 us, then idle for the 2 us that are left of the run: 10/12 of it.
#[test]
fn the_last_interval_of_a_run_counts_by_its_length() {
    let mut samples = samples([(1250, 0), (0, 0)]);
    samples.times[1] = Time::micros(12);
    let port = &ports(&outcome(Vec::new(), samples))[0];
    assert!((port.utilisation - 10.0 / 12.0).abs() < 1e-12, "{}", port.utilisation);
    assert_eq!(port.series, [1000, 0]);
}

#[test]
fn a_run_that_ends_before_its_window_has_no_ports() {
    let mut samples = samples([(1250, 0)]);
    samples.measured_from = 1;
    assert!(ports(&outcome(Vec::new(), samples)).is_empty());
}

/// 401 samples at most 200 frames: three to a frame, the last of two; a frame is the mean of its
/// samples.
#[test]
fn long_series_are_averaged_into_frames() {
    let samples = samples((0..401).map(|i| (if i % 3 == 0 { 1250 } else { 0 }, 0)));
    let (ends, series) = (frames(&samples), series(&samples, 0));
    assert_eq!((ends.len(), series.len()), (134, 134));
    assert_eq!((ends[0], ends[133]), (30e-6, 4010e-6));
    assert_eq!((series[0], series[133]), (333, 500));
}

/// Frames that end at 30 us and 60 us; flows that take 2, 4 and 8 times as long as in an empty
/// fabric. A flow that starts at the end of a frame is of that frame, one behind the last frame of
/// none.
#[test]
fn slowdowns_over_time() {
    let at = |micros: u64, took: u64| FlowRecord { start: Time::micros(micros), ..flow(1, took) };
    let flows = [at(0, 20), at(30, 40), at(31, 80), at(61, 990)];
    assert_eq!(slowdowns(&flows, &[30e-6, 60e-6, 60.5e-6]), [Some(3.0), Some(8.0), None]);
    assert_eq!(slowdowns(&flows, &[]), []);
}
