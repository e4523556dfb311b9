//! Captures of links and traces of flows against the RFCs.

use std::collections::BTreeSet;

use heddle_scenario::Scenario;
use heddle_sim::{
    FlowRecord, Frame, Next, Outcome, Recorder, Recording, Samples, TracePoint, simulate_recorded,
};
use heddle_transport::SenderCounters;
use heddle_units::Time;
use heddle_wire::mptcp::{CapableKeys, MpCapable, MpJoin, MptcpOption};
use heddle_wire::tcp::{TcpFlags, options};
use heddle_wire::{EtherType, Ethernet, Shim, TcpFrame, Version};

use crate::network::support::{replay, run};

const LEAVES: &str = r#"
    [fabric]
    kind = "leaf-spine"
    spines = 2
    hosts_per_leaf = 2
    parallel_links = 1
    spine_rate = "10Gbps"
    [measure]
"#;

/// Frames with their payloads, and the points of traces.
#[derive(Default)]
struct Kept {
    frames: Vec<(usize, Time, Vec<u8>)>,
    points: Vec<(usize, Time, usize, heddle_transport::SenderState, Vec<String>)>,
    samples: Vec<Samples>,
    flows: Vec<FlowRecord>,
}

impl Recorder for Kept {
    fn frame(&mut self, capture: usize, at: Time, frame: &Frame) {
        let mut bytes = frame.headers().to_vec();
        bytes.resize(frame.wire_len(), 0);
        self.frames.push((capture, at, bytes));
    }

    fn sender(&mut self, trace: usize, point: &TracePoint<'_>) {
        let path = point.path.to_vec();
        self.points.push((trace, point.at, point.subflow, point.state, path));
    }

    fn sampled(&mut self, samples: &Samples) {
        self.samples.push(samples.clone());
    }

    fn finished(&mut self, flow: &FlowRecord) {
        self.flows.push(*flow);
    }
}

fn record(scenario: &Scenario, links: &[&[&str]], flows: &[u32]) -> (Kept, Outcome) {
    let named = |name: &&str| scenario.links_named(name).expect("a link");
    let captures = links.iter().map(|names| names.iter().flat_map(named).collect()).collect();
    let recording = Recording { captures, traces: flows.to_vec() };
    let mut kept = Kept::default();
    let recorded = (&recording, &mut kept as &mut dyn Recorder);
    let outcome = simulate_recorded(scenario, 1, recorded, &mut |_| Next::Continue);
    (kept, outcome.expect("it runs"))
}

/// 100 segments of 1460 bytes: a SYN, its answer, the data in sequence from 1 on, an
/// acknowledgement of each.
#[test]
fn a_transfer_on_the_wire_is_that_of_the_rfcs() {
    let tcp = replay(LEAVES, &[("scheme", "ecmp")], "0s,host-1,host-3,146000B\n");
    let (kept, outcome) = record(&tcp, &[&["leaf-1 host-1"]], &[]);
    assert_eq!(outcome.digest, run(&tcp, 1).digest, "a capture changes nothing");
    let frames: Vec<_> =
        kept.frames.iter().map(|(_, _, bytes)| TcpFrame::parse(bytes).expect("TCP")).collect();
    assert!(kept.frames.is_sorted_by_key(|(_, at, _)| *at));
    let (syn, answer) = (&frames[0].tcp, &frames[1].tcp);
    assert_eq!((syn.flags, answer.flags), (TcpFlags::SYN, TcpFlags::SYN | TcpFlags::ACK));
    assert_eq!((answer.ack, answer.destination_port), (syn.seq + 1, syn.source_port));
    let kinds: Vec<u8> = options(syn.options).map(|option| option.kind).collect();
    assert_eq!(kinds, [2, 4, 8, 3], "MSS, SACK permitted, time stamps, window scale");
    let (client, server) = (frames[0].ip.source, frames[0].ip.destination);
    let from = |end| frames[2..].iter().filter(move |frame| frame.ip.source == end);
    let data: Vec<u32> = from(client).map(|frame| frame.tcp.seq.wrapping_sub(syn.seq)).collect();
    assert_eq!(data, (0..100).map(|n| 1 + 1460 * n).collect::<Vec<_>>());
    assert!(from(client).all(|frame| frame.tcp.payload.len() == 1460));
    let acks: Vec<u32> = from(server).map(|frame| frame.tcp.ack.wrapping_sub(syn.seq)).collect();
    // The run ends with the last segment: its acknowledgements are under way.
    let expected: Vec<u32> = (1..=100).map(|n| 1 + 1460 * n).collect();
    assert!(acks.len() > 90 && acks == expected[..acks.len()], "{acks:?}");
}

/// Each row of samples as it is taken, each flow as it finishes: together they are the run's.
#[test]
fn a_recorder_is_told_of_samples_and_flows_while_the_run_lasts() {
    let flows = "0s,host-1,host-3,146000B\n0s,host-2,host-4,1MB\n";
    let tcp = replay(LEAVES, &[("scheme", "ecmp"), ("measure.sample_every", "20us")], flows);
    let (kept, outcome) = record(&tcp, &[], &[]);
    assert_eq!(outcome.digest, run(&tcp, 1).digest, "telling changes nothing");
    assert_eq!((kept.flows.len(), &kept.flows), (2, &outcome.flows));
    let rows: Vec<usize> = kept.samples.iter().map(|samples| samples.times.len()).collect();
    assert_eq!(rows, (1..=outcome.samples.times.len()).collect::<Vec<_>>());
    assert_eq!(kept.samples.last().map(|samples| &samples.sent), Some(&outcome.samples.sent));
}

/// Data on the sender's own link crosses the only link to the spine, too, in the same frames.
#[test]
fn a_link_between_switches_has_the_frames_of_the_only_path() {
    let tcp =
        replay(LEAVES, &[("scheme", "ecmp"), ("fabric.spines", "1")], "0s,host-1,host-3,1MB\n");
    let (kept, _) = record(&tcp, &[&["leaf-1 host-1"], &["leaf-1 spine-1"]], &[]);
    let frames_of = |wanted: usize| -> BTreeSet<Vec<u8>> {
        let frames = kept
            .frames
            .iter()
            .filter(|(capture, _, bytes)| *capture == wanted && bytes.len() > 200);
        // Behind the MAC addresses, which are the links' own. At the end the last acknowledgements
        // are under way.
        frames.map(|(_, _, bytes)| bytes[12..].to_vec()).collect()
    };
    assert_eq!(frames_of(0), frames_of(1));
}

/// The keys of MP_CAPABLE give the token of MP_JOIN (RFC 8684 section 3.2), and the first data
/// sequence number.
#[test]
fn mptcp_on_the_wire_is_that_of_the_rfc() {
    let transport = "{ kind = \"mptcp\", subflows = 2 }";
    let changes = [("scheme", "ecmp"), ("transport", transport)];
    let mptcp = replay(LEAVES, &changes, "0s,host-1,host-3,1MB\n");
    let (kept, _) = record(&mptcp, &[&["leaf-2 host-3"]], &[]);
    let found = |bytes: &Vec<u8>| {
        let frame = TcpFrame::parse(bytes).expect("TCP");
        heddle_wire::mptcp::find(frame.tcp.options).map(|o| (o, frame.tcp.payload.len()))
    };
    let all: Vec<(MptcpOption, usize)> =
        kept.frames.iter().filter_map(|(.., b)| found(b)).collect();
    let keys = all.iter().find_map(|(option, _)| match option {
        MptcpOption::Capable(MpCapable {
            keys: CapableKeys::Both { sender, receiver }, ..
        }) => Some((*sender, *receiver)),
        _ => None,
    });
    let (client, server) = keys.expect("a third packet");
    let tokens = all.iter().filter_map(|(option, _)| match option {
        MptcpOption::Join(MpJoin::Syn { token, .. }) => Some(*token),
        _ => None,
    });
    assert_eq!(tokens.collect::<Vec<_>>(), [Version::V1.token(server)]);
    let first = Version::V1.initial_data_seq(client).wrapping_add(1);
    let mut mapped = BTreeSet::new();
    for (option, payload) in &all {
        let MptcpOption::Dss(dss) = option else { continue };
        let Some(mapping) = dss.mapping else { continue };
        assert_eq!(usize::from(mapping.len), *payload);
        let heddle_wire::mptcp::DataSeq::Long(seq) = mapping.data_seq else { panic!("64 bits") };
        mapped.insert((seq.wrapping_sub(first), mapping.len));
    }
    // The first data came with the keys; the rest follows without a gap.
    let mut next = 1460;
    for (seq, len) in mapped {
        assert_eq!(seq, next);
        next += u64::from(len);
    }
    assert_eq!(next, 1_000_000);
}

/// Between ToRs a subflow of several has MP-HULA's header, and probes have HULA's.
#[test]
fn headers_between_switches_are_those_of_the_schemes() {
    let changes = [("scheme", "mp-hula"), ("transport", "mptcp")];
    let mptcp = replay(LEAVES, &changes, "0s,host-1,host-3,1MB\n");
    let (kept, outcome) = record(&mptcp, &[&["spine-1", "spine-2"]], &[]);
    let (mut shims, mut probes) = (0, 0);
    for (_, _, bytes) in &kept.frames {
        let ethernet = Ethernet::parse(bytes).expect("Ethernet");
        match ethernet.ether_type {
            EtherType::PROBE => {
                probes += u64::from(heddle_wire::Probe::parse(ethernet.payload).is_ok());
            }
            EtherType::SHIM => {
                let inner = Shim::parse(ethernet.payload).expect("a shim");
                assert_eq!(inner.ether_type, EtherType::IPV4);
                heddle_wire::IpPacket::parse_v4(inner.payload).expect("IPv4");
                shims += 1;
            }
            other => assert_eq!(other, EtherType::IPV4),
        }
    }
    assert!(shims > 0 && probes > 0 && probes <= outcome.totals.probes_sent, "{shims} {probes}");
}

/// Slow start (RFC 5681): each acknowledgement of a segment adds one. The path is one of the two,
/// and ends with the flow.
#[test]
fn a_trace_has_the_window_of_slow_start_and_the_path() {
    let tcp =
        replay(LEAVES, &[("scheme", "ecmp")], "0s,host-2,host-4,1MB\n0s,host-1,host-3,146000B\n");
    let (kept, outcome) = record(&tcp, &[], &[2]);
    assert_eq!(outcome.digest, run(&tcp, 1).digest, "a trace changes nothing");
    let flow = outcome.flows.iter().find(|flow| flow.id == 2).expect("it ends");
    let (start, end) = (flow.start, flow.start + flow.fct);
    assert!(kept.points.iter().all(|&(trace, at, subflow, ..)| {
        trace == 0 && subflow == 0 && (start..=end).contains(&at)
    }));
    for (.., state, _) in &kept.points {
        // The last windows are not full, and do not grow.
        let grown = 14_600 + state.acked.min(40 * 1460);
        assert!((grown..=14_600 + state.acked).contains(&state.cwnd), "{state:?}");
        assert_eq!((state.ssthresh, state.counters.retransmitted), (None, 0));
    }
    let (.., last, path) = kept.points.last().expect("points");
    assert!(last.srtt.expect("sampled") < Time::millis(1), "{last:?}");
    let names: Vec<&str> = path.iter().map(String::as_str).collect();
    assert!(matches!(names[..], ["leaf-1", "spine-1" | "spine-2", "leaf-2"]), "{names:?}");
}

/// Two senders into one buffer: a window halves when a segment is lost, and the trace counts what
/// the run counts.
#[test]
fn a_trace_shows_losses() {
    let flows = "0s,host-1,host-3,5MB\n2ms,host-2,host-3,5MB\n";
    let tcp = replay(LEAVES, &[("scheme", "ecmp"), ("fabric.port_buffer", "150KB")], flows);
    let (kept, outcome) = record(&tcp, &[], &[1, 2]);
    let last = |trace: usize| {
        let of_flow = kept.points.iter().rev().find(|(of, ..)| *of == trace);
        of_flow.map(|(_, _, _, state, _)| state.counters).expect("points")
    };
    let (one, two) = (last(0), last(1));
    assert!(one.retransmitted + two.retransmitted > 0, "{one:?} {two:?}");
    let reactions = |counters: SenderCounters| counters.fast_recoveries + counters.timeouts;
    assert!(reactions(one) + reactions(two) > 0, "{one:?} {two:?}");
    assert!(one.retransmitted + two.retransmitted <= outcome.totals.retransmitted);
    assert!(one.fast_recoveries + two.fast_recoveries <= outcome.totals.fast_recoveries);
    for pair in kept.points.iter().filter(|(of, ..)| *of == 0).collect::<Vec<_>>().windows(2) {
        let (before, after) = (&pair[0].3, &pair[1].3);
        if after.counters.fast_recoveries > before.counters.fast_recoveries {
            let half = after.in_flight / 2;
            let ssthresh = after.ssthresh.expect("reduced");
            assert!(ssthresh.abs_diff(half) <= 3 * 1460, "{before:?} {after:?}");
        }
    }
}
