//! Chakra's files, written by the specification of protobuf's wire format.

use heddle_scenario::InputFile;

/// A number of 7 bits a byte.
fn varint(mut number: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    while number > 0x7f {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
    bytes
}

/// A field that is a number.
pub(super) fn number(field: u64, value: u64) -> Vec<u8> {
    [varint(field << 3), varint(value)].concat()
}

/// A field that is a text, a message or packed numbers.
pub(super) fn bytes(field: u64, value: &[u8]) -> Vec<u8> {
    [varint(field << 3 | 2), varint(value.len() as u64), value.to_vec()].concat()
}

/// An attribute with a value.
pub(super) fn attribute(name: &str, value: &[u8]) -> Vec<u8> {
    bytes(10, &[bytes(1, name.as_bytes()), value.to_vec()].concat())
}

/// An attribute that is an `int64`.
pub(super) fn int64(name: &str, value: i64) -> Vec<u8> {
    attribute(name, &number(9, value as u64))
}

pub(super) const COMPUTATION: u64 = 4;
pub(super) const SEND: u64 = 5;
pub(super) const RECEIVE: u64 = 6;
pub(super) const COLLECTIVE: u64 = 7;

/// A node that waits for others by data.
pub(super) fn node(id: u64, name: &str, kind: u64, after: &[u64], rest: &[Vec<u8>]) -> Vec<u8> {
    let after: Vec<u8> = after.iter().flat_map(|&before| number(5, before)).collect();
    [number(1, id), bytes(2, name.as_bytes()), number(3, kind), after, rest.concat()].concat()
}

/// `duration_micros`.
pub(super) fn micros(duration: u64) -> Vec<u8> {
    number(7, duration)
}

/// A send or a receive: the attribute of the other end, its rank, a tag and bytes.
pub(super) fn message(peer: &str, rank: i64, tag: i64, size: i64) -> Vec<Vec<u8>> {
    vec![int64(peer, rank), int64("comm_tag", tag), int64("comm_size", size)]
}

/// A collective operation: its `comm_type` and bytes.
pub(super) fn collective(operation: i64, size: i64) -> Vec<Vec<u8>> {
    vec![int64("comm_type", operation), int64("comm_size", size)]
}

/// The file of a rank: a version, then the nodes.
pub(super) fn file(rank: usize, nodes: &[Vec<u8>]) -> InputFile {
    let version = bytes(1, b"0.0.4");
    let messages = std::iter::once(&version).chain(nodes);
    let bytes = messages.flat_map(|message| [varint(message.len() as u64), message.clone()]);
    InputFile { name: format!("step.{rank}.et"), bytes: bytes.flatten().collect() }
}

/// Two ranks: the first computes for 5 us and sends 1000 bytes, the second computes for 3 us behind
/// them; then both add up 4000 bytes.
pub(super) fn two_ranks() -> Vec<InputFile> {
    vec![
        file(
            0,
            &[
                node(1, "forward", COMPUTATION, &[], &[micros(5)]),
                node(2, "send", SEND, &[1], &message("comm_dst", 1, 7, 1000)),
                node(3, "reduce", COLLECTIVE, &[2], &collective(0, 4000)),
            ],
        ),
        file(
            1,
            &[
                node(1, "recv", RECEIVE, &[], &message("comm_src", 0, 7, 1000)),
                node(2, "backward", COMPUTATION, &[1], &[micros(3)]),
                node(3, "reduce", COLLECTIVE, &[2], &collective(0, 4000)),
            ],
        ),
    ]
}
