//! NSCC by arithmetic, in its reference network: 100 Gbps and 12 us, so that nothing is scaled, with
//! a target of 9 us. A full packet has 4154 bytes.

use heddle_units::{Rate, Time};

use super::*;
use crate::uet::UetConfig;

const PACKET: u64 = 4154;

struct Sender {
    parameters: UetParameters,
    nscc: Nscc,
}

impl Sender {
    /// A sender with a window; the largest is 225,000 bytes.
    fn new(window: u64) -> Sender {
        let target_delay = Some(Time::micros(9));
        let config = UetConfig { target_delay, ..UetConfig::default() };
        let parameters = UetParameters::new(&config, Rate::gbps(100));
        let nscc = Nscc { window, ..Nscc::new(&parameters) };
        Sender { parameters, nscc }
    }

    /// Acknowledges some packets at a time, each of which was queued so long (both in ns).
    fn acks(&mut self, packets: u64, now: u64, delay: u64, marked: bool) -> u64 {
        for _ in 0..packets {
            let ack = Acknowledged {
                now: Time::nanos(now),
                marked,
                rtt: Some(Time::nanos(12_000 + delay)),
                bytes: PACKET,
                in_flight: 100_000,
            };
            self.nscc.on_ack(&self.parameters, &ack);
        }
        self.nscc.window()
    }

    fn nack(&mut self, now: u64, in_flight: u64) -> u64 {
        let trimmed = Trimmed { now: Time::nanos(now), bytes: PACKET, in_flight };
        self.nscc.on_nack(&self.parameters, &trimmed, false);
        self.nscc.window()
    }
}

#[test]
fn without_a_mark_the_window_grows_by_the_delay_that_is_left() {
    let mut sender = Sender::new(100_000);
    assert_eq!(sender.acks(8, 5_000, 3_000, false), 100_000, "not before 8 packets have passed");
    // 4 packets of payload times 6 us of 12 for each byte of a window: 8192 x 37,386 / 100,000.
    assert_eq!(sender.acks(1, 5_000, 3_000, false), 103_062);
}

#[test]
fn without_a_mark_above_the_target_the_window_grows_by_five_packets_a_round() {
    // 5 x 4096 x 37,386 / 100,000.
    assert_eq!(Sender::new(100_000).acks(9, 5_000, 10_000, false), 107_656);
}

#[test]
fn a_mark_below_the_target_changes_nothing() {
    assert_eq!(Sender::new(100_000).acks(9, 5_000, 8_999, true), 100_000);
}

#[test]
fn a_mark_above_the_target_takes_the_excess_of_the_average_once_in_a_round() {
    let mut sender = Sender::new(100_000);
    sender.nscc.average = 18e6;
    // 1 - 0.8 x 9 / 18 is left, and 0.15 packets come with the first adjustment for a round trip.
    assert_eq!(sender.acks(1, 20_000, 18_000, true), 60_614);
    assert_eq!(sender.acks(1, 21_000, 18_000, true), 60_614);
    sender.nscc.average = 1e12;
    assert_eq!(sender.acks(1, 32_001, 18_000, true), 30_307 + 614, "half at least");
}

#[test]
fn the_average_moves_by_an_eightieth_and_takes_unmarked_delay_for_a_quarter_of_a_round_trip() {
    let mut sender = Sender::new(100_000);
    sender.acks(1, 1_000, 8_000, false);
    assert!((sender.nscc.average - 100e3).abs() < 1.0, "8 us / 80");
    sender.acks(1, 1_000, 20_000, false);
    assert!((sender.nscc.average - (98.75e3 + 37.5e3)).abs() < 1.0, "3 us / 80");
    sender.acks(1, 1_000, 20_000, true);
    assert!((sender.nscc.average - (136.25e3 * 79.0 / 80.0 + 250e3)).abs() < 1.0);
}

#[test]
fn a_window_without_any_queue_begins_to_grow_fast() {
    let mut sender = Sender::new(10_000);
    assert_eq!(sender.acks(2, 1_000, 0, false), 10_000);
    assert_eq!(sender.acks(1, 1_000, 0, false), 11_038, "a quarter of 4154 bytes");
    assert_eq!(sender.acks(1, 1_000, 999, false), 12_076);
    assert_eq!(sender.acks(1, 1_000, 1_000, false), 12_076, "a delay ends it");
}

#[test]
fn a_nack_takes_its_packet_from_the_window() {
    let mut sender = Sender::new(100_000);
    assert_eq!(sender.nack(1_000, 100_000), 100_000 - PACKET);
    assert_eq!(Sender::new(5_000).nack(1_000, 5_000), PACKET, "a packet is left");
}

#[test]
fn after_a_loss_the_window_adapts_to_what_has_arrived_and_ignores_what_was_in_flight() {
    let mut sender = Sender::new(200_000);
    sender.acks(1, 1_000, 20_000, true);
    let before = sender.acks(5, 10_000, 20_000, true);
    assert_eq!(
        sender.nack(22_000, 60_000),
        before - PACKET,
        "21 us after the first check, not over"
    );
    assert_eq!(sender.nack(22_001, 60_000), 5 * PACKET);
    // 60,000 bytes were in flight: fifteen packets.
    sender.nscc.average = 18e6;
    assert_eq!(sender.acks(14, 40_000, 20_000, true), 5 * PACKET);
    assert!(sender.acks(2, 40_000, 20_000, true) < 5 * PACKET, "later marks count");
}

#[test]
fn much_that_has_arrived_is_no_reason_to_adapt() {
    let mut sender = Sender::new(200_000);
    sender.acks(1, 1_000, 3_000, false);
    // An eighth of 225,000 is 28,125: seven packets are more.
    let before = sender.acks(7, 10_000, 3_000, false);
    assert_eq!(sender.nack(22_001, 60_000), before - PACKET);
}

#[test]
fn a_lower_round_trip_time_lowers_the_largest_window_with_it() {
    let mut sender = Sender::new(225_000);
    let ack = Acknowledged {
        now: Time::micros(6),
        marked: false,
        rtt: Some(Time::micros(6)),
        bytes: PACKET,
        in_flight: 0,
    };
    sender.nscc.on_ack(&sender.parameters, &ack);
    assert_eq!(sender.nscc.window(), 112_500);
}
