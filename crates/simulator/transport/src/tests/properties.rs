//! Properties for any pattern of loss, delay, duplication and marking. [`super::net`] checks
//! invariants at every step.

use heddle_units::{Bytes, Rate, Time};
use proptest::prelude::*;
use std::vec::Vec;

use super::net::{Fate, Link, Net};
use crate::{Control, Ecn, Kind, LossDetection, Options, Pacing, Recovery, TcpConfig};

fn fate() -> impl Strategy<Value = Fate> {
    prop_oneof![
        6 => Just(Fate::Pass),
        3 => Just(Fate::Drop),
        2 => (1u64..400).prop_map(|us| Fate::Delay(Time::micros(us))),
        1 => (1u64..40).prop_map(|ms| Fate::Delay(Time::millis(ms))),
        1 => Just(Fate::Duplicate),
        1 => Just(Fate::Mark),
    ]
}

prop_compose! {
    fn config()(
        control in prop_oneof![Just(Control::NewReno), Just(Control::Cubic), Just(Control::Dctcp)],
        (recovery, loss_detection) in prop::sample::select(std::vec![
            (Recovery::Sack, LossDetection::DupAck),
            (Recovery::Sack, LossDetection::Rack),
            (Recovery::NewReno, LossDetection::DupAck),
        ]),
        mss in prop_oneof![Just(1460u16), 1u16..3000],
        initial_window in 1u32..30,
        receive_window in prop_oneof![Just(4_000_000u64), 1u64..60_000],
        delayed_ack in prop_oneof![Just(None), (1u64..2000).prop_map(|us| Some(Time::micros(us)))],
        dup_threshold in 1u32..6,
        min_rto in 200u64..10_000,
        pacing in pacing(),
    ) -> TcpConfig {
        TcpConfig {
            pacing,
            mss, initial_window, control, recovery, loss_detection, delayed_ack, dup_threshold,
            min_rto: Time::micros(min_rto),
            receive_window: Bytes(receive_window),
            ..TcpConfig::default()
        }
    }
}

/// None, Linux's or any.
pub(crate) fn pacing() -> impl Strategy<Value = Option<Pacing>> {
    let any = (any::<u16>(), any::<u16>());
    prop_oneof![
        Just(None),
        Just(Some(Pacing::default())),
        any.prop_map(|(slow_start_ratio, avoidance_ratio)| Some(Pacing {
            slow_start_ratio,
            avoidance_ratio
        })),
    ]
}

/// The nth segment of a kind meets the nth fate; those after the last pass.
fn by_number(data: Vec<Fate>, other: Vec<Fate>) -> impl FnMut(Kind, u64) -> Fate {
    move |kind, n| {
        let fates = if kind == Kind::Data { &data } else { &other };
        fates.get(n as usize).copied().unwrap_or(Fate::Pass)
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn every_byte_is_delivered_in_order_and_the_sender_ends_idle(
        config in config(),
        segments in 1u64..150,
        data in prop::collection::vec(fate(), 0..200),
        other in prop::collection::vec(fate(), 0..60),
        buffer in 10_000u64..200_000,
    ) {
        let link = Link { buffer: Bytes(buffer), ..Link::new(Rate::gbps(1), Time::micros(50)) };
        let bytes = segments * u64::from(config.mss);
        let mut net = Net::one(config, link, bytes).with_fate(by_number(data, other));
        net.run();
        prop_assert_eq!(net.receiver().delivered(), bytes);
    }

    #[test]
    fn writes_of_any_size_at_any_time_make_one_stream(
        config in config(),
        writes in prop::collection::vec((0u64..20_000, 0u64..20_000), 1..20),
        data in prop::collection::vec(fate(), 0..30),
    ) {
        let link = Link::new(Rate::gbps(1), Time::micros(50));
        let mut net = Net::one(config, link, 0).with_fate(by_number(data, Vec::new()));
        let mut total = 0;
        for (micros, bytes) in writes {
            net.run_until(net.now + Time::micros(micros));
            net.write(bytes);
            total += bytes;
        }
        net.run();
        prop_assert_eq!(net.receiver().delivered(), total);
    }

    #[test]
    fn no_segment_makes_either_end_panic(
        config in config(),
        segments in prop::collection::vec(any_segment(), 1..100),
    ) {
        let mut net = Net::one(config, Link::new(Rate::gbps(1), Time::micros(50)), 300_000);
        net.run_until(Time::micros(150));
        let flow = &mut net.flows[0];
        for segment in segments {
            flow.sender.on_segment(&config, net.now, &segment);
            flow.receiver.on_segment(&config, net.now, &segment);
            for _ in 0..1000 {
                flow.sender.next_segment(&config, net.now);
            }
            flow.sender.on_timer(&config, net.now + Time::secs(1));
        }
    }
}

pub(crate) fn any_segment() -> impl Strategy<Value = crate::Segment> {
    let number = || prop_oneof![0u64..400_000, any::<u64>()];
    let block = (any::<u32>(), any::<u32>());
    let near = (0u32..100_000, 0u32..100_000);
    let block = prop_oneof![block, near].prop_map(|(offset, len)| crate::SackBlock { offset, len });
    let kind = prop_oneof![1 => Just(Kind::Syn), 1 => Just(Kind::SynAck), 1 => Just(Kind::Data), 5 => Just(Kind::Ack), 1 => Just(Kind::HandshakeAck)];
    let options = prop_oneof![
        1 => Just(Options::None),
        3 => prop::array::uniform3(block.clone()).prop_map(Options::Sack),
        1 => prop::array::uniform3(block).prop_map(Options::DuplicateSack),
    ];
    let ecn = prop::sample::select(std::vec![Ecn::NONE, Ecn::MARK, Ecn::CWR]);
    (number(), any::<u32>(), any::<u32>(), options, any::<u16>(), kind, ecn).prop_map(
        |(seq, timestamp, window, options, len, kind, ecn)| crate::Segment {
            seq,
            data_seq: 0,
            timestamp: crate::Timestamp(timestamp),
            window,
            options,
            len,
            kind,
            ecn,
        },
    )
}
