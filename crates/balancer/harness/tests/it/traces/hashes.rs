//! The programs' hashes and policy's: where entries are, which Maglev slots, which owners.

use std::net::{IpAddr, Ipv6Addr};

use heddle_balancer_maps::Sizes;
use heddle_balancer_maps::abi::{BUCKET_ENTRIES, MAGLEV_SIZE};
use heddle_harness::{Cluster, Flow, Random, SERVICE_TCP, Setup, fragments};
use heddle_hashing::hash::{
    self, FragmentKey, ServiceKey, maglev_slot, ring_slot_of_flow, ring_slot_of_fragment,
};
use heddle_hashing::ring::Ring;

use crate::traces::world::{Traced, connection, from, open};

fn v6(address: IpAddr) -> Ipv6Addr {
    match address {
        IpAddr::V4(v4) => v4.to_ipv6_mapped(),
        IpAddr::V6(v6) => v6,
    }
}

fn service_key(flow: &Flow) -> ServiceKey {
    let (address, port) = (v6(flow.service.ip()), flow.service.port());
    ServiceKey { address, port, protocol: 6 }
}

/// Flows of clients in 64.0.0.0/3 and 2000::/3.
fn flows(count: usize) -> Vec<Flow> {
    let mut random = Random::new(3);
    let flow = |index: usize| {
        let (bits, low) = (random.bits(), random.bits());
        let v4 = IpAddr::V4(((bits >> 35) as u32 | 0x4000_0000).into());
        let v6 = IpAddr::V6((u128::from(bits >> 3 | 1 << 61) << 64 | u128::from(low)).into());
        from(if index.is_multiple_of(2) { v4 } else { v6 }, 1 + bits as u16 % 60_000)
    };
    (0..count).map(flow).collect()
}

/// True if a place is in the bucket that the hash's lower half names, or in the extra area that its
/// upper half leads to.
fn fits(place: usize, hash: u64, main: u32, extra: u32) -> bool {
    let bucket = (place / BUCKET_ENTRIES as usize) as u32;
    let extra_bucket = main + (((hash >> 32) * u64::from(extra)) >> 32) as u32;
    bucket == hash as u32 & (main - 1) || bucket == extra_bucket || bucket > main
}

#[test]
fn entries_are_where_the_reference_says() {
    let sizes = Sizes { flows: 4096, tokens: 512, ..Setup::default().sizes };
    let Some(cluster) = open(Setup { sizes, ..Setup::default() }) else { return };
    let flows = flows(2000);
    flows.iter().for_each(|flow| assert!(cluster.to(0, &flow.syn(&[])) < 4));
    (0..300).for_each(|client| assert!(cluster.to(0, &connection(client).third_ack()) < 4));
    let maps = &cluster.balancer(0).unwrap().maps;
    let (seed, buckets) = (maps.settings.get().unwrap().seed, sizes.flow_buckets());
    let (mut in_main, mut all) = (0, 0);
    for place in 0..maps.flows.room() {
        let Some(flow) = maps.flows.at(place) else { continue };
        let hash = hash::flow(seed, v6(flow.client), flow.port, SERVICE_TCP);
        assert!(fits(place, hash, buckets.main, buckets.extra), "{flow:?} at {place}");
        in_main += usize::from(place < (buckets.main * BUCKET_ENTRIES) as usize);
        all += 1;
    }
    assert!(all >= 2290 && in_main * 100 > all * 80, "{in_main} of {all}");
    let buckets = sizes.token_buckets();
    let tokens = (0..maps.tokens.room()).filter_map(|place| Some((place, maps.tokens.at(place)?)));
    for (place, token) in tokens {
        let hash = hash::token(seed, token.token, SERVICE_TCP);
        assert!(fits(place, hash, buckets.main, buckets.extra), "{token:?} at {place}");
    }
}

#[test]
fn flows_go_to_the_backends_of_their_maglev_slots() {
    let Some(cluster) = open(Setup { backends: 50, ..Setup::default() }) else { return };
    let maps = &cluster.balancer(0).unwrap().maps;
    for flow in flows(500) {
        let client = v6(flow.client.ip());
        let hash = hash::maglev(9, client, flow.client.port(), &service_key(&flow));
        let slot = maglev_slot(hash);
        assert!(slot < MAGLEV_SIZE);
        let target = maps.maglev.get(slot as usize).unwrap();
        assert_eq!(cluster.to(0, &flow.syn(&[])), cluster.backend_of(0, target as u16).unwrap());
    }
}

fn owner(cluster: &Cluster, slot: usize) -> usize {
    let ids: Vec<u32> = cluster.alive().map(|balancer| 100 + balancer as u32).collect();
    (Ring::new(&ids).owners()[slot] - 100) as usize
}

fn second(cluster: &Cluster, slot: usize) -> usize {
    let ids: Vec<u32> = cluster.alive().map(|balancer| 100 + balancer as u32).collect();
    (Ring::new(&ids).seconds()[slot] - 100) as usize
}

#[test]
fn questions_go_to_the_owners_that_the_reference_says() {
    let Some(cluster) = open(Setup { balancers: 4, ..Setup::default() }) else { return };
    for flow in flows(200) {
        let client = v6(flow.client.ip());
        let hash = hash::maglev(9, client, flow.client.port(), &service_key(&flow));
        let slot = ring_slot_of_flow(hash);
        let asked = [owner(&cluster, slot), second(&cluster, slot)];
        let others = asked.into_iter().filter(|&balancer| balancer != 0);
        let expected: Vec<usize> = [0].into_iter().chain(others.flat_map(|at| [at, 0])).collect();
        assert_eq!(cluster.send(0, &flow.data(1)).unwrap().via, expected, "first and second");
    }
}

#[test]
fn fragments_go_to_the_owners_that_the_reference_says() {
    let Some(cluster) = open(Setup { balancers: 4, ..Setup::default() }) else { return };
    for (id, flow) in (1..).zip(flows(200)) {
        let part = fragments(&flow.datagram(2000), 1440, id).remove(0);
        // The id as the machine reads it, whose bytes were sent in network order.
        let (protocol, id) = match flow.client.is_ipv4() {
            true => (17, u32::from(id.to_be())),
            false => (44, u32::from(id).to_be()),
        };
        let (source, destination) = (v6(flow.client.ip()), v6(flow.service.ip()));
        let slot = ring_slot_of_fragment(9, &FragmentKey { source, destination, id, protocol });
        let owner = owner(&cluster, slot);
        let via = cluster.send(0, &part).unwrap().via;
        assert_eq!(via, if owner == 0 { vec![0] } else { vec![0, owner] });
    }
}
