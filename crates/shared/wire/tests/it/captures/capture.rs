//! Files of the test vectors.

use std::collections::BTreeMap;

use heddle_wire::{MptcpOption, TcpFrame, tcp};

/// Name and text of each.
pub const CAPTURES: [(&str, &str); 4] = [
    ("ipv4", include_str!("../../vectors/ipv4.txt")),
    ("ipv6", include_str!("../../vectors/ipv6.txt")),
    ("refused", include_str!("../../vectors/refused.txt")),
    ("handmade", include_str!("../../vectors/handmade.txt")),
];

/// A frame and tshark's fields, by name.
pub struct Frame {
    pub number: String,
    pub bytes: Vec<u8>,
    pub tshark: BTreeMap<String, String>,
}

pub fn frames(text: &str) -> impl Iterator<Item = Frame> {
    text.split("\n\n").filter(|block| !block.trim().is_empty()).map(frame)
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
