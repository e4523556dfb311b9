//! Maps in the real kernel: what is written is read, by this side and by the program.

use std::net::IpAddr;

use heddle_balancer_maps::abi::{
    self, AssignedKey, Counter, FlowState, MAGLEV_SIZE, MAGLEV_STRIDE, RING_SIZE, Settings, Target,
    Vip, VipKey,
};
use heddle_balancer_maps::maps::Pushed;
use heddle_balancer_maps::{Balancer, Clock, Sizes};
use heddle_testing::{Need, skip_without};

fn balancer() -> Balancer {
    Balancer::load(&Sizes { ready_keys: 2, ..Sizes::small() }, Clock::Settings).unwrap()
}

#[test]
fn hashes_keep_what_is_put_in_until_it_is_taken_out() {
    if skip_without(Need::Root) {
        return;
    }
    let mut vips = balancer().maps.vips;
    let address = "2001:db8::1".parse::<IpAddr>().unwrap().into();
    let key = VipKey { address, port: 443_u16.to_be(), protocol: 6, ..VipKey::default() };
    let vip = Vip { id: 1, kind: abi::VipKind::Service as u8, ..Vip::default() };
    assert_eq!(vips.get(&key).unwrap(), None);
    vips.insert(&key, &vip).unwrap();
    assert_eq!(vips.get(&key).unwrap(), Some(vip));
    assert_eq!(vips.entries().unwrap(), [(key, vip)]);
    vips.remove(&key).unwrap();
    vips.remove(&key).unwrap();
    assert_eq!(vips.entries().unwrap(), []);
}

#[test]
fn targets_and_settings_are_written_whole() {
    if skip_without(Need::Root) {
        return;
    }
    let mut maps = balancer().maps;
    let target = Target { id: 77, mac: [1, 2, 3, 4, 5, 6], mtu: 1500, ..Target::default() };
    maps.targets.set(5, &target).unwrap();
    assert_eq!(maps.targets.get(5).unwrap(), target);
    assert_eq!(maps.targets.get(6).unwrap(), Target::default());
    let room = maps.targets.room();
    assert!(maps.targets.set(room, &target).is_err());

    maps.settings.set(&Settings { refresh: 9, ..Settings::default() }).unwrap();
    maps.settings.set_now(1234).unwrap();
    let settings = maps.settings.get().unwrap();
    assert_eq!((settings.refresh, settings.now, settings.abi), (9, 1234, abi::HEDDLE_ABI));
}

#[test]
fn slots_are_shared_memory() {
    if skip_without(Need::Root) {
        return;
    }
    let mut maps = balancer().maps;
    assert_eq!(maps.ring.room(), 3 * RING_SIZE as usize, "owners, former owners, seconds");
    assert_eq!(maps.maglev.room(), 4 * MAGLEV_STRIDE as usize);
    let table: Vec<u32> = (0..MAGLEV_SIZE).collect();
    maps.maglev.write(MAGLEV_STRIDE as usize, &table).unwrap();
    assert_eq!(maps.maglev.get(MAGLEV_STRIDE as usize - 1), Some(0));
    assert_eq!(maps.maglev.get(2 * MAGLEV_STRIDE as usize - 2), Some(MAGLEV_SIZE - 1));
    assert!(maps.maglev.write(3 * MAGLEV_STRIDE as usize + 2, &table).is_err());
    assert_eq!(maps.maglev.get(4 * MAGLEV_STRIDE as usize), None);
    maps.maglev.write(3, &[7]).unwrap();
    maps.maglev.write(2, &[5]).unwrap();
    assert_eq!([1, 2, 3, 4].map(|slot| maps.maglev.get(slot)), [0, 5, 7, 0].map(Some));
}

#[test]
fn an_empty_balancer_has_no_flows_tokens_or_counts() {
    if skip_without(Need::Root) {
        return;
    }
    let maps = balancer().maps;
    assert!(maps.flows.room() >= 4096 && maps.tokens.room() >= 4096);
    assert_eq!(maps.flows.iter().count() + maps.tokens.iter().count(), 0);
    assert_eq!(maps.flows.census(0).of(FlowState::Established), 0);
    assert_eq!(maps.counters.get(15, Counter::SentSyn).unwrap().packets, 0);
    assert_eq!(maps.counters.last_service(), 15);
    assert!(maps.counters.get(16, Counter::SentSyn).is_err());
    assert_eq!(maps.counters.of(1).unwrap().len(), Counter::ALL_COUNTERS);
}

#[test]
fn the_queue_of_keys_ends() {
    if skip_without(Need::Root) {
        return;
    }
    let mut keys = balancer().maps.ready_keys;
    let pushed: Vec<_> = (0..3)
        .map(|token| keys.push(&AssignedKey { token, ..AssignedKey::default() }).unwrap())
        .collect();
    assert_eq!(pushed, [Pushed::Queued, Pushed::Queued, Pushed::Full]);
    keys.clear().unwrap();
    assert_eq!(keys.push(&AssignedKey::default()).unwrap(), Pushed::Queued);
}
