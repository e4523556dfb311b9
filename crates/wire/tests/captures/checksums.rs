//! The data checksums of a captured connection, which tshark does not show: read at the right place, they are right.

use heddle_wire::mptcp::{CapableKeys, DataSeq, Mapping, MptcpOption};
use heddle_wire::{TcpFrame, Version};

use crate::capture::{CAPTURES, frames, options};

/// RFC 8684 section 3.3.1: the Internet checksum over this pseudo-header and the data.
fn sum(data_seq: u64, subflow_seq: u32, len: u16, checksum: u16, data: &[u8]) -> u16 {
    let mut bytes = data_seq.to_be_bytes().to_vec();
    bytes.extend(subflow_seq.to_be_bytes());
    bytes.extend(len.to_be_bytes());
    bytes.extend(checksum.to_be_bytes());
    bytes.extend(data);
    let word = |pair: &[u8]| u32::from(pair[0]) << 8 | pair.get(1).map_or(0, |low| u32::from(*low));
    let total: u32 = bytes.chunks(2).map(word).sum();
    let folded = (total & 0xffff) + (total >> 16);
    u16::try_from((folded & 0xffff) + (folded >> 16)).unwrap()
}

#[test]
fn data_and_checksum_sum_to_all_ones() {
    let (_, text) = CAPTURES[1];
    let mut checked = 0;
    for frame in frames(text) {
        let data = TcpFrame::parse(&frame.bytes).unwrap().tcp.payload;
        for (_, option) in options(&frame.bytes) {
            let (data_seq, subflow_seq, len, checksum) = match option {
                MptcpOption::Dss(dss) => match dss.mapping {
                    Some(Mapping {
                        data_seq: DataSeq::Long(data_seq),
                        subflow_seq,
                        len,
                        checksum: Some(checksum),
                    }) => (data_seq, subflow_seq, len, checksum),
                    _ => continue,
                },
                MptcpOption::Capable(capable) => match capable.keys {
                    // The connection's first byte: one past the initial data sequence number.
                    CapableKeys::WithData { sender, len, checksum: Some(checksum), .. } => {
                        (Version::V1.initial_data_seq(sender) + 1, 1, len, checksum)
                    }
                    _ => continue,
                },
                _ => continue,
            };
            assert_eq!(sum(data_seq, subflow_seq, len, checksum, data), 0xffff, "{option:?}");
            checked += 1;
        }
    }
    assert!(checked >= 4, "{checked} checksums");
}
