//! Formats against the RFCs' figures.

use super::*;

/// RFC 6824 and RFC 8684, figure "MP_JOIN Option (for Initial SYN)".
#[test]
fn join_syn() {
    let bytes = [30, 12, 0x11, 7, 0xaa, 0xbb, 0xcc, 0xdd, 1, 2, 3, 4];
    let option = MptcpOption::Join(MpJoin::Syn {
        backup: true,
        address: 7,
        token: crate::Token(0xaabb_ccdd),
        nonce: 0x0102_0304,
    });
    assert_eq!(MptcpOption::parse(&bytes), Ok(option));
    let mut out = [0; 12];
    assert_eq!(option.emit(&mut out), Ok(12));
    assert_eq!(out, bytes);
}
