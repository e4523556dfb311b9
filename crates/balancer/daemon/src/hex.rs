//! Bytes in hexadecimal, as people write them.

use std::fmt::Write as _;

/// The bytes of pairs of hexadecimal digits; `None` if it is anything else.
pub fn bytes(text: &str) -> Option<Vec<u8>> {
    let digit = |byte: &u8| char::from(*byte).to_digit(16);
    let pair = |pair: &[u8]| Some((digit(pair.first()?)? << 4 | digit(pair.get(1)?)?) as u8);
    text.as_bytes().chunks(2).map(pair).collect()
}

/// Two digits for each byte.
pub fn text(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        assert_eq!(bytes("00aAff"), Some(vec![0, 0xaa, 0xff]));
        assert_eq!(text(&[0, 0xaa, 0xff]), "00aaff");
        assert_eq!(bytes(""), Some(Vec::new()));
        for wrong in ["0", "0x00", "00a", "0g", " 00", "\u{e4}"] {
            assert_eq!(bytes(wrong), None, "{wrong}");
        }
    }
}
