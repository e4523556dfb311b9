//! Writer of capture files: pcap with times in nanoseconds, of Ethernet frames
//! (draft-ietf-opsawg-pcap, sections 4 and 5).
//!
//! Frames have their headers only, as of a capture with a short snapshot length.

use std::io::{self, Write};

use heddle_units::Time;

/// Marks a file with times in nanoseconds.
const MAGIC: u32 = 0xa1b2_3c4d;

/// Version of the format: 2.4.
const VERSION: [u16; 2] = [2, 4];

/// Longest frame kept.
const SNAPSHOT_BYTES: u32 = 262_144;

/// LINKTYPE_ETHERNET.
const ETHERNET: u32 = 1;

/// A capture that is being written.
#[derive(Debug)]
pub struct PcapWriter<W: Write> {
    out: W,
}

impl<W: Write> PcapWriter<W> {
    /// A capture without frames.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn new(mut out: W) -> io::Result<PcapWriter<W>> {
        out.write_all(&MAGIC.to_le_bytes())?;
        for number in VERSION {
            out.write_all(&number.to_le_bytes())?;
        }
        // Two reserved fields.
        out.write_all(&[0; 8])?;
        out.write_all(&SNAPSHOT_BYTES.to_le_bytes())?;
        out.write_all(&ETHERNET.to_le_bytes())?;
        Ok(PcapWriter { out })
    }

    /// Appends a frame of `wire_len` bytes, of which `bytes` are kept.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn frame(&mut self, at: Time, bytes: &[u8], wire_len: usize) -> io::Result<()> {
        let nanos = at.as_nanos();
        let (seconds, rest) = (nanos / 1_000_000_000, nanos % 1_000_000_000);
        for number in [seconds as u32, rest as u32, bytes.len() as u32, wire_len as u32] {
            self.out.write_all(&number.to_le_bytes())?;
        }
        self.out.write_all(bytes)
    }

    /// Writes what is buffered.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn finish(mut self) -> io::Result<()> {
        self.out.flush()
    }
}

#[cfg(test)]
mod tests {
    use pcap_parser::{PcapBlockOwned, create_reader};

    use super::*;

    /// Read back by a parser of others.
    #[test]
    fn a_capture_is_read_back() {
        let mut bytes = Vec::new();
        let mut pcap = PcapWriter::new(&mut bytes).unwrap();
        let at = Time::secs(3) + Time::nanos(7);
        pcap.frame(at, &[1, 2, 3], 1500).unwrap();
        pcap.frame(at + Time::secs(1), &[4; 60], 60).unwrap();
        pcap.finish().unwrap();
        let mut reader = create_reader(4096, &bytes[..]).unwrap();
        let mut frames = Vec::new();
        while let Ok((len, block)) = reader.next() {
            match block {
                PcapBlockOwned::LegacyHeader(header) => {
                    assert!(header.is_nanosecond_precision());
                    assert_eq!((header.version_major, header.version_minor), (2, 4));
                    assert_eq!(header.network, pcap_parser::Linktype::ETHERNET);
                }
                PcapBlockOwned::Legacy(frame) => {
                    let times = (frame.ts_sec, frame.ts_usec);
                    frames.push((times, frame.origlen, frame.data.to_vec()));
                }
                PcapBlockOwned::NG(_) => panic!("this is no pcapng"),
            }
            reader.consume(len);
        }
        assert_eq!(frames, [((3, 7), 1500, vec![1, 2, 3]), ((4, 7), 60, vec![4; 60])]);
    }
}
