//! Files of the test vectors.

use std::collections::BTreeMap;
use std::io::Read as _;

use flate2::read::GzDecoder;
use heddle_wire::{MptcpOption, TcpFrame, tcp};

/// The name of each, and its text as gzip compresses it.
pub const CAPTURES: [(&str, &[u8]); 4] = [
    ("ipv4", include_bytes!("../../vectors/ipv4.txt.gz")),
    ("ipv6", include_bytes!("../../vectors/ipv6.txt.gz")),
    ("refused", include_bytes!("../../vectors/refused.txt.gz")),
    ("handmade", include_bytes!("../../vectors/handmade.txt.gz")),
];

/// A frame and tshark's fields, by name.
pub struct Frame {
    pub number: String,
    pub bytes: Vec<u8>,
    pub tshark: BTreeMap<String, String>,
}

pub fn frames(compressed: &[u8]) -> Vec<Frame> {
    let mut text = String::new();
    GzDecoder::new(compressed).read_to_string(&mut text).unwrap();
    text.split("\n\n").filter(|block| !block.trim().is_empty()).map(frame).collect()
}

fn frame(block: &str) -> Frame {
    let mut lines = block.trim().lines().map(|line| line.split_once(' ').unwrap());
    let (_, number) = lines.next().unwrap();
    let (_, hex) = lines.next().unwrap();
    let tshark = lines.map(|(field, value)| (field.to_owned(), value.to_owned())).collect();
    Frame { number: number.to_owned(), bytes: from_hex(hex), tshark }
}

fn from_hex(text: &str) -> Vec<u8> {
    let byte = |at| u8::from_str_radix(&text[at..at + 2], 16).unwrap();
    (0..text.len()).step_by(2).map(byte).collect()
}

/// The MPTCP options of a frame, each with its bytes.
pub fn options(frame: &[u8]) -> Vec<(&[u8], MptcpOption)> {
    let tcp = TcpFrame::parse(frame).unwrap().tcp;
    tcp::options(tcp.options)
        .filter(|option| option.kind == tcp::MPTCP)
        .map(|option| (option.bytes, MptcpOption::parse(option.bytes).unwrap()))
        .collect()
}
