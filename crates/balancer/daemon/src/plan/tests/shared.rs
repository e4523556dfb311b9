//! Services that have the backends of another one share its Maglev table.

use proptest::prelude::*;

use super::*;

/// Services `s1`, `s2`, ..., each with backends of its own (their last bytes), or those of another
/// service.
fn services(all: &[Result<Vec<u8>, usize>]) -> Config {
    let mut text = config_text(&[]);
    text.truncate(text.find("[[service]]").unwrap());
    for (number, of) in (1..).zip(all) {
        text +=
            &format!("[[service]]\nname = 's{number}'\naddress = '192.0.2.{number}'\nport = 443\n");
        match of {
            Err(owner) => text += &format!("backends_of = 's{owner}'\n"),
            Ok(backends) => {
                for n in backends {
                    text += &format!(
                        "[[service.backend]]\nname = 'be{n}'\naddress = '10.0.1.{n}'\nid = {}\n",
                        number * 10 + usize::from(*n)
                    );
                }
            }
        }
    }
    load("lb.toml", &text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// The first slots of the tables of services, by the last byte of their addresses.
fn table_of(plan: &Plan, last: u8) -> u32 {
    let name = VipName { address: [192, 0, 2, last].into(), port: 443, protocol: 6 };
    plan.maps.vips[&name].table
}

#[test]
fn services_with_the_same_backends_have_one_table() {
    let mut trace = Trace::start();
    let shared = services(&[Ok(vec![1, 2]), Err(1), Err(1), Ok(vec![3])]);
    trace.update(&shared).unwrap();
    let plan = &trace.plan;
    assert_eq!(plan.maps.tables.len(), 2);
    let table = |last| table_of(plan, last);
    assert_eq!((table(2), table(3)), (table(1), table(1)));
    assert_ne!(table(4), table(1));
    let numbers: BTreeSet<u16> = (1..5)
        .map(|last| {
            let name = VipName { address: [192, 0, 2, last].into(), port: 443, protocol: 6 };
            plan.maps.vips[&name].id
        })
        .collect();
    assert_eq!(numbers.len(), 4, "each counts its own packets");
    // A change is one table in the other place, and then each service in turn.
    trace.drained.insert(id(11), true);
    let changes = trace.update(&shared).unwrap();
    assert_eq!(kinds(&changes).iter().filter(|kind| **kind == "table").count(), 1, "{changes:?}");
    assert_eq!(changes.iter().filter(|c| matches!(c, Change::Vip(..))).count(), 3);
}

#[test]
fn room_is_counted_by_services_with_backends_of_their_own() {
    let mut trace = Trace::start();
    let mut config = services(&[Ok(vec![1]), Err(1), Err(1), Err(1)]);
    config.sizes.maglev_tables = 2;
    trace.update(&config).unwrap();
    let mut more = services(&[Ok(vec![1]), Ok(vec![2])]);
    more.sizes.maglev_tables = 2;
    assert_eq!(trace.update(&more), Err(Full { capacity: 1 }));
}

#[test]
fn a_restart_finds_shared_tables() {
    let mut trace = Trace::start();
    let shared = services(&[Ok(vec![1]), Err(3), Ok(vec![2, 3]), Err(3)]);
    trace.update(&shared).unwrap();
    let before = trace.plan.clone();
    trace.plan = Plan::found(trace.plan.maps.clone());
    assert_eq!(trace.update(&shared).unwrap(), []);
    assert_eq!(trace.plan, before);
}

/// Five services, each with some backends of its own or those of one that has; whether the daemon
/// is restarted first; seconds that pass.
fn step() -> impl Strategy<Value = (Vec<Result<Vec<u8>, usize>>, bool, u64)> {
    let some = || prop::sample::subsequence(vec![1u8, 2, 3], 0..=3);
    let one = (some(), any::<bool>(), any::<prop::sample::Index>());
    let seconds = prop_oneof![0..100u64, 3000..8000u64];
    (prop::collection::vec(one, 5), any::<bool>(), seconds).prop_map(|(all, restart, seconds)| {
        let owners: Vec<usize> =
            (1..).zip(&all).filter(|(_, (_, own, _))| *own).map(|(number, _)| number).collect();
        let backends_or_owner = |(backends, own, index): &(Vec<u8>, bool, prop::sample::Index)| {
            if *own || owners.is_empty() { Ok(backends.clone()) } else { Err(*index.get(&owners)) }
        };
        (all.iter().map(backends_or_owner).collect(), restart, seconds)
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Whatever services have, share and give up: no table is written while a service uses it, and
    /// at each moment the table of a service has the backends that it had before the change, or
    /// those after it.
    #[test]
    fn no_write_gives_a_service_the_backends_of_another(
        steps in prop::collection::vec(step(), 1..8)
    ) {
        let mut trace = Trace::start();
        let mut tables = BTreeMap::<u32, BTreeSet<u32>>::new();
        let mut vips = BTreeMap::<VipName, abi::Vip>::new();
        let mut last = BTreeMap::<VipName, BTreeSet<u32>>::new();
        for (all, restart, seconds) in steps {
            trace.now += Duration::from_secs(seconds);
            if restart {
                trace.plan = Plan::found(trace.plan.maps.clone());
            }
            let config = services(&all);
            let changes = trace.update(&config).unwrap();
            let targets = |service: &crate::config::Service| {
                let name = VipName { address: service.address, port: 443, protocol: 6 };
                let index = |b: &crate::config::Backend| trace.plan.targets.index(&b.id).unwrap().into();
                (name, service.backends.iter().map(index).collect())
            };
            let next: BTreeMap<VipName, BTreeSet<u32>> = config.services.iter().map(targets).collect();
            for change in changes {
                match change {
                    Change::Table(number, table) => {
                        let used = vips.values().any(|vip: &abi::Vip| {
                            vip.kind == VipKind::Service as u8 && vip.table / MAGLEV_STRIDE == number
                        });
                        prop_assert!(!used, "table {} is written while it is used", number);
                        let targets = table.iter().map(|&word| maglev::target(word));
                        tables.insert(number, targets.filter(|&target| target != 0).collect());
                    }
                    Change::Vip(name, Some(vip)) => drop(vips.insert(name, vip)),
                    Change::Vip(name, None) => drop(vips.remove(&name)),
                    _ => {}
                }
                for (name, vip) in vips.iter().filter(|(_, vip)| vip.kind == VipKind::Service as u8) {
                    let has = &tables[&(vip.table / MAGLEV_STRIDE)];
                    let is_one = |of: &BTreeMap<VipName, BTreeSet<u32>>| of.get(name) == Some(has);
                    prop_assert!(is_one(&last) || is_one(&next), "{:?}: {:?}", name, has);
                }
            }
            last = next;
        }
    }
}
