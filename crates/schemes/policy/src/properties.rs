//! Properties of every scheme for any steps: times that go backwards, ToRs that do not exist, next
//! hops that change.

use alloc::{vec, vec::Vec};

use proptest::prelude::*;

use heddle_units::{Bytes, Time};

use crate::{
    Cflb, Conga, CongaConfig, CongaPrime, CongaPrimeConfig, Counters, Detection, Drill,
    DrillConfig, Ecmp, EcmpNs2, Flowcut, FlowcutConfig, Header, Hula, HulaConfig, Ingress,
    LetItFlow, LetItFlowConfig, LongFlows, MpHula, MpHulaConfig, MpHulaRules, MptcpId,
    MptcpTablesConfig, Nanos, Port, Probe, ProbeArrival, ReceiveWindow, Scheme, Segment,
    SequenceNumbers, Shim, Shuttle, ShuttleChoice, ShuttleConfig, ShuttleRules, ShuttleSubflows,
    Spray, Step, Subflow, SwitchInfo, Tor, Update,
    cflb::{Addresses, CflbConfig, Cipher, Codec, Field, Fields, PortRange, Ports, Rules},
    testing::FakePorts,
};

const TORS: u16 = 6;
const PORTS: u16 = 8;

#[derive(Clone, Debug)]
enum Event {
    Data(Header, Vec<Port>),
    Egress(Header),
    Segment(Segment),
    Probe(ProbeArrival),
    Originate,
    Ports(FakePorts),
}

/// Output of a step.
#[derive(Debug, PartialEq)]
enum Output {
    Sent(Port, Header),
    Left(Header),
    Observed(ReceiveWindow),
    Probe(Option<Probe>),
    Nothing,
}

fn tors() -> impl Strategy<Value = Tor> {
    prop_oneof![9 => 0..TORS, 1 => any::<u16>()].prop_map(Tor)
}

/// CFLB header fields of a few hosts.
fn fields() -> impl Strategy<Value = Fields> {
    let ports = prop::option::weighted(0.9, any::<u32>().prop_map(Ports::from_bits));
    (0u32..8, any::<bool>(), ports, 0u32..1 << 20, any::<u8>()).prop_map(
        |(host, is_v6, ports, flow_label, ttl)| {
            let addresses = match is_v6 {
                false => Addresses::V4(host.into(), 1.into()),
                true => Addresses::V6(u128::from(host).into(), 1.into()),
            };
            Fields { addresses, protocol: 6, ports, flow_label, ttl }
        },
    )
}

fn headers() -> impl Strategy<Value = Header> {
    let ingress = prop_oneof![Just(Ingress::Host), Just(Ingress::Fabric)];
    let tags = prop_oneof![Just(0), any::<u16>()];
    let shims = (0u64..4, 1u8..=16).prop_map(|(id, number)| {
        Subflow::new(number).map(|subflow| Shim { id: MptcpId(id), subflow })
    });
    let shims = prop_oneof![Just(None), shims];
    let fields = prop::option::weighted(0.9, fields());
    (any::<u32>(), tors(), tors(), ingress, tags, shims, fields).prop_map(
        |(flow_hash, src_tor, dst_tor, ingress, tag, shim, fields)| Header {
            flow_hash: flow_hash % 64,
            src_tor,
            dst_tor,
            ingress,
            tag,
            shim,
            fields,
        },
    )
}

/// Next hops: some of the switch's ports, in order; sometimes a port that it does not have.
fn hops() -> impl Strategy<Value = Vec<Port>> {
    let switch_ports =
        prop::sample::subsequence((0..PORTS).collect::<Vec<_>>(), 1..=usize::from(PORTS));
    prop_oneof![19 => switch_ports, 1 => any::<u16>().prop_map(|port| vec![port])]
        .prop_map(|ports| ports.into_iter().map(Port).collect())
}

fn arrivals() -> impl Strategy<Value = ProbeArrival> {
    (0..PORTS, tors(), any::<u16>(), any::<bool>()).prop_map(|(port, tor, util, is_next_hop)| {
        ProbeArrival { port: Port(port), probe: Probe { tor, util }, is_next_hop }
    })
}

/// Segments of the flows of [`headers`], with sequence numbers about the wrap.
fn segments() -> impl Strategy<Value = Segment> {
    let number =
        prop_oneof![9 => (0u32..20_000).prop_map(|n| n.wrapping_sub(10_000)), 1 => any::<u32>()];
    let bytes = prop_oneof![9 => 0u32..9_000, 1 => any::<u32>()];
    (0u32..64, number, bytes, any::<bool>(), any::<bool>()).prop_map(
        |(out_hash, number, bytes, is_sent, is_syn)| {
            let numbers = match is_sent {
                true => SequenceNumbers::Sent { seq: number, bytes, is_syn },
                false => SequenceNumbers::Acknowledged { ack: number },
            };
            Segment { out_hash, numbers }
        },
    )
}

fn ports() -> impl Strategy<Value = FakePorts> {
    (any::<[u16; 16]>(), any::<[u32; 16]>(), any::<[bool; 16]>())
        .prop_map(|(util, queue, down)| FakePorts { util, queue, down })
}

fn events() -> impl Strategy<Value = Vec<(Step, Event)>> {
    let event = prop_oneof![
        8 => (headers(), hops()).prop_map(|(header, hops)| Event::Data(header, hops)),
        2 => headers().prop_map(Event::Egress),
        4 => segments().prop_map(Event::Segment),
        4 => arrivals().prop_map(Event::Probe),
        1 => Just(Event::Originate),
        1 => ports().prop_map(Event::Ports),
    ];
    // Mostly within a few gaps of each other, in any order; sometimes any time.
    let now = prop_oneof![19 => 0..2_000_000u64, 1 => any::<Nanos>()];
    let step = (now, any::<u32>()).prop_map(|(now, rnd)| Step { now, rnd });
    prop::collection::vec((step, event), 1..200)
}

fn switch_infos() -> impl Strategy<Value = SwitchInfo> {
    let tor = prop::option::of((0..TORS).prop_map(Tor));
    let same_pod = prop::collection::vec(any::<bool>(), 0..=usize::from(TORS));
    (any::<u32>(), tor, same_pod).prop_map(|(salt, tor, same_pod)| SwitchInfo {
        salt,
        tor,
        ports: PORTS,
        tors: TORS,
        same_pod,
    })
}

/// Runs one switch over `events`, with the checks that hold for every scheme.
fn run<S: Scheme>(
    config: &S::Config,
    info: &SwitchInfo,
    events: &[(Step, Event)],
) -> (Vec<Output>, Counters) {
    let mut switch = S::new(config, info);
    let state_bytes = switch.state_bytes();
    let mut ports = FakePorts::default();
    let mut answer = |(step, event): &(Step, Event)| {
        let answer = match event.clone() {
            Event::Data(mut header, hops) => {
                let port = switch.forward(*step, &mut header, &hops, &mut ports);
                assert!(hops.contains(&port), "{port:?} is not of {hops:?}");
                Output::Sent(port, header)
            }
            Event::Egress(mut header) => {
                switch.egress(*step, &mut header);
                Output::Left(header)
            }
            Event::Segment(segment) => Output::Observed(switch.segment(*step, &segment)),
            Event::Probe(arrival) => Output::Probe(switch.probe(*step, &arrival, &mut ports)),
            Event::Originate => Output::Probe(switch.originate(*step)),
            Event::Ports(now) => {
                ports = now;
                Output::Nothing
            }
        };
        assert_eq!(switch.state_bytes(), state_bytes, "state must not grow");
        answer
    };
    let answers = events.iter().map(&mut answer).collect();
    (answers, switch.counters())
}

fn holds<S: Scheme>(config: &S::Config, info: &SwitchInfo, events: &[(Step, Event)]) {
    let (answers, counters) = run::<S>(config, info, events);
    assert_eq!(
        run::<S>(config, info, events),
        (answers, counters),
        "the same inputs, the same outputs"
    );
    assert!(counters.moves <= counters.flowlets);
}

const GAP: Nanos = 100_000;

fn hula(update: Update, local_detection: bool) -> HulaConfig {
    HulaConfig {
        probe_period: Time::nanos(2 * GAP),
        fail_after: Some(Time::nanos(6 * GAP)),
        flowlet_gap: Time::nanos(GAP),
        flowlet_slots: 16,
        tau: Some(Time::nanos(1 << 19)),
        update,
        local_detection,
        ..HulaConfig::default()
    }
}

fn mp_hula(best_k: u8, hula: HulaConfig, long_flows: LongFlows) -> MpHulaConfig {
    let tables = MptcpTablesConfig {
        best_k,
        mapping_rows: 2,
        association_slots: 8,
        association_idle: Time::nanos(20 * GAP),
    };
    MpHulaConfig { hula, tables, rules: MpHulaRules { long_flows } }
}

fn conga(metric_bits: u8) -> CongaConfig {
    CongaConfig {
        flowlet_gap: Time::nanos(GAP),
        flowlet_slots: 16,
        tau: Time::nanos(1 << 18),
        metric_bits,
        metric_age: Time::nanos(5 * GAP),
    }
}

fn cflb(cipher: Cipher, field: Field, radix: u16, rules: Rules) -> Codec {
    let config = CflbConfig { field, cipher, radix, rules };
    Codec::new(&config, &[7; 16][..cipher.key_bytes()]).unwrap()
}

proptest! {
    #[test]
    fn stateless_schemes(info in switch_infos(), events in events()) {
        holds::<Ecmp>(&(), &info, &events);
        holds::<EcmpNs2>(&(), &info, &events);
        holds::<Spray>(&(), &info, &events);
    }

    #[test]
    fn letitflow(info in switch_infos(), events in events(), flowlet_slots in 0u32..64) {
        holds::<LetItFlow>(&LetItFlowConfig { flowlet_gap: Time::nanos(GAP), flowlet_slots }, &info, &events);
    }

    #[test]
    fn drill(info in switch_infos(), events in events(), samples in 0u8..40, memory in 0u8..40) {
        holds::<Drill>(&DrillConfig { samples, memory }, &info, &events);
    }

    #[test]
    fn flowcut(info in switch_infos(), events in events(), flow_slots in 0u32..64, drain_ratio in 0u16..9) {
        let config = FlowcutConfig { flow_slots, lost_after: Time::nanos(GAP), drain_ratio, drain_after: Bytes::kb(3) };
        holds::<Flowcut>(&config, &info, &events);
    }

    #[test]
    fn hula_in_every_mode(info in switch_infos(), events in events(), local_detection: bool) {
        holds::<Hula>(&hula(Update::Refresh, local_detection), &info, &events);
        holds::<Hula>(&hula(Update::Listing, local_detection), &info, &events);
    }

    #[test]
    fn mp_hula_in_every_mode(info in switch_infos(), events in events(), local: bool, best_k in 0u8..9) {
        for (update, long_flows) in
            [(Update::Refresh, LongFlows::Alike), (Update::Listing, LongFlows::YieldBest), (Update::Refresh, LongFlows::Apart)]
        {
            holds::<MpHula>(&mp_hula(best_k, hula(update, local), long_flows), &info, &events);
        }
    }

    #[test]
    fn shuttle_in_every_mode(info in switch_infos(), events in events(), local: bool, best_k in 0u8..9, draws in 0u8..4, full_queue_shift in 0u32..40, range_shift in 0u32..12, util_bits in 1u8..=16) {
        for (choice, subflows) in [
            (ShuttleChoice::Weighted, ShuttleSubflows::Apart),
            (ShuttleChoice::Least, ShuttleSubflows::FirstFree),
            (ShuttleChoice::Weighted, ShuttleSubflows::Alike),
        ] {
            let MpHulaConfig { hula, tables, .. } =
                mp_hula(best_k, hula(Update::Refresh, local), LongFlows::Alike);
            let hula = HulaConfig { util_bits, ..hula };
            let (full_queue, range) = (Bytes(1 << full_queue_shift), 1 << range_shift);
            let rules = ShuttleRules { full_queue, range, draws, choice, subflows };
            let config = ShuttleConfig { hula, tables, rules };
            holds::<Shuttle>(&config, &info, &events);
        }
    }

    #[test]
    fn cflb_with_every_field(info in switch_infos(), events in events(), radix in 2u16..20) {
        let range = PortRange { low: 32_768, high: 60_999 };
        let published = Rules::AsPublished;
        holds::<Cflb>(&cflb(Cipher::Rc5, Field::Ports, radix, Rules::Even), &info, &events);
        holds::<Cflb>(&cflb(Cipher::Skip32, Field::Ports, radix, published), &info, &events);
        for field in [Field::SourcePort(range), Field::FlowLabel] {
            holds::<Cflb>(&cflb(Cipher::Feistel, field, radix, Rules::Even), &info, &events);
        }
    }

    #[test]
    fn conga_and_conga_prime(info in switch_infos(), events in events(), metric_bits in 0u8..20) {
        holds::<Conga>(&conga(metric_bits), &info, &events);
        for detection in [Detection::EverySwitch, Detection::SourceTor] {
            let config = CongaPrimeConfig { metric_bits, detection, ..CongaPrimeConfig::default() };
            holds::<CongaPrime>(&config, &info, &events);
        }
    }
}
