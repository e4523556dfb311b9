//! The keys that the balancer assigns (RomanRoads, section III-B and III-C).

use crate::assigned::{
    Flags, NOW, SYN_TIMEOUT, balancer, count, key_in, ready, run, segment, set_ring, syn, token,
};
use crate::frames::LINKS;
use heddle_balancer_maps::Action;
use heddle_balancer_maps::abi::{AssignedKey, Counter, TokenState};
use heddle_balancer_maps::maps::Pushed;
use heddle_testing::{Need, skip_without};

/// (RomanRoads, section III-B: "we should not allocate a new key/token".)
#[test]
fn a_syn_that_comes_again_has_the_same_key() {
    if skip_without(Need::Root) {
        return;
    }
    let mut balancer = balancer(0, 1);
    let first = run(&balancer, &syn(1));
    for tick in [NOW, NOW + 60, NOW + 60 + SYN_TIMEOUT - 1] {
        balancer.maps.settings.set_now(tick).unwrap();
        assert_eq!(run(&balancer, &syn(1)).data, first.data);
    }
    assert_eq!(count(&balancer, Counter::KeyRepeated), 3);
    assert_eq!(balancer.maps.tokens.iter().count(), 1);
    assert_ne!(key_in(&run(&balancer, &syn(2))), key_in(&first));

    balancer.maps.settings.set_now(NOW + 60 + 2 * SYN_TIMEOUT).unwrap();
    assert_ne!(key_in(&run(&balancer, &syn(1))), key_in(&first));
}

/// SYN, ACK, FIN, and the client takes the port for another connection.
#[test]
fn the_next_connection_of_a_port_has_another_key() {
    if skip_without(Need::Root) {
        return;
    }
    let balancer = balancer(0, 1);
    let state = || balancer.maps.tokens.iter().map(|token| token.state).collect::<Vec<_>>();
    let first = key_in(&run(&balancer, &syn(1)));
    assert_eq!(state(), [TokenState::Provisional]);
    run(&balancer, &segment(1, Flags::Ack, &[]));
    assert_eq!(state(), [TokenState::Confirmed]);
    assert_eq!(run(&balancer, &syn(1)).data[14..], syn(1));
    assert_eq!(count(&balancer, Counter::FlowKept), 1);

    run(&balancer, &segment(1, Flags::Fin, &[]));
    assert_ne!(key_in(&run(&balancer, &syn(1))), first);
    assert_eq!(balancer.maps.tokens.iter().count(), 2);
}

/// The token lives as long as its connection.
#[test]
fn a_connection_renews_its_token() {
    if skip_without(Need::Root) {
        return;
    }
    let mut balancer = balancer(0, 1);
    run(&balancer, &syn(1));
    for tick in (NOW..NOW + 30_000).step_by(500) {
        balancer.maps.settings.set_now(tick).unwrap();
        run(&balancer, &segment(1, Flags::Ack, &[]));
    }
    let tokens: Vec<_> = balancer.maps.tokens.iter().collect();
    assert!(tokens[0].seen > NOW + 28_000, "{tokens:?}");
}

/// Nothing confirmed gives way to a flood of SYNs.
#[test]
fn a_flood_leaves_confirmed_tokens() {
    if skip_without(Need::Root) {
        return;
    }
    let balancer = balancer(0, 1);
    for port in 1..=500 {
        run(&balancer, &syn(port));
        run(&balancer, &segment(port, Flags::Ack, &[]));
    }
    for port in 501..=60_000 {
        run(&balancer, &syn(port));
    }
    let room = balancer.maps.tokens.room();
    let census = balancer.maps.tokens.census(NOW);
    assert_eq!(census.of(TokenState::Confirmed), 500, "of {room}");
}

#[test]
fn ready_keys_go_first() {
    if skip_without(Need::Root) {
        return;
    }
    let mut balancer = balancer(0, 4);
    let keys = [ready(|slot| slot % 8 == 0), ready(|slot| slot % 8 == 4)];
    for key in keys {
        assert_eq!(balancer.maps.ready_keys.push(&key).unwrap(), Pushed::Queued);
    }
    let given = [1, 2].map(|port| key_in(&run(&balancer, &syn(port))));
    assert_eq!(given, keys.map(|key| key.key));
    assert_eq!(
        (count(&balancer, Counter::KeyReady), count(&balancer, Counter::KeyGenerated)),
        (2, 0)
    );
    while run(&balancer, &syn(3)).action == Action::Drop {}
    assert_eq!(count(&balancer, Counter::KeyGenerated), 1);
}

/// The ring has changed, another connection has the token, or it is 0, which names none.
#[test]
fn ready_keys_that_do_not_serve_are_left() {
    if skip_without(Need::Root) {
        return;
    }
    let mut balancer = balancer(0, 2);
    let [own, other] = [ready(|slot| slot % 2 == 0), ready(|slot| slot % 2 == 1)];
    for key in [own, own, other, AssignedKey { token: 0, ..own }] {
        balancer.maps.ready_keys.push(&key).unwrap();
    }
    let given = [1, 2, 3, 4].map(|port| key_in(&run(&balancer, &syn(port))));
    assert_eq!(given[0], own.key);
    assert!(given[1..].iter().all(|key| ![own.key, other.key].contains(key)));
    assert_eq!(
        (count(&balancer, Counter::KeyReady), count(&balancer, Counter::KeyGenerated)),
        (1, 3)
    );
}

#[test]
fn an_explanation_takes_no_key() {
    if skip_without(Need::Root) {
        return;
    }
    let mut balancer = balancer(0, 1);
    let key = ready(|_| true);
    balancer.maps.ready_keys.push(&key).unwrap();
    let explained = balancer.explainer().unwrap().explain(&LINKS[0].frame(&syn(1))).unwrap();
    assert_eq!(key_in(&explained.run), key.key);
    let trace = explained.trace.unwrap();
    assert!(trace.counted(Counter::KeyReady));
    assert_eq!(balancer.maps.tokens.iter().count(), 0);
    assert_eq!(balancer.program.run(&LINKS[0].frame(&syn(1)), 1).unwrap().data, explained.run.data);
}

/// (Section III-C: "the average number of tries to generate a valid key is roughly equal to the
/// number of LBs".) Tries with a chance of 1/n each fail 16 times with (1 - 1/n)^16.
#[test]
fn the_number_of_tries_is_that_of_balancers() {
    if skip_without(Need::Root) {
        return;
    }
    const SYNS: u16 = 4000;
    for balancers in [1, 4, 8, 32] {
        let balancer = balancer(0, balancers);
        let runs = (1..=SYNS).map(|port| run(&balancer, &syn(port)));
        let sent: Vec<_> = runs.filter(|run| run.action == Action::Redirect).collect();
        let is_owned = |run| (token(key_in(run)) >> 20).is_multiple_of(balancers.into());
        assert!(sent.iter().all(is_owned));
        let misses = (1.0 - 1.0 / f64::from(balancers)).powi(16);
        let (mean, deviation) =
            (f64::from(SYNS) * (1.0 - misses), (f64::from(SYNS) * misses * (1.0 - misses)).sqrt());
        let found = sent.len() as f64;
        println!("{balancers} balancers: {found} of {SYNS} SYNs have a key; expected {mean:.0}");
        assert!((found - mean).abs() <= 5.0 * deviation, "{balancers}: {found}, not {mean}");
        assert_eq!(count(&balancer, Counter::DropFailed), u64::from(SYNS) - sent.len() as u64);
    }
}

/// (Section III-C: "the LB drops the packet to force the client to fall back to ordinary TCP".)
#[test]
fn a_syn_without_a_key_is_dropped_and_leaves_nothing() {
    if skip_without(Need::Root) {
        return;
    }
    let mut balancer = balancer(0, 2);
    set_ring(&mut balancer, |_| 1, 0);
    for port in 1..=50 {
        assert_eq!(run(&balancer, &syn(port)).action, Action::Drop);
    }
    assert_eq!(count(&balancer, Counter::DropFailed), 50);
    assert_eq!(balancer.maps.tokens.iter().count() + balancer.maps.flows.iter().count(), 0);
    assert_eq!(run(&balancer, &segment(1, Flags::Syn, &[])).action, Action::Redirect);
}

/// Each bit of the keys is as often 0 as 1, and no key comes twice.
#[test]
fn keys_look_random() {
    if skip_without(Need::Root) {
        return;
    }
    const KEYS: u16 = 10_000;
    let balancer = balancer(0, 1);
    let mut keys: Vec<_> =
        (1..=KEYS).map(|p| u64::from_be_bytes(key_in(&run(&balancer, &syn(p))))).collect();
    for bit in 0..64 {
        let ones = keys.iter().filter(|&key| key >> bit & 1 == 1).count() as f64;
        assert!((ones - 5000.0).abs() < 5.0 * 50.0, "bit {bit}: {ones}");
    }
    keys.sort_unstable();
    keys.dedup();
    assert_eq!(keys.len(), usize::from(KEYS));
}
