use heddle_units::Rate;

use super::*;

const DELAY: Time = Time::micros(1);

fn path(gbps: &[u64]) -> Vec<PathLink> {
    gbps.iter()
        .map(|&rate| PathLink {
            rate: Rate::gbps(rate),
            reverse_rate: Rate::gbps(rate),
            delay: DELAY,
        })
        .collect()
}

/// Every frame over every link in order, each link one frame at a time: the recursion of a tandem
/// of queues.
fn tandem(frames: &Frames, path: &[PathLink]) -> Time {
    let mut free = vec![Time::ZERO; path.len()];
    for index in 0..=frames.before_last {
        let frame = if index == frames.before_last { frames.last } else { frames.full };
        let mut at = Time::ZERO;
        for (link, free) in path.iter().zip(&mut free) {
            *free = at.max(*free) + link.rate.time_for(frame);
            at = *free + link.delay;
        }
        if index == frames.before_last {
            return at;
        }
    }
    Time::ZERO
}

#[test]
fn frames_are_sent_in_order_over_links_of_any_rates() {
    let tcp = TcpConfig::default();
    for rates in [&[10, 40, 40, 10][..], &[10, 1, 40], &[40, 10, 1, 10], &[1, 10], &[10]] {
        for size in [1, 1459, 1460, 1461, 2920, 2921, 14_600, 100_001, 1_000_000] {
            let frames = Frames::new(&tcp, Bytes(size));
            let path = path(rates);
            assert_eq!(frames.time_over(&path), tandem(&frames, &path), "{rates:?} {size}");
        }
    }
}

/// 1461 bytes: a full frame of 1518 bytes and one of 64. On the second, equal link the short frame
/// waits for the full one.
#[test]
fn a_short_last_frame_does_not_overtake_a_full_one() {
    let frames = Frames::new(&TcpConfig::default(), Bytes(1461));
    let path = path(&[10, 10]);
    let full = Rate::gbps(10).time_for(Bytes(1518));
    let short = Rate::gbps(10).time_for(Bytes(64));
    assert_eq!(frames.time_over(&path), DELAY * 2 + full * 2 + short);
}
