//! RCCC by schedules written by hand: 100 Gbps and 8 us, a window of 150,000 bytes unless a test has
//! its own. A full packet has 4154 bytes.

use alloc::vec;
use std::vec::Vec;

use heddle_units::{Bytes, Time};
use proptest::prelude::*;

use super::*;
use crate::uet::tests::Ends;
use crate::uet::{UetConfig, WindowControl};
use crate::{Ecn, Kind, Options, Segment};

const PACKET: u64 = 4154;

/// Ends with a window of so many full packets.
fn ends(window: u64, bytes: u64) -> Ends {
    ends_under(WindowControl::Rccc, window, bytes)
}

fn ends_under(control: WindowControl, window: u64, bytes: u64) -> Ends {
    let config = UetConfig {
        control,
        window: Some(Bytes(window * PACKET)),
        rto: Some(Time::micros(50)),
        ..UetConfig::default()
    };
    Ends::new(config, bytes)
}

fn numbers(packets: &[Segment]) -> Vec<u64> {
    packets.iter().map(|packet| packet.data_seq).collect()
}

/// Demands in full packets.
fn demands(packets: &[Segment]) -> Vec<u64> {
    packets.iter().filter_map(|p| p.options.demand()).map(|bytes| bytes / PACKET).collect()
}

fn trimmed(packet: &Segment) -> Segment {
    Segment { kind: Kind::Trimmed, len: 0, ..*packet }
}

#[test]
fn a_connection_begins_with_a_window_and_asks_for_a_packet_for_each_that_it_sends() {
    let mut ends = ends(6, 20 * 4096);
    let packets = ends.sent(0);
    assert_eq!(numbers(&packets), [0, 1, 2, 3, 4, 5]);
    assert_eq!(demands(&packets), [1, 2, 3, 4, 5, 6]);
    let requests: Vec<bool> = packets.iter().map(|packet| packet.window > 0).collect();
    assert_eq!(requests, [false, false, false, false, false, true], "an answer, at the last");
    assert!(ends.grant().is_none(), "nothing has arrived");
}

#[test]
fn grants_are_four_packets_at_most_and_no_more_than_was_asked_for() {
    let mut ends = ends(6, 20 * 4096);
    let packets = ends.sent(0);
    ends.arrives(&packets[0]);
    let (first, bytes) = ends.grant().unwrap();
    assert_eq!((first.kind, first.seq, bytes), (Kind::Credit, PACKET, PACKET));
    ends.all_arrive(&packets[1..]);
    let bytes: Vec<u64> = std::iter::from_fn(|| ends.grant()).map(|grant| grant.1).collect();
    assert_eq!(bytes, [4 * PACKET, PACKET], "six in all");
}

#[test]
fn credit_is_sent_and_the_last_grant_makes_up_for_those_before() {
    let mut ends = ends(6, 20 * 4096);
    let packets = ends.sent(0);
    ends.all_arrive(&packets[..5]);
    let [_lost, last] = [(); 2].map(|()| ends.grant().unwrap().0);
    ends.answered(8, &last);
    assert_eq!(numbers(&ends.sent(8)), [6, 7, 8, 9, 10]);
    ends.answered(9, &last);
    assert!(ends.sent(9).is_empty(), "known already");
}

#[test]
fn what_is_left_of_the_first_window_lapses_with_the_first_answer() {
    let mut ends = ends(6, 20 * 4096);
    let first = ends.connection.next_segment(&ends.parameters, Time::ZERO).unwrap().1;
    let ack = ends.arrives(&first).unwrap();
    ends.answered(8, &ack);
    // The client says at once what it waits for: six packets, the window.
    let request = ends.sent(8);
    assert_eq!((request.len(), request[0].kind, request[0].len), (1, Kind::Request, 0));
    assert_eq!(demands(&request), [6]);
    assert!(ends.arrives(&request[0]).is_none(), "a request has no answer but credit");
    let grant = ends.grant().unwrap();
    assert_eq!(grant.1, 4 * PACKET);
    ends.answered(16, &grant.0);
    assert_eq!(numbers(&ends.sent(16)), [1, 2, 3, 4]);
}

#[test]
fn a_packet_may_take_more_than_is_left() {
    let mut ends = ends(6, 3 * 4096);
    let packets = ends.sent(0);
    ends.answered(8, &Segment { kind: Kind::Nack, ..packets[0] });
    assert!(ends.sent(8).is_empty(), "a packet was asked for already");
    let grant = Segment { kind: Kind::Credit, seq: 1, ..Segment::default() };
    ends.answered(9, &grant);
    assert_eq!(numbers(&ends.sent(9)), [0], "with a byte of credit");
    ends.answered(10, &Segment { seq: PACKET, ..grant });
    assert!(ends.sent(10).is_empty(), "nothing waits");
}

#[test]
fn trimmed_packets_are_asked_for_and_sent_again_with_credit() {
    let mut ends = ends(2, 2 * 4096);
    let packets = ends.sent(0);
    assert_eq!(demands(&packets), [1, 0], "one, while nothing was granted and one waits");
    let nacks = [0, 1].map(|number: usize| ends.arrives(&trimmed(&packets[number])).unwrap());
    let first = ends.grant().unwrap();
    assert_eq!(first.1, PACKET);
    nacks.iter().for_each(|nack| ends.answered(8, nack));
    let request = ends.sent(8);
    assert_eq!((request.len(), request[0].kind, demands(&request)), (1, Kind::Request, vec![2]));
    ends.arrives(&request[0]);
    let second = ends.grant().unwrap();
    assert_eq!((second.0.seq, second.1), (2 * PACKET, PACKET));
    ends.answered(9, &first.0);
    assert_eq!(numbers(&ends.sent(9)), [0]);
    ends.answered(10, &second.0);
    assert_eq!(numbers(&ends.sent(10)), [1]);
}

#[test]
fn without_an_answer_credit_is_asked_for_again_and_granted_once() {
    let mut ends = ends(1, 3 * 4096);
    let packets = ends.sent(0);
    assert_eq!(numbers(&packets), [0]);
    let ack = ends.arrives(&packets[0]).unwrap();
    ends.answered(8, &ack);
    let lost = ends.grant().unwrap();
    assert_eq!(lost.1, PACKET);
    assert!(ends.sent(8).is_empty(), "a packet was asked for, as much as a window");
    assert_eq!(ends.connection.deadline(), Time::micros(50));
    ends.connection.on_timer(&ends.parameters, Time::micros(50));
    assert_eq!(ends.connection.deadline(), Time::micros(100), "also while the link is not free");
    let request = ends.sent(50);
    assert_eq!((request.len(), demands(&request)), (1, vec![1]));
    ends.arrives(&request[0]);
    let again = ends.grant().unwrap();
    assert_eq!((again.0.seq, again.1), (PACKET, 0), "as before");
    assert!(ends.grant().is_none());
    ends.answered(58, &again.0);
    assert_eq!(numbers(&ends.sent(58)), [1]);
    assert_eq!(ends.connection.counters().timeouts, 0, "no packet was lost");
}

#[test]
fn an_idle_connection_begins_again() {
    let mut ends = ends(3, 3 * 4096);
    for first in [0, 3] {
        let packets = ends.sent(first);
        assert_eq!(numbers(&packets), [first, first + 1, first + 2], "at once");
        let acks: Vec<Segment> = packets.iter().filter_map(|packet| ends.arrives(packet)).collect();
        acks.iter().for_each(|ack| ends.answered(first, ack));
        assert_eq!(ends.connection.is_idle(), first == 0);
        if first == 0 {
            ends.connection.write(5 * 4096);
        }
    }
    assert!(ends.sent(8).is_empty());
    let grant = ends.grant().unwrap();
    ends.answered(16, &grant.0);
    assert_eq!(numbers(&ends.sent(16)), [6, 7]);
}

/// The same with NSCC: what was trimmed in the fabric leaves the window, what was trimmed at the last
/// hop does not; then the window allows less than the credit, and then the credit less than the
/// window.
#[test]
fn with_nscc_a_packet_needs_room_in_the_window_and_credit() {
    let mut ends = ends_under(WindowControl::NsccRccc, 6, 20 * 4096);
    let packets = ends.sent(0);
    assert_eq!((numbers(&packets).len(), demands(&packets)), (6, vec![1, 2, 3, 4, 5, 6]));
    for (packet, at_last_hop) in packets.iter().zip([0, 0, 0, 1]) {
        let nack = ends.arrives(&Segment { window: at_last_hop, ..trimmed(packet) }).unwrap();
        assert_eq!((nack.kind, nack.window), (Kind::Nack, at_last_hop));
        ends.answered(12, &nack);
    }
    let window = |ends: &Ends| ends.connection.sender_state(0).unwrap().cwnd;
    assert_eq!(window(&ends), 3 * PACKET);
    let marked = |number: usize| Segment { ecn: Ecn::MARK, ..packets[number] };
    let acks = [4, 5].map(|number| ends.arrives(&marked(number)).unwrap());
    assert!(ends.sent(12).is_empty(), "no credit is left");
    let (grant, bytes) = ends.grant().unwrap();
    assert_eq!(bytes, 4 * PACKET);
    ends.answered(12, &grant);
    let third = ends.sent(12);
    assert_eq!(numbers(&third), [0], "two are in flight");
    assert_eq!(demands(&third), [4 + (3 + 1) - 3], "granted, the window and a packet, less credit");
    acks.iter().for_each(|ack| ends.answered(14, ack));
    let next = ends.sent(14);
    assert_eq!(numbers(&next), [1, 2], "a packet's credit is left");
    for packet in third.iter().chain(&next) {
        let ack = ends.arrives(packet).unwrap();
        ends.answered(26, &ack);
    }
    assert_eq!(numbers(&ends.sent(26)), [3], "nothing else is in flight");
    assert!(window(&ends) > 3 * PACKET);
}

/// Fates of packets and grants on their way.
#[derive(Clone, Copy, Debug)]
enum Fate {
    Arrives,
    /// At the last hop or not.
    Trimmed(bool),
    Lost,
}

fn fate() -> impl Strategy<Value = Fate> {
    let trimmed = any::<bool>().prop_map(Fate::Trimmed);
    prop_oneof![8 => Just(Fate::Arrives), 2 => trimmed, 1 => Just(Fate::Lost)]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    /// A client sends no more than its first windows and the grants, but for a packet; a server
    /// grants no more than it was asked for; and all arrives, whatever is lost.
    #[test]
    fn credit_is_conserved_and_everything_arrives(
        control in prop::sample::select(vec![WindowControl::Rccc, WindowControl::NsccRccc]),
        window in 1u64..12,
        bytes in 1u64..200_000,
        fates in prop::collection::vec(fate(), 0..300),
    ) {
        let mut ends = ends_under(control, window, bytes);
        let mut fates = fates.into_iter();
        let (mut sent, mut granted, mut asked) = (0, 0, 0);
        for round in 0..2_000 {
            let now = round * 10;
            if ends.connection.deadline() <= Time::micros(now) {
                ends.connection.on_timer(&ends.parameters, Time::micros(now));
            }
            let mut answers = Vec::new();
            for packet in ends.sent(now) {
                if packet.kind == Kind::Data {
                    sent += u64::from(packet.len) + u64::from(HEADER_BYTES);
                }
                let packet = match fates.next().unwrap_or(Fate::Arrives) {
                    Fate::Arrives => packet,
                    Fate::Trimmed(last) if packet.kind == Kind::Data => {
                        Segment { window: last.into(), ..trimmed(&packet) }
                    }
                    _ => continue,
                };
                asked = asked.max(packet.options.demand().unwrap_or(0));
                answers.extend(ends.arrives(&packet));
            }
            if let Some((grant, bytes)) = ends.grant() {
                prop_assert!(bytes <= GRANT_PACKETS * PACKET);
                granted += bytes;
                prop_assert_eq!(grant.seq, granted);
                prop_assert!(granted <= asked);
                answers.push(grant);
            }
            let arrives = |_: &Segment| !matches!(fates.next(), Some(Fate::Lost));
            answers.into_iter().filter(arrives).for_each(|answer| ends.answered(now, &answer));
            prop_assert!(sent <= window * PACKET + granted + PACKET, "{sent} {granted}");
            if ends.connection.is_idle() {
                break;
            }
        }
        prop_assert!(ends.connection.is_idle());
        prop_assert_eq!(ends.connection.delivered(), bytes);
    }

    /// Demands are carried whole.
    #[test]
    fn a_demand_is_read_as_it_was_written(bytes: u64) {
        prop_assert_eq!(Options::of_demand(bytes).demand(), Some(bytes));
    }
}
