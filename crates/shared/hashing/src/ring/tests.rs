//! Binomial balance, and the minimum of changes of owners.

use proptest::prelude::*;

use super::*;

#[test]
fn an_owner_is_one_of_the_balancers_and_alone_it_owns_everything() {
    assert_eq!(Ring::new(&[]).owner(7), None);
    let alone = Ring::new(&[5]);
    assert!([0, 1, u32::MAX].iter().all(|&token| alone.owner(token) == Some(5)));
    assert_eq!((alone.second(7), alone.seconds()), (None, &[][..]));
    let two = Ring::new(&[5, 9]);
    assert_eq!(two.owners().len(), RING_SIZE);
    assert_eq!(two.owner(0x0010_0000), Some(two.owners()[1]));
}

/// Binomial: 4096 slots, each with probability 1/n; five standard deviations.
#[test]
fn shares_are_even() {
    for count in 2..=16u32 {
        let ids: Vec<u32> = (1..=count).map(|n| 0x0a00_0000 + n).collect();
        let ring = Ring::new(&ids);
        let (slots, n) = (RING_SIZE as f64, f64::from(count));
        let sigma = (slots / n * (1.0 - 1.0 / n)).sqrt();
        for id in ids {
            let share = ring.owners().iter().filter(|&&owner| owner == id).count() as f64;
            assert!((share - slots / n).abs() < 5.0 * sigma, "{count}: {share}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn only_the_slots_of_who_left_change_owner(ids in prop::collection::btree_set(1u32.., 2..12)) {
        let all: Vec<u32> = ids.into_iter().collect();
        let (gone, rest) = all.split_first().unwrap();
        let (before, after) = (Ring::new(&all), Ring::new(rest));
        for (before, after) in before.owners().iter().zip(after.owners()) {
            prop_assert!(before == after || before == gone);
            prop_assert_ne!(after, gone);
        }
        for ((first, second), after) in before.owners().iter().zip(before.seconds()).zip(after.owners()) {
            prop_assert_ne!(first, second);
            prop_assert_eq!(after, if first == gone { second } else { first }, "the second follows the first");
        }
        let mut shuffled = all.clone();
        shuffled.reverse();
        prop_assert_eq!(before, Ring::new(&shuffled));
    }
}
