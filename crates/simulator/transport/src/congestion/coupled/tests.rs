//! Expected values are computed from the formulas of the RFC and the papers, in segments of one
//! byte unless noted.

use super::super::tests::{MSS, one_segment, window};
use super::super::{Acked, CongestionControl};
use super::*;
use crate::Control;
use heddle_units::Time;
use proptest::prelude::*;
use std::vec::Vec;

const COUPLED: [Coupling; 3] = [Coupling::Lia, Coupling::Olia, Coupling::Balia];

fn path(cwnd: f64, rtt: f64) -> PathState {
    PathState::new(cwnd, rtt)
}

/// Increases of all paths.
fn increases(coupling: Coupling, paths: &[PathState]) -> Vec<f64> {
    (0..paths.len()).map(|own| gain(coupling, paths, own).increase).collect()
}

fn assert_near(seen: &[f64], expected: &[f64]) {
    let is_near = |(a, b): (&f64, &f64)| (a - b).abs() <= 1e-12 * b.abs().max(1e-3);
    let all = seen.len() == expected.len() && seen.iter().zip(expected).all(is_near);
    assert!(all, "{seen:?} is not {expected:?}");
}

#[test]
fn one_path_is_newreno() {
    for coupling in [Coupling::Uncoupled, Coupling::Lia, Coupling::Olia, Coupling::Balia] {
        let alone = PathState { since_loss: 7.0, ..path(20.0, 0.1) };
        let Gain { increase, decrease } = gain(coupling, &[alone], 0);
        assert_near(&[increase, decrease], &[1.0 / 20.0, 0.5]);
    }
}

/// n paths alike: each window grows by 1/n^2 of a segment a round (RFC 6356: the total by 1/n, as
/// alpha = 1/n). With two windows of 10, alpha = 20 (10 / rtt^2) / (20 / rtt)^2 = 1/2, so each byte
/// adds 1/40: 1/4 segment a round.
#[test]
fn lia_on_equal_paths() {
    assert_near(&increases(Coupling::Lia, &[path(10.0, 0.1); 2]), &[1.0 / 40.0; 2]);
    assert_near(&increases(Coupling::Lia, &[path(10.0, 0.1); 5]), &[1.0 / 250.0; 5]);
}

/// RFC 6356 section 3: alpha = w_total max(w_i / rtt_i^2) / (sum of w_i / rtt_i)^2.
#[test]
fn lia_on_unequal_paths() {
    // Rates 1000 and 100; w / rtt^2 is 100 000 and 1000; alpha / w_total = 100 000 / 1100^2 = 10
    // / 121. TCP: 1/10 and 1/10.
    let paths = [path(10.0, 0.01), path(10.0, 0.1)];
    assert_near(&increases(Coupling::Lia, &paths), &[10.0 / 121.0; 2]);
    // Rates 400 and 200; 4000 and 20 000 (at 10 ms); alpha / w_total = 20 000 / 600^2 = 1/18, more
    // than TCP's 1/40.
    let paths = [path(40.0, 0.1), path(2.0, 0.01)];
    assert_near(&increases(Coupling::Lia, &paths), &[1.0 / 40.0, 1.0 / 18.0]);
}

/// Equal round-trip times and no path to prefer: the whole grows by sum of w_r^2 / w^2, and the
/// windows by what they are.
#[test]
fn olia_without_shift() {
    let paths = [path(10.0, 0.1); 2];
    assert_near(&increases(Coupling::Olia, &paths), &[10.0 / 400.0; 2]);
    // The best path has the largest window as well.
    let paths = [PathState { since_loss: 900.0, ..path(30.0, 0.1) }, path(10.0, 0.1)];
    assert_near(&increases(Coupling::Olia, &paths), &[30.0 / 1600.0, 10.0 / 1600.0]);
}

/// alpha is 1 / (|R| |collected|) for best paths with small windows, -1 / (|R| |largest|) for those
/// with the largest.
#[test]
fn olia_shifts_window_to_the_best_paths() {
    let best = PathState { between_losses: 900.0, ..path(10.0, 0.1) };
    let paths = [PathState { since_loss: 100.0, ..path(30.0, 0.1) }, best];
    let expected = [30.0 / 1600.0 - 0.5 / 30.0, 10.0 / 1600.0 + 0.5 / 10.0];
    assert_near(&increases(Coupling::Olia, &paths), &expected);
    // Two with the largest window, one neither large nor best.
    let large = PathState { since_loss: 1.0, ..path(20.0, 0.1) };
    let paths = [large, best, large, path(10.0, 0.1)];
    let (linked, n) = ([20.0, 10.0, 20.0, 10.0].map(|w| w / 3600.0), 4.0);
    let expected = [
        linked[0] - 1.0 / (n * 2.0 * 20.0),
        linked[1] + 1.0 / (n * 10.0),
        linked[2] - 1.0 / (n * 2.0 * 20.0),
        linked[3],
    ];
    assert_near(&increases(Coupling::Olia, &paths), &expected);
}

/// A path without loss for 400 bytes at 10 ms lets TCP have more than one without loss for 900
/// bytes at 100 ms.
#[test]
fn olia_counts_the_round_trip_time_when_it_looks_for_the_best() {
    let paths = [
        PathState { since_loss: 900.0, ..path(30.0, 0.1) },
        PathState { since_loss: 400.0, ..path(10.0, 0.01) },
    ];
    // Rates 300 and 1000.
    let expected = [3000.0 / 1.69e6 - 0.5 / 30.0, 100_000.0 / 1.69e6 + 0.5 / 10.0];
    assert_near(&increases(Coupling::Olia, &paths), &expected);
}

#[test]
fn olia_may_shrink_a_large_window() {
    let paths = [path(30.0, 1.0), PathState { since_loss: 9.0, ..path(10.0, 0.1) }];
    assert!(increases(Coupling::Olia, &paths)[0] < 0.0);
}

#[test]
fn balia_on_equal_paths() {
    assert_near(&increases(Coupling::Balia, &[path(10.0, 0.1); 2]), &[1.0 / 40.0; 2]);
    assert_near(&[gain(Coupling::Balia, &[path(10.0, 0.1); 2], 1).decrease], &[0.5]);
}

/// Rates 300 and 100, so alpha is 1 and 3: (3000 / 400^2) 1, and (1000 / 400^2) (4 / 2) (7 / 5).
#[test]
fn balia_on_unequal_paths() {
    let paths = [path(30.0, 0.1), path(10.0, 0.1)];
    assert_near(&increases(Coupling::Balia, &paths), &[3.0 / 160.0, 2.8 / 160.0]);
    let decreases = [0, 1].map(|own| gain(Coupling::Balia, &paths, own).decrease);
    assert_near(&decreases, &[0.5, 0.75]);
    // Rates 125 and 100: alpha = 1.25.
    let slower = gain(Coupling::Balia, &[path(12.5, 0.1), path(10.0, 0.1)], 1);
    assert_near(&[slower.decrease], &[0.625]);
}

#[test]
fn a_path_that_is_not_there_stands_still() {
    for coupling in COUPLED {
        assert_eq!(gain(coupling, &[], 0), Gain { increase: 0.0, decrease: 0.5 });
    }
}

/// A coupled window in congestion avoidance.
fn coupled(segments: u64, gain: Gain) -> CongestionControl {
    let mut window = window(Control::Coupled, segments, 1);
    window.set_gain(gain);
    window
}

fn acknowledge(window: &mut CongestionControl, segments: u64) {
    for _ in 0..segments {
        window.on_ack(&one_segment(Time::ZERO, window.cwnd));
    }
}

#[test]
fn no_fraction_of_a_byte_is_lost() {
    // 1/3 of a byte for each segment, 1000 bytes for 3000 segments.
    let third = Gain { increase: 1.0 / 3.0 / (MSS * MSS) as f64, decrease: 0.5 };
    let mut window = coupled(10, third);
    acknowledge(&mut window, 3001);
    assert_eq!(window.cwnd, 11 * MSS);
    window.set_gain(Gain { increase: -third.increase, ..third });
    acknowledge(&mut window, 3001);
    assert_eq!(window.cwnd, 10 * MSS);
}

#[test]
fn an_increase_below_zero_leaves_a_segment() {
    let mut window = coupled(4, Gain { increase: -0.5 / (4 * MSS) as f64, decrease: 0.5 });
    acknowledge(&mut window, 1000);
    assert_eq!(window.cwnd, MSS);
}

#[test]
fn slow_start_and_timeouts_are_those_of_tcp() {
    let mut coupled = window(Control::Coupled, 10, 40);
    acknowledge(&mut coupled, 30);
    assert_eq!(coupled.cwnd, 40 * MSS);
    acknowledge(&mut coupled, 40);
    assert_eq!(coupled.cwnd, 40 * MSS, "no gain is set");
    coupled.on_loss(40 * MSS, MSS);
    assert_eq!(coupled.cwnd, 20 * MSS);
    coupled.on_timeout(MSS);
    acknowledge(&mut coupled, 19);
    assert_eq!(coupled.cwnd, 20 * MSS);
}

#[test]
fn a_loss_takes_its_share_of_what_was_in_flight() {
    let mut window = coupled(40, Gain { increase: 0.0, decrease: 0.75 });
    window.on_loss(40 * MSS, MSS);
    assert_eq!(window.cwnd, 10 * MSS);
    window.on_ecn(10 * MSS, MSS);
    assert_eq!(window.cwnd, 2500);
}

#[test]
fn a_path_remembers_its_last_two_losses() {
    let mut window = coupled(40, Gain { increase: 0.0, decrease: 0.5 });
    let mut state = |segments: u64, is_lost: bool| {
        if is_lost {
            window.on_loss(40 * MSS, MSS);
        }
        let ack = Acked { bytes: segments * MSS, ..one_segment(Time::ZERO, 40 * MSS) };
        window.observe(&ack);
        let PathState { since_loss, between_losses, rtt, .. } =
            window.path_state(Time::millis(100));
        assert_near(&[rtt], &[0.1]);
        (since_loss as u64 / MSS, between_losses as u64 / MSS)
    };
    assert_eq!(state(7, false), (7, 0));
    assert_eq!(state(3, false), (10, 0));
    assert_eq!(state(2, true), (2, 10));
    assert_eq!(state(4, true), (4, 2));
}

fn any_path() -> impl Strategy<Value = PathState> {
    let number = prop_oneof![any::<f64>(), 0.0f64..1e7, Just(f64::NAN)];
    (number.clone(), number.clone(), number.clone(), number).prop_map(
        |(cwnd, rtt, since_loss, between_losses)| PathState {
            since_loss,
            between_losses,
            ..PathState::new(cwnd, rtt)
        },
    )
}

proptest! {
    /// Whatever the paths are, no window grows faster than TCP's (OLIA's: than TCP's and half, with
    /// its shift), none shrinks faster than by OLIA's alpha, and a loss removes from half to three
    /// quarters.
    #[test]
    fn gains_are_bounded(paths in prop::collection::vec(any_path(), 1..17)) {
        for own in 0..paths.len() {
            let tcp = 1.0 / paths[own].cwnd;
            for (coupling, least, most) in [
                (Coupling::Uncoupled, 1.0, 1.0),
                (Coupling::Lia, 0.0, 1.0),
                (Coupling::Olia, -0.5, 1.5),
                (Coupling::Balia, 0.0, 1.0),
            ] {
                let Gain { increase, decrease } = gain(coupling, &paths, own);
                let slack = 1e-9;
                let in_tcps = increase / tcp;
                prop_assert!(increase.is_finite() && decrease.is_finite());
                prop_assert!(least - slack <= in_tcps && in_tcps <= most + slack, "{coupling:?} {in_tcps}");
                prop_assert!((0.5..=0.75).contains(&decrease));
            }
        }
    }

    /// RFC 6356 goal 1 and 2 in equilibrium: alpha is such that the whole grows as the best path's
    /// TCP would; with equal round-trip times the windows together gain sum of w_i over w_total^2
    /// max(w_i) a round, at most a segment.
    #[test]
    fn lia_as_a_whole_grows_at_most_a_segment_a_round(windows in prop::collection::vec(1.0f64..1e4, 1..17), rtt in 1e-5f64..1.0) {
        let paths: Vec<PathState> = windows.iter().map(|&cwnd| path(cwnd, rtt)).collect();
        let round: f64 = increases(Coupling::Lia, &paths).iter().zip(&windows).map(|(i, w)| i * w).sum();
        let total: f64 = windows.iter().sum();
        let expected = windows.iter().copied().fold(0.0, f64::max) / total;
        prop_assert!((round - expected).abs() < 1e-9 && round < 1.0 + 1e-9, "{round} {expected}");
    }

    /// Windows of any controller stay windows whatever gains come.
    #[test]
    fn a_window_is_at_least_a_segment(
        paths in prop::collection::vec(any_path(), 2..5),
        events in prop::collection::vec((0usize..5, 0u64..20_000, 0u64..10), 1..50),
    ) {
        for coupling in COUPLED {
            let mut window = window(Control::Coupled, 10, 10);
            for &(own, bytes, kind) in &events {
                window.set_gain(gain(coupling, &paths, own));
                match kind {
                    0 => window.on_loss(window.cwnd, MSS),
                    1 => window.on_timeout(MSS),
                    _ => window.on_ack(&Acked { bytes, ..one_segment(Time::ZERO, window.cwnd) }),
                }
                prop_assert!(window.cwnd >= MSS, "{}", window.cwnd);
            }
        }
    }
}
