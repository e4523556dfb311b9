//! Paths given by hand.

use super::*;

fn path(ports: [u32; 4]) -> Vec<Option<u32>> {
    ports.map(Some).into()
}

fn counts(paths: &[Vec<Option<u32>>]) -> PathUse {
    let mut counts = PathUse::default();
    counts.add(&paths.iter().map(Vec::as_slice).collect::<Vec<_>>());
    counts
}

#[test]
fn disjoint_paths_share_no_link() {
    let got = counts(&[path([1, 11, 21, 31]), path([2, 12, 22, 32])]);
    let expected =
        PathUse { samples: 1, shared: 0, shared_first_hop: 0, paths_sum: 2, subflows_sum: 2 };
    assert_eq!(got, expected);
}

#[test]
fn paths_that_meet_later_share_a_link_but_not_the_first() {
    let got = counts(&[path([1, 11, 21, 31]), path([2, 12, 21, 32]), path([3, 13, 23, 33])]);
    let expected =
        PathUse { samples: 1, shared: 1, shared_first_hop: 0, paths_sum: 3, subflows_sum: 3 };
    assert_eq!(got, expected);
}

#[test]
fn a_common_path_counts_once() {
    let got = counts(&[path([1, 11, 21, 31]), path([1, 11, 21, 31])]);
    let expected =
        PathUse { samples: 1, shared: 1, shared_first_hop: 1, paths_sum: 1, subflows_sum: 2 };
    assert_eq!(got, expected);
}

/// An index that neither subflow has used is not shared.
#[test]
fn unknown_hops_are_not_shared() {
    let got = counts(&[vec![Some(1), None, None], vec![Some(2), None]]);
    assert_eq!((got.shared, got.paths_sum), (0, 2));
}
