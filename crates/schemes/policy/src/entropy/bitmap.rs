//! Spraying over the values of a bitmap, as the public uet-htsim has it: 64 values are taken in
//! turn, and those whose packets met congestion are left out for some turns.
//!
//! - Each 64 packets take each value once, in an order that is drawn anew each time.
//! - A marked packet adds 1 to the penalty of its value, a trimmed one 4, up to 15. A value with a
//!   penalty is passed over; of those that are passed over for one packet, the first loses 1. If all
//!   have penalties, the packet takes the next one.
//! - The upper bits of all values are drawn once for a flow.
//!
//! There a timeout counts for the value 0, since the sender does not know that of the packet; here
//! it counts for none.

use super::random_16_bits;
use crate::Step;

/// Values of a flow.
const VALUES: usize = 64;

/// Penalties.
const MARKED: u8 = 1;
const TRIMMED: u8 = 4;
const MOST: u8 = 15;

/// The bitmap's state of a flow.
#[derive(Clone, Debug)]
pub struct Bitmap {
    /// Penalty of each value.
    penalties: [u8; VALUES],
    /// Place in the order, and what orders the values: the exclusive or of both is a value.
    place: u8,
    order: u8,
    /// Upper bits of the values; `None` before the first packet.
    upper: Option<u16>,
}

impl Bitmap {
    /// Bytes of state: 64 penalties of 4 bits, the place and the order, and the upper bits.
    pub const STATE_BYTES: usize = VALUES / 2 + 2 + 2;

    pub(super) fn new() -> Bitmap {
        Bitmap { penalties: [0; VALUES], place: 0, order: 0, upper: None }
    }

    pub(super) fn next(&mut self, step: Step) -> u32 {
        let upper = self.upper.unwrap_or_else(|| {
            self.draw_order(step);
            random_16_bits(step.rnd) as u16 & !low(u16::MAX)
        });
        self.upper = Some(upper);
        let mut value = self.turn(step);
        if self.penalties[value] > 0 {
            self.penalties[value] -= 1;
            for _ in 0..VALUES {
                value = self.turn(step);
                if self.penalties[value] == 0 {
                    break;
                }
            }
        }
        u32::from(upper) | value as u32
    }

    /// The next value in turn.
    fn turn(&mut self, step: Step) -> usize {
        let value = usize::from(self.place ^ self.order);
        self.place = (self.place + 1) % VALUES as u8;
        if self.place == 0 {
            self.draw_order(step);
        }
        value
    }

    fn draw_order(&mut self, step: Step) {
        self.order = low(step.rnd as u16) as u8;
    }

    pub(super) fn on_mark(&mut self, entropy: u32) {
        self.penalise(entropy, MARKED);
    }

    pub(super) fn on_trim(&mut self, entropy: u32) {
        self.penalise(entropy, TRIMMED);
    }

    fn penalise(&mut self, entropy: u32, penalty: u8) {
        let of_value = &mut self.penalties[usize::from(low(entropy as u16))];
        *of_value = (*of_value + penalty).min(MOST);
    }
}

/// The bits that tell the values of a flow apart.
fn low(bits: u16) -> u16 {
    bits % VALUES as u16
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    /// Draws `order` for the values, and 0x1240 above them.
    fn step(order: u32) -> Step {
        Step { now: 0, rnd: 0x1240_0000 | order }
    }

    fn next(flow: &mut Bitmap, order: u32, count: usize) -> Vec<u32> {
        (0..count).map(|_| flow.next(step(order)) - 0x1240).collect()
    }

    #[test]
    fn each_value_comes_once_in_64_packets_in_an_order_that_is_drawn() {
        let mut flow = Bitmap::new();
        assert_eq!(next(&mut flow, 0, 64), (0..64).collect::<Vec<_>>());
        let order: Vec<u32> = (0..64).map(|place| place ^ 0b101).collect();
        let mut flow = Bitmap::new();
        assert_eq!(next(&mut flow, 0b101, 64), order);
    }

    #[test]
    fn a_marked_value_is_passed_over_once_and_a_trimmed_one_four_times() {
        let mut flow = Bitmap::new();
        flow.on_mark(0x1240 + 2);
        flow.on_trim(0x1240 + 5);
        // A turn without both, three without the trimmed one, and a whole one.
        let sent = next(&mut flow, 0, 62 + 3 * 63 + 64);
        assert_eq!(sent[..8], [0, 1, 3, 4, 6, 7, 8, 9]);
        let count = |value: u32| sent.iter().filter(|other| **other == value).count();
        assert_eq!([2, 5, 7].map(count), [4, 1, 5]);
    }

    #[test]
    fn penalties_end_at_fifteen_and_with_all_of_them_packets_are_sent_all_the_same() {
        let mut flow = Bitmap::new();
        (0..64).for_each(|value| (0..9).for_each(|_| flow.on_trim(value)));
        assert!(flow.penalties.iter().all(|penalty| *penalty == MOST));
        assert_eq!(next(&mut flow, 0, 2), [0, 1], "the first passed over loses 1, and is the next");
    }
}
