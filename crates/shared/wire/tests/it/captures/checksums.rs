//! Data checksums of a captured connection, which tshark does not show: they match the data.

use heddle_wire::mptcp::{CapableKeys, DataSeq, Mapping, MptcpOption};
use heddle_wire::{TcpFrame, Version};

use crate::captures::capture::{CAPTURES, frames, options};

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

/// A mapping's numbers and its checksum, if it has one.
fn mapping(option: &MptcpOption) -> Option<(u64, u32, u16, u16)> {
    match option {
        MptcpOption::Dss(dss) => {
            let Mapping { data_seq, subflow_seq, len, checksum } = dss.mapping?;
            match data_seq {
                DataSeq::Long(data_seq) => Some((data_seq, subflow_seq, len, checksum?)),
                DataSeq::Short(_) => None,
            }
        }
        // The connection's first byte: one past the initial data sequence number.
        MptcpOption::Capable(capable) => match capable.keys {
            CapableKeys::WithData { sender, len, checksum, .. } => {
                Some((Version::V1.initial_data_seq(sender) + 1, 1, len, checksum?))
            }
            _ => None,
        },
        _ => None,
    }
}

#[test]
fn data_and_checksum_sum_to_all_ones() {
    let (_, capture) = CAPTURES[1];
    let mut checked = 0;
    for frame in frames(capture) {
        let data = TcpFrame::parse(&frame.bytes).unwrap().tcp.payload;
        for (_, option) in options(&frame.bytes) {
            let Some((data_seq, subflow_seq, len, checksum)) = mapping(&option) else { continue };
            let sum = sum(data_seq, subflow_seq, len, checksum, data);
            assert_eq!(sum, 0xffff, "frame {}: {option:?}", frame.number);
            checked += 1;
        }
    }
    assert_eq!(checked, 12, "11 DSS options of 28 bytes and an MP_CAPABLE of 24");
}
