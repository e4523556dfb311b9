//! Properties for any pattern of loss, delay and duplication. [`super::net`] checks invariants at
//! every step.

use proptest::prelude::*;

use super::net::{Fate, Net};
use super::*;
use crate::{LossDetection, Recovery};

fn fate() -> impl Strategy<Value = Fate> {
    prop_oneof![
        12 => Just(Fate::Pass),
        2 => Just(Fate::Drop),
        1 => (0u64..3000).prop_map(|micros| Fate::Delay(Time::micros(micros))),
        1 => Just(Fate::Duplicate),
    ]
}

fn any_config() -> impl Strategy<Value = MptcpConfig> {
    let coupling = prop::sample::select(std::vec![
        Coupling::Uncoupled,
        Coupling::Lia,
        Coupling::Olia,
        Coupling::Balia
    ]);
    let scheduler = prop::sample::select(std::vec![
        Scheduler::LowestRtt,
        Scheduler::RoundRobin,
        Scheduler::Redundant
    ]);
    let recovery = prop::sample::select(std::vec![
        (Recovery::Sack, LossDetection::DupAck),
        (Recovery::Sack, LossDetection::Rack),
        (Recovery::NewReno, LossDetection::DupAck),
    ]);
    let full_window = prop::sample::select(std::vec![
        FullWindow::Wait,
        FullWindow::Retransmit,
        FullWindow::Penalise
    ]);
    let (version, at_once, delayed) = (any::<bool>(), any::<bool>(), any::<bool>());
    let pacing = crate::tests::pacing();
    (1u8..=4, coupling, scheduler, recovery, version, at_once, delayed, pacing, full_window)
        .prop_map(
            |(
                subflows,
                coupling,
                scheduler,
                recovery,
                version,
                at_once,
                delayed,
                pacing,
                full_window,
            )| {
                MptcpConfig {
                    tcp: TcpConfig {
                        recovery: recovery.0,
                        loss_detection: recovery.1,
                        delayed_ack: delayed.then_some(Time::micros(500)),
                        receive_window: Bytes(100_000),
                        pacing,
                        ..TcpConfig::default()
                    },
                    version: if version { Version::V1 } else { Version::V0 },
                    subflows,
                    coupling,
                    scheduler,
                    join: if at_once { JoinTime::AtOnce } else { JoinTime::AfterData },
                    full_window,
                    subflow_window: None,
                }
            },
        )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    #[test]
    fn every_byte_arrives_once_and_in_order(
        config in any_config(),
        bytes in 1u64..300_000,
        fates in prop::collection::vec(fate(), 200),
        until in 1_000u64..20_000,
    ) {
        let mut count = 0;
        let mut net = Net::new([link(), link(), link(), link()]).with_fate(move |_, _, _| {
            count += 1;
            if count < until { fates[count as usize % fates.len()] } else { Fate::Pass }
        });
        let flow = net.open(config, &[0, 1, 2, 3][..config.subflows.into()], bytes);
        net.run();
        prop_assert_eq!(net.flows[flow].delivered(), bytes);
    }

    #[test]
    fn no_byte_is_lost_with_a_path_that_fails(
        config in any_config(),
        bytes in 100_000u64..1_000_000,
        fails in 0u64..60_000,
        down_for in 1u64..100_000,
        path in 0usize..4,
    ) {
        let mut net = Net::new([link(), link(), link(), link()]);
        let flow = net.open(config, &[0, 1, 2, 3][..config.subflows.into()], bytes);
        net.run_until(Time::micros(fails));
        net.links[path].is_up = false;
        net.run_until(Time::micros(fails + down_for));
        net.links[path].is_up = true;
        net.run();
        prop_assert_eq!(net.flows[flow].delivered(), bytes);
    }

    #[test]
    fn any_answer_and_any_segment_is_survived(
        config in any_config(),
        noise in prop::collection::vec((0usize..5, crate::tests::any_segment()), 1..60),
    ) {
        let with = crate::mptcp::Parameters::from(config);
        let mut connection = crate::mptcp::MptcpConnection::new(&with, || 7);
        connection.write(Time::ZERO, 1 << 20);
        for (step, (path, segment)) in noise.into_iter().enumerate() {
            let now = Time::millis(step as u64);
            connection.on_segment(&with, now, path, &segment);
            connection.on_ack(&with, now, path, &segment);
            connection.on_timer(&with, now);
            for _ in 0..20 {
                if connection.next_segment(&with, now).is_none() {
                    break;
                }
            }
        }
    }
}
