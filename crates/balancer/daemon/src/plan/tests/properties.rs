//! The maps while a plan is written, for worlds that change at random.

use proptest::prelude::*;

use super::*;

/// The maps as the data plane sees them while they are written.
#[derive(Default)]
struct Seen {
    targets: BTreeMap<u16, abi::Target>,
    tables: BTreeMap<u32, Table>,
    vips: BTreeMap<VipName, abi::Vip>,
}

impl Seen {
    fn write(&mut self, change: &Change) {
        match change {
            Change::Target(index, target) => drop(self.targets.insert(*index, *target)),
            Change::Table(number, table) => drop(self.tables.insert(*number, table.clone())),
            Change::Vip(name, Some(vip)) => drop(self.vips.insert(*name, *vip)),
            Change::Vip(name, None) => drop(self.vips.remove(name)),
            _ => {}
        }
    }

    /// Every backend that a new flow could be sent to is up.
    fn is_whole(&self) -> bool {
        let services = self.vips.values().filter(|vip| vip.kind == VipKind::Service as u8);
        services.map(|vip| &self.tables[&(vip.table / MAGLEV_STRIDE)]).all(|table| {
            let distinct: BTreeSet<u32> =
                table.iter().map(|&word| maglev::target(word)).filter(|&at| at != 0).collect();
            distinct.into_iter().all(|target| self.targets[&(target as u16)].state == UP)
        })
    }
}

/// An event: the backends in the file, those down, those drained, and the seconds that pass.
fn step() -> impl Strategy<Value = (Vec<u8>, Vec<u8>, Vec<u8>, u64)> {
    let some = || prop::sample::subsequence(vec![1, 2, 3, 4, 5], 0..=5);
    (some(), some(), some(), prop_oneof![0..100u64, 3000..8000u64])
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn no_write_sends_new_flows_astray_and_no_index_changes_hands_early(
        steps in prop::collection::vec(step(), 1..12)
    ) {
        let mut trace = Trace::start();
        let mut seen = Seen::default();
        let mut held = BTreeMap::<u16, (WireId, Duration)>::new();
        for (named, down, drained, seconds) in steps {
            trace.now += Duration::from_secs(seconds);
            trace.health = down.iter().map(|&n| (id(n.into()), State::Down)).collect();
            trace.drained = drained.iter().map(|&n| (id(n.into()), true)).collect();
            for change in trace.update(&config(&named)).unwrap() {
                seen.write(&change);
                prop_assert!(seen.is_whole(), "{:?}", kinds(&[change]));
            }
            for &number in &named {
                let (index, owner) = (trace.index(number.into()), id(number.into()));
                let (last, when) = held.insert(index, (owner, trace.now)).unwrap_or((owner, trace.now));
                let rested = trace.now - when > Duration::from_secs(3600);
                prop_assert!(last == owner || rested, "{index}: {last}, then {owner}");
            }
        }
    }
}
