//! One port against a simple model.

use proptest::prelude::*;

use super::*;

/// A port as a list of packets, without optimisations.
struct Model {
    limits: PortLimits,
    /// Start and end of transmission of each packet that has not left.
    queue: Vec<(Time, Time)>,
    losses: PortStats,
    up: bool,
}

impl Model {
    /// Sends a packet; returns its arrival if it is accepted.
    fn send(&mut self, now: Time, size: u16) -> Option<Arrived> {
        self.queue.retain(|&(_, end)| end > now);
        let rest = |&(start, end): &(Time, Time)| end.0 - start.max(now).0;
        let waiting: u64 = self.queue.iter().map(rest).sum();
        let not_started = self.queue.iter().filter(|&&(start, _)| start > now).count();
        let time = bytes(size.into());
        let is_busy = !self.queue.is_empty();
        if !self.up {
            self.losses.failure_drops += 1;
            return None;
        }
        let too_many = self.limits.packets.is_some_and(|most| not_started >= most as usize);
        if waiting + time.0 > bytes(self.limits.bytes.0).0 || (is_busy && too_many) {
            self.losses.buffer_drops += 1;
            return None;
        }
        let marked = self.limits.mark_above.is_some_and(|most| waiting > bytes(most.0).0);
        self.losses.ecn_marks += u64::from(marked);
        let start = Time(now.0 + waiting);
        self.queue.push((start, start + time));
        Some((start + time + DELAY, size, marked))
    }
}

#[derive(Clone, Debug)]
enum Step {
    Send(u16),
    Fail,
    Recover,
}

fn steps() -> impl Strategy<Value = Vec<(u64, Step)>> {
    let step = prop_oneof![
        40 => (64u16..1519).prop_map(Step::Send),
        1 => Just(Step::Fail),
        1 => Just(Step::Recover),
    ];
    prop::collection::vec((prop_oneof![Just(0), Just(51_200), 0u64..2_000_000], step), 1..200)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    /// The port drops, marks and delivers as the model does, with utilisation metered or not.
    #[test]
    fn a_port_agrees_with_the_model(
        buffer in 1_000u64..20_000,
        packets in prop::option::of(0u32..12),
        mark_above in prop::option::of((0u64..10_000).prop_map(Bytes)),
        metered: bool,
        steps in steps(),
    ) {
        let limits = PortLimits { bytes: Bytes(buffer), packets, mark_above };
        let mut network = one_port(limits, metered.then_some(DreShift(19)));
        let mut model = Model { limits, queue: Vec::new(), losses: PortStats::default(), up: true };
        let (mut now, mut expected) = (Time::ZERO, Vec::<Arrived>::new());
        for (gap, step) in steps {
            now += Time(gap);
            let due = expected.iter().take_while(|(at, ..)| *at <= now).count();
            let got: Vec<_> = expected.drain(..due).collect();
            prop_assert_eq!(network.arrivals(now), got);
            match step {
                Step::Send(size) => {
                    network.send_data(now, size);
                    expected.extend(model.send(now, size));
                }
                Step::Fail => {
                    network.fail(0, now);
                    model.losses.failure_drops += expected.len() as u64;
                    expected.clear();
                    model.queue.clear();
                    model.up = false;
                }
                Step::Recover => {
                    network.recover(0);
                    model.up = true;
                }
            }
            network.check(now);
        }
        prop_assert_eq!(network.arrivals(now + LATER), expected);
        prop_assert_eq!(network.port_stats[0], model.losses);
        prop_assert_eq!(network.packets.len(), 0);
    }
}
