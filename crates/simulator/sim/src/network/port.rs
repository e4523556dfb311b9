//! A port: a drop-tail FIFO queue and one direction of a link.

use heddle_policy::{Dre, DreShift};
use heddle_scenario::PortLimits;
use heddle_units::{Bytes, Rate, Time};

use super::NIL;

/// Packets of a port that are sent before others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Priority {
    /// None: the port has one queue.
    None,
    /// Control packets, at a host's own port. Buffers do not limit them.
    Control,
    /// Control packets, probes and the first bytes of flows, at a switch's port.
    FirstBytes,
    /// Control packets and probes, at a switch's port. Each queue has a buffer of its own.
    ControlFirst,
}

/// Times of a packet's transmission.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Slot {
    pub(super) start: Time,
    pub(super) end: Time,
}

/// One part in so many of a switch port's buffer is for packets that go before others.
const RESERVED: u64 = 8;

/// Constants shared by ports with the same rate, delay and limits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct LinkClass {
    pub(crate) rate: Rate,
    pub(crate) delay: Time,
    pub(crate) limits: PortLimits,
    /// The rate that the limits are given for, where they scale with the port's.
    limits_at: Option<Rate>,
    /// Time to send a byte, in 2^-8 ps.
    byte_time: u64,
    /// Buffer size as transmission time.
    pub(crate) buffer_time: Time,
    /// A packet whose transmission ends within this time is accepted without further look: the
    /// buffer, or 0 where each packet takes one.
    pub(crate) accept_within: Time,
    /// ECN threshold as waiting time.
    pub(crate) mark_time: Time,
    pub(crate) max_waiting: u32,
    /// Data that does not fit into as much is cut to its header, and goes first.
    trim_above: Option<Bytes>,
    /// The same as waiting time.
    trim_time: Time,
    /// Packets that go before others.
    pub(crate) priority: Priority,
    /// True if a shared buffer or RED decides on each packet ([`super::management`]).
    pub(crate) is_managed: bool,
    /// True if its ports lead from one partition of a run to another.
    pub(crate) crosses: bool,
}

impl LinkClass {
    pub(crate) fn new(rate: Rate, delay: Time, limits: PortLimits) -> LinkClass {
        let bits = (8 * 1_000_000_000_000u128) << 8;
        LinkClass {
            rate,
            delay,
            limits,
            limits_at: None,
            byte_time: bits.div_ceil(u128::from(rate.0.max(1))) as u64,
            buffer_time: Time::ZERO,
            accept_within: Time::ZERO,
            mark_time: Time::NEVER,
            max_waiting: limits.packets.unwrap_or(u32::MAX),
            trim_above: None,
            trim_time: Time::NEVER,
            priority: Priority::None,
            is_managed: false,
            crosses: false,
        }
        .limits_at(None)
    }

    /// The same for a port whose limits are given for some rate, the port's own by default, and scale
    /// with its own: they are equally long in time.
    pub(crate) fn limits_at(self, rate: Option<Rate>) -> LinkClass {
        let class = LinkClass { limits_at: rate, ..self };
        let time_for = |bytes| class.limit_time(bytes);
        let buffer_time = time_for(self.limits.bytes);
        let mark_time = self.limits.mark_above.map_or(Time::NEVER, time_for);
        LinkClass { buffer_time, accept_within: buffer_time, mark_time, ..class }
    }

    /// A limit as transmission time.
    pub(super) fn limit_time(&self, bytes: Bytes) -> Time {
        self.limits_at.unwrap_or(self.rate).time_for(bytes)
    }

    /// The same for ports that lead from one partition of a run to another.
    pub(super) fn crossing(self) -> LinkClass {
        LinkClass { crosses: true, ..self }
    }

    /// The same for a port with two queues. At a switch's the second holds up to seven eighths of
    /// the buffer.
    pub(crate) fn with_priority(self, priority: Priority) -> LinkClass {
        let class = LinkClass { priority, ..self };
        LinkClass { accept_within: self.accept_within.min(class.limit(false)), ..class }
    }

    /// The same for a port that cuts data to its header above a threshold, if one is given.
    pub(crate) fn trimming(self, trim_above: Option<Bytes>) -> LinkClass {
        let trim_time = trim_above.map_or(Time::NEVER, |bytes| self.limit_time(bytes));
        let accept_within = self.accept_within.min(trim_time);
        LinkClass { trim_above, trim_time, accept_within, ..self }
    }

    /// The same at another rate and delay.
    pub(super) fn with_rate(&self, rate: Rate, delay: Time) -> LinkClass {
        let class = LinkClass::new(rate, delay, self.limits).limits_at(self.limits_at);
        let class = if self.is_managed { class.managed() } else { class };
        class.with_priority(self.priority).trimming(self.trim_above)
    }

    /// True if data is cut to its header behind which data of this transmission time would wait,
    /// its own included.
    pub(super) fn trims(&self, data: Time) -> bool {
        data > self.trim_time
    }

    /// True if some packets go before others.
    #[inline]
    pub(crate) fn has_two_queues(&self) -> bool {
        self.priority != Priority::None
    }

    /// Time within which the transmission of a packet that is accepted ends, where its port has a
    /// buffer of its own.
    pub(crate) fn limit(&self, is_first: bool) -> Time {
        match self.priority {
            Priority::FirstBytes if !is_first => {
                self.buffer_time - Time(self.buffer_time.0 / RESERVED)
            }
            _ => self.buffer_time,
        }
    }

    /// True if a shared buffer or RED looks at a packet. Where control packets go first, RED has
    /// nothing to mark among them.
    pub(super) fn manages(&self, is_first: bool) -> bool {
        self.is_managed && !(is_first && self.priority == Priority::ControlFirst)
    }

    /// The same for a switch's port under a shared buffer or RED.
    pub(crate) fn managed(self) -> LinkClass {
        LinkClass { is_managed: true, accept_within: Time::ZERO, ..self }
    }

    /// Time to send `bytes`.
    #[inline]
    pub(crate) fn time_for(&self, bytes: u32) -> Time {
        Time((u64::from(bytes) * self.byte_time + 255) >> 8)
    }

    /// Bytes that a busy link sends in the estimator's time constant.
    pub(crate) fn bytes_in_tau(&self, shift: DreShift) -> u64 {
        self.rate.bytes_in(Time::nanos(shift.tau())).0
    }
}

/// A port. Its packets form a list, from the one that arrives next to the one queued last; those
/// from `next_to_start` on may not have started transmission.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub(crate) struct Port {
    /// End of transmission of the last accepted packet.
    pub(crate) busy_until: Time,
    /// Start of the transmission of `next_to_start`, if there is one, past or future; those behind
    /// it follow without a gap.
    pub(crate) next_start: Time,
    /// Bytes accepted: sent or waiting.
    pub(crate) accepted_bytes: u64,
    pub(crate) head: u32,
    pub(crate) tail: u32,
    /// First packet not known to have started transmission.
    pub(crate) next_to_start: u32,
    /// Number of packets from `next_to_start` on.
    pub(crate) waiting: u32,
    /// The node at the far end.
    pub(crate) to: u32,
    pub(crate) class: u16,
    pub(crate) up: bool,
    /// True if it is up and loses nothing: packets need no further look.
    pub(crate) is_clean: bool,
    pub(crate) dre: Dre,
}

const _: () = assert!(size_of::<Port>() == 64);

impl Port {
    pub(crate) fn new(to: u32, class: u16) -> Port {
        Port {
            busy_until: Time::ZERO,
            next_start: Time::ZERO,
            accepted_bytes: 0,
            head: NIL,
            tail: NIL,
            next_to_start: NIL,
            waiting: 0,
            to,
            class,
            up: true,
            is_clean: true,
            dre: Dre::default(),
        }
    }

    /// Takes it down or up; `is_lossy` if it is impaired.
    pub(crate) fn set_up(&mut self, up: bool, is_lossy: bool) {
        (self.up, self.is_clean) = (up, up && !is_lossy);
    }

    /// Queue length in bytes at `now`, the rest of the packet in transmission included.
    pub(crate) fn backlog(&self, class: &LinkClass, now: Time) -> Bytes {
        class.rate.bytes_in(self.busy_until.saturating_sub(now))
    }
}
