//! Packets to a service's address that are for none of its services.

use heddle_balancer_maps::abi::{
    ANSWERS_ECHO, Counter, DROPS_CLOSED, DROPS_ECHO, MAC_RECEIVED, REFUSES_CLOSED,
};
use heddle_harness::{Flow, Outcome, Setup, fragments};

use crate::traces::world::{Traced, flow, flow_v6, from, open};

/// To a port of the service's address that has no service.
fn closed(mut flow: Flow) -> Flow {
    flow.service.set_port(444);
    flow
}

fn choosing(choices: u32) -> Setup {
    Setup { choices, ..Setup::default() }
}

#[test]
fn closed_ports_and_echo_are_the_stacks_by_default() {
    let Some(mut cluster) = open(Setup::default()) else { return };
    for flow in [flow(1), flow_v6(1)] {
        for frame in [closed(flow).syn(&[]), closed(flow).datagram(9)] {
            let (sent, seen) = cluster.seen(0, &frame);
            assert_eq!((sent.outcome, seen.at(0)), (Outcome::Passed, vec![Counter::PassNoVip]));
            assert_eq!(sent.frame, frame);
        }
        let (sent, seen) = cluster.seen(0, &flow.echo_request(40));
        assert_eq!((sent.outcome, seen.at(0)), (Outcome::Passed, vec![Counter::PassIcmp]));
    }
}

#[test]
fn closed_ports_are_dropped_by_choice() {
    let Some(mut cluster) = open(choosing(DROPS_CLOSED)) else { return };
    for flow in [flow(1), flow_v6(1)] {
        for frame in [closed(flow).syn(&[]), closed(flow).ack(&[], 9), closed(flow).datagram(9)] {
            let (sent, seen) = cluster.seen(0, &frame);
            assert_eq!((sent.outcome, seen.at(0)), (Outcome::Dropped, vec![Counter::DropClosed]));
        }
        let (sent, seen) = cluster.seen(0, &flow.echo_request(40));
        assert_eq!((sent.outcome, seen.at(0)), (Outcome::Passed, vec![Counter::PassIcmp]));
        let (_, seen) = cluster.seen(0, &flow.syn(&[]));
        assert_eq!(seen.at(0)[0], Counter::SentSyn, "its open port is open");
    }
}

/// Other addresses are the machine's own affair.
#[test]
fn only_a_services_address_is_meant() {
    let Some(mut cluster) = open(choosing(REFUSES_CLOSED | DROPS_ECHO)) else { return };
    let mut elsewhere = from([198, 18, 0, 1].into(), 40_000);
    elsewhere.service.set_ip([203, 0, 113, 7].into());
    for frame in [elsewhere.syn(&[]), elsewhere.datagram(9), elsewhere.echo_request(40)] {
        let (sent, seen) = cluster.seen(0, &frame);
        assert_eq!((sent.outcome, seen.at(0)), (Outcome::Passed, vec![Counter::PassNoVip]));
    }
}

#[test]
fn closed_ports_are_refused_by_choice_and_resets_are_not() {
    let Some(mut cluster) = open(choosing(REFUSES_CLOSED)) else { return };
    for flow in [flow(1), flow_v6(1)] {
        for frame in [closed(flow).syn(&[]), closed(flow).ack(&[], 9), closed(flow).datagram(9)] {
            let (sent, seen) = cluster.seen(0, &frame);
            let wanted = (Outcome::Outside, vec![Counter::RefusedClosed]);
            assert_eq!((sent.outcome, seen.at(0)), wanted);
        }
        let (sent, seen) = cluster.seen(0, &closed(flow).rst());
        assert_eq!((sent.outcome, seen.at(0)), (Outcome::Dropped, vec![Counter::DropClosed]));
    }
    let first = &fragments(&closed(flow(1)).datagram(3000), 1440, 9)[0];
    let (sent, seen) = cluster.seen(0, first);
    assert_eq!((sent.outcome, seen.at(0)), (Outcome::Outside, vec![Counter::RefusedClosed]));
}

/// A flooded frame is another machine's: its refusal would be one too many.
#[test]
fn a_frame_for_another_machine_is_not_refused() {
    let mut settings = Setup::default().settings;
    settings.macs[0] = MAC_RECEIVED | 0x77;
    let Some(mut cluster) = open(Setup { settings, ..choosing(REFUSES_CLOSED) }) else { return };
    let (sent, seen) = cluster.seen(0, &closed(flow(1)).syn(&[]));
    assert_eq!((sent.outcome, seen.at(0)), (Outcome::Passed, vec![Counter::PassOtherHost]));
}

#[test]
fn echo_is_answered_or_dropped_by_choice() {
    for (choice, outcome, counter) in [
        (ANSWERS_ECHO, Outcome::Outside, Counter::AnsweredEcho),
        (DROPS_ECHO, Outcome::Dropped, Counter::DropEcho),
    ] {
        let Some(mut cluster) = open(choosing(choice)) else { return };
        for flow in [flow(1), flow_v6(1)] {
            let (sent, seen) = cluster.seen(0, &flow.echo_request(40));
            assert_eq!((sent.outcome, seen.at(0)), (outcome, vec![counter]));
            let (_, seen) = cluster.seen(0, &flow.too_big(1400));
            assert_eq!(seen.at(0), [Counter::SentIcmp], "errors go where they belong");
        }
    }
}

/// `ping -s 3000`: each fragment of the request becomes one of the reply, the first with its type and
/// the checksum, which is of all of them.
#[test]
fn echo_in_fragments_is_answered_or_dropped_as_a_whole_one() {
    for (choice, outcome, counter) in [
        (ANSWERS_ECHO, Outcome::Outside, Counter::AnsweredEcho),
        (DROPS_ECHO, Outcome::Dropped, Counter::DropEcho),
    ] {
        let Some(mut cluster) = open(choosing(choice)) else { return };
        for flow in [flow(1), flow_v6(1)] {
            let headers = if flow.client.is_ipv6() { 48 } else { 20 };
            let parts = fragments(&flow.echo_request(3000), 1440, 9);
            assert_eq!(parts.len(), 3);
            for (number, part) in parts.iter().enumerate() {
                let (sent, seen) = cluster.seen(0, part);
                assert_eq!((sent.outcome, seen.at(0)), (outcome, vec![counter]));
                let data = 14 + headers + if number == 0 { 4 } else { 0 };
                assert_eq!(sent.frame[data..], part[data..], "the same data");
                if choice == ANSWERS_ECHO && number == 0 {
                    let icmp = &sent.frame[14 + headers..][..4];
                    assert_eq!(icmp[0], if headers == 48 { 129 } else { 0 });
                    assert_ne!(icmp[2..], part[14 + headers + 2..][..2], "its checksum");
                }
            }
        }
    }
}
