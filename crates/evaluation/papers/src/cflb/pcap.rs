//! Traces from captures: pcap and pcapng files, whatever their byte order and resolution, of
//! Ethernet (with VLANs), raw IP, BSD's loopback and Linux's cooked captures.
//!
//! Frames that belong to no flow are left out and counted ([`Tally`]): those without IP, and those
//! too short or too broken to read. Packets without ports are flows too: 5-tuples with ports of 0.
//! So are fragments, the first one included, as in Linux: all fragments of a datagram then take one
//! path.
//!
//! Times are since the first packet; packets from before it are at 0. A file is read as it comes,
//! in constant memory but for the flows.

mod frame;

use std::fmt;
use std::io::Read;

use heddle_units::Time;
use pcap_parser::traits::PcapReaderIterator;
use pcap_parser::{Block, Linktype, PcapBlockOwned, PcapError, create_reader};
use serde::Serialize;

use super::flows::{Flows, Packet};
use frame::{Frame, Link};

/// Frames up to this length are read: more than any interface's and any pcapng block that describes
/// one.
const BUFFER: usize = 1 << 20;

/// A capture that cannot be read, or not further.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CaptureError {
    /// It does not begin as one.
    #[error("this is neither a pcap nor a pcapng file")]
    NotACapture,
    /// It is cut off within a frame.
    #[error("the capture ends in the middle of a frame, after {frames} frames")]
    Truncated {
        /// Frames before.
        frames: u64,
    },
    /// Its structure is broken, or a frame is larger than 1 MiB.
    #[error("the capture is damaged after {frames} frames")]
    Damaged {
        /// Frames before.
        frames: u64,
    },
    /// The file could not be read.
    #[error("the capture could not be read any further after {frames} frames")]
    Unreadable {
        /// Frames before.
        frames: u64,
    },
    /// It was taken at another kind of link.
    #[error(
        "captures of link type {0} are not read: Ethernet, raw IP, loopback and Linux's cooked captures are"
    )]
    Link(i32),
}

/// Contents of a capture.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Tally {
    /// All frames.
    pub frames: u64,
    /// Packets that were read, with ports or without.
    pub packets: u64,
    /// Of these, fragments: without ports.
    pub fragments: u64,
    /// Of these, packets of a protocol without ports, or cut off before them.
    pub portless: u64,
    /// Frames that were left out because they carry no IP.
    pub not_ip: u64,
    /// Frames that were left out because their IP header is cut off or broken.
    pub broken: u64,
    /// Frames that were left out because the file has no time stamp (pcapng's simple packets) or no
    /// interface for them.
    pub untimed: u64,
}

impl fmt::Display for Tally {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Tally { frames, packets, fragments, portless, not_ip, broken, untimed } = self;
        write!(to, "{packets} packets of {frames} frames")?;
        write!(to, " ({fragments} fragments and {portless} others without ports)")?;
        write!(to, "; left out: {not_ip} without IP, {broken} broken, {untimed} without time")
    }
}

/// Link type and time stamps of an interface.
#[derive(Clone, Copy, Debug)]
struct Interface {
    link: Link,
    /// Ticks of its clock in a second, at least 1.
    ticks: u64,
    /// Seconds that its times lack.
    offset: i64,
}

impl Interface {
    /// Since the epoch.
    fn picoseconds(&self, ticks: u64) -> i128 {
        let whole = i128::from(ticks) * 1_000_000_000_000 / i128::from(self.ticks);
        whole + i128::from(self.offset) * 1_000_000_000_000
    }
}

/// A capture as a trace: packets, then `None`; or an error, and then `None`.
pub struct Capture<'a> {
    reader: Box<dyn PcapReaderIterator + Send + 'a>,
    contents: Contents,
    is_over: bool,
}

/// State of reading a capture.
#[derive(Debug, Default)]
struct Contents {
    interfaces: Vec<Interface>,
    /// The first packet's time in picoseconds since the epoch.
    began: Option<i128>,
    flows: Flows,
    tally: Tally,
}

impl<'a> Capture<'a> {
    /// Begins to read.
    ///
    /// # Errors
    /// [`CaptureError::NotACapture`], or [`CaptureError::Unreadable`].
    pub fn new(file: impl Read + Send + 'a) -> Result<Capture<'a>, CaptureError> {
        let reader = create_reader(BUFFER, file).map_err(|error| match error {
            PcapError::ReadError => CaptureError::Unreadable { frames: 0 },
            _ => CaptureError::NotACapture,
        })?;
        Ok(Capture { reader, contents: Contents::default(), is_over: false })
    }

    /// Contents so far.
    pub fn tally(&self) -> Tally {
        self.contents.tally
    }

    /// One block: a packet, if it holds one.
    fn step(&mut self) -> Result<Step, CaptureError> {
        let frames = self.contents.tally.frames;
        match self.reader.next() {
            Ok((length, block)) => {
                let packet = self.contents.read(&block)?;
                self.reader.consume(length);
                Ok(packet.map_or(Step::Nothing, Step::Packet))
            }
            Err(PcapError::Eof) => Ok(Step::End),
            Err(PcapError::Incomplete(_)) => self.refill(),
            Err(PcapError::UnexpectedEof) => Err(CaptureError::Truncated { frames }),
            Err(_) => Err(CaptureError::Damaged { frames }),
        }
    }

    /// More of the file; an error if there is no room for it, as with a frame that is said to be
    /// larger than the buffer.
    fn refill(&mut self) -> Result<Step, CaptureError> {
        let frames = self.contents.tally.frames;
        let had = self.reader.data().len();
        self.reader.refill().map_err(|_| CaptureError::Unreadable { frames })?;
        if self.reader.data().len() == had && !self.reader.reader_exhausted() {
            return Err(CaptureError::Damaged { frames });
        }
        Ok(Step::Nothing)
    }
}

enum Step {
    Packet(Packet),
    Nothing,
    End,
}

impl Iterator for Capture<'_> {
    type Item = Result<Packet, CaptureError>;

    fn next(&mut self) -> Option<Result<Packet, CaptureError>> {
        while !self.is_over {
            match self.step() {
                Ok(Step::Packet(packet)) => return Some(Ok(packet)),
                Ok(Step::Nothing) => {}
                Ok(Step::End) => self.is_over = true,
                Err(error) => {
                    self.is_over = true;
                    return Some(Err(error));
                }
            }
        }
        None
    }
}

impl Contents {
    fn read(&mut self, block: &PcapBlockOwned) -> Result<Option<Packet>, CaptureError> {
        match block {
            PcapBlockOwned::LegacyHeader(header) => {
                let ticks =
                    if header.is_nanosecond_precision() { 1_000_000_000 } else { 1_000_000 };
                self.meet(header.network, ticks, 0)?;
            }
            PcapBlockOwned::Legacy(frame) => {
                let (seconds, part) = (u64::from(frame.ts_sec), u64::from(frame.ts_usec));
                let clock = |ticks: u64| seconds.saturating_mul(ticks).saturating_add(part);
                return Ok(self.frame(0, clock, frame.data));
            }
            PcapBlockOwned::NG(Block::SectionHeader(_)) => self.interfaces.clear(),
            PcapBlockOwned::NG(Block::InterfaceDescription(interface)) => {
                let ticks = interface.ts_resolution().unwrap_or(1_000_000);
                self.meet(interface.linktype, ticks, interface.ts_offset())?;
            }
            PcapBlockOwned::NG(Block::EnhancedPacket(frame)) => {
                let time = u64::from(frame.ts_high) << 32 | u64::from(frame.ts_low);
                let data = frame.data.get(..frame.caplen as usize).unwrap_or(frame.data);
                return Ok(self.frame(frame.if_id as usize, |_| time, data));
            }
            PcapBlockOwned::NG(Block::SimplePacket(_)) => {
                self.tally.frames += 1;
                self.tally.untimed += 1;
            }
            PcapBlockOwned::NG(_) => {}
        }
        Ok(None)
    }

    fn meet(&mut self, link: Linktype, ticks: u64, offset: i64) -> Result<(), CaptureError> {
        let link = Link::of(link).ok_or(CaptureError::Link(link.0))?;
        self.interfaces.push(Interface { link, ticks: ticks.max(1), offset });
        Ok(())
    }

    /// A frame of an interface; `clock` gives its time in ticks, given how many are in a second.
    fn frame(
        &mut self,
        interface: usize,
        clock: impl Fn(u64) -> u64,
        data: &[u8],
    ) -> Option<Packet> {
        self.tally.frames += 1;
        let Some(&interface) = self.interfaces.get(interface) else {
            self.tally.untimed += 1;
            return None;
        };
        let fields = match frame::read(interface.link, data) {
            Frame::Packet(fields) => fields,
            Frame::Fragment(fields) => {
                self.tally.fragments += 1;
                fields
            }
            Frame::Portless(fields) => {
                self.tally.portless += 1;
                fields
            }
            Frame::NotIp => {
                self.tally.not_ip += 1;
                return None;
            }
            Frame::Broken => {
                self.tally.broken += 1;
                return None;
            }
        };
        self.tally.packets += 1;
        let at = self.since_the_first(interface.picoseconds(clock(interface.ticks)));
        Some(Packet { at, flow: self.flows.number(&fields), fields })
    }

    fn since_the_first(&mut self, picoseconds: i128) -> Time {
        let began = *self.began.get_or_insert(picoseconds);
        let since = picoseconds.saturating_sub(began).max(0);
        Time(u64::try_from(since).unwrap_or(u64::MAX))
    }
}

#[cfg(test)]
mod tests;
