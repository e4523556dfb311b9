//! Packets per second over a veth pair: `cargo bench --package heddle-balancer-maps --bench rates`,
//! as root.
//!
//! A generator on each processor sends clients' packets out of one end; the program at the other
//! end sends them back, and they are dropped there. All of that runs on the generator's processor:
//! the pair has a queue for each. Beside the balancer, a program that sends back and does nothing
//! else is measured: what the balancer takes longer for a packet is its own, the rest is the
//! generator's and the pair's.

#[path = "../tests/it/network/mod.rs"]
#[allow(dead_code, clippy::unwrap_used)] // The tests use the rest.
mod network;

use std::net::{IpAddr, Ipv4Addr};
use std::time::Duration;

use etherparse::PacketBuilder;
use heddle_balancer_maps::abi::*;
use heddle_balancer_maps::{Balancer, Clock, Mode, Sizes, interface_index};
use heddle_bpf_loader::{Clients, Error, Senders, discard, own_network, received, send_back};
use network::ip;

const VIP: [u8; 4] = [192, 0, 2, 10];
const FRAMES: u32 = 2_000_000;
const ROUNDS: usize = 7;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    own_network()?;
    let processors = std::thread::available_parallelism()?.get().min(2);
    let queues = format!("numrxqueues {processors} numtxqueues {processors}");
    ip(&format!("link add near {queues} type veth peer name far {queues}"));
    ip("link set near up");
    ip("link set far up");
    let mut sink = discard()?;
    sink.attach(interface_index("near")?, Mode::Native)?;
    println!(
        "million packets a second\n{:<12} {:>10} {:>14}",
        "processors", "balancer", "XDP_TX alone"
    );
    for used in 1..=processors {
        let [balancer, bare] = measure(used)?;
        println!("{used:<12} {balancer:>10.2} {bare:>14.2}");
    }
    Ok(())
}

/// Those of the balancer and of the bare program: medians of rounds in turn.
fn measure(processors: usize) -> Result<[f64; 2], Box<dyn std::error::Error>> {
    let far = interface_index("far")?;
    let mut rates = [Vec::new(), Vec::new()];
    let mut senders = Senders::new(interface_index("near")?, processors)?;
    for _ in 0..ROUNDS {
        let mut balancer = balancer(far)?;
        balancer.program.attach(far, Mode::Native)?;
        send(&mut senders, 10_000)?;
        rates[0].push(rate(&mut senders)?);
        let known = balancer.maps.counters.get(1, Counter::SentFlow)?.packets;
        if known < u64::from(FRAMES) / 2 {
            return Err(format!("{known} packets went the way meant").into());
        }
        drop(balancer);
        let mut bare = send_back()?;
        bare.attach(far, Mode::Native)?;
        rates[1].push(rate(&mut senders)?);
    }
    Ok(rates.map(|mut rates| {
        rates.sort_by(f64::total_cmp);
        rates[rates.len() / 2]
    }))
}

/// Million packets a second that came back.
fn rate(senders: &mut Senders) -> Result<f64, Error> {
    let before = received("near")?;
    let time = send(senders, FRAMES)?;
    Ok((received("near")? - before) as f64 / time.as_secs_f64() / 1e6)
}

fn send(senders: &mut Senders, frames: u32) -> Result<Duration, Error> {
    senders.send(&frame(), Clients::Many(1000), frames)
}

/// A segment of 100 bytes to the service.
fn frame() -> Vec<u8> {
    let ethernet = PacketBuilder::ethernet2([2, 0, 0, 0, 0, 9], [2, 0, 0, 0, 0, 1]);
    let packet = ethernet.ipv4([198, 18, 0, 1], VIP, 64).tcp(40_000, 443, 1, 1000).ack(1);
    let mut frame = Vec::new();
    packet.write(&mut frame, &[0; 46]).unwrap_or_else(|error| panic!("{error}"));
    frame
}

/// One whose one backend is behind the interface that packets come by.
fn balancer(interface: u32) -> Result<Balancer, Error> {
    let sizes = Sizes { flows: 65_536, services: 3, maglev_tables: 1, ..Sizes::small() };
    let mut balancer = Balancer::load(&sizes, Clock::Kernel)?;
    let maps = &mut balancer.maps;
    let address = IpAddr::from(VIP).into();
    let key = VipKey { address, port: 443_u16.to_be(), protocol: 6, ..VipKey::default() };
    let mode = MptcpMode::Learn as u8;
    maps.vips.insert(&key, &Vip { id: 1, kind: VipKind::Service as u8, mode, ..Vip::default() })?;
    let target = Target {
        address: IpAddr::from(Ipv4Addr::new(10, 0, 0, 2)).into(),
        id: 1,
        ifindex: interface,
        state: TargetState::Up as u8,
        forwarding: Forwarding::Ipip as u8,
        ..Target::default()
    };
    maps.targets.set(1, &target)?;
    maps.maglev.write(0, &vec![1; MAGLEV_SIZE as usize])?;
    maps.settings.set(&Settings {
        seed: [0x1234_5678_9abc_def1, 0xfedc_ba98_7654_3211],
        own4: IpAddr::from(Ipv4Addr::new(10, 0, 0, 1)).into(),
        syn_timeout: 60_000,
        flow_timeout: 60_000,
        closing_timeout: 60_000,
        refresh: 20_000,
        ..Settings::default()
    })?;
    Ok(balancer)
}
