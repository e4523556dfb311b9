//! The Toeplitz hash of receive-side scaling (Microsoft, "RSS Hashing Functions").

/// The key of Microsoft's verification suite.
pub const MICROSOFT_KEY: [u8; 40] = [
    0x6d, 0x5a, 0x56, 0xda, 0x25, 0x5b, 0x0e, 0xc2, 0x41, 0x67, 0x25, 0x3d, 0x43, 0xa3, 0x8f, 0xb0,
    0xd0, 0xca, 0x2b, 0xcb, 0xae, 0x7b, 0x30, 0xb4, 0x77, 0xcb, 0x2d, 0xa3, 0x80, 0x30, 0xf2, 0x0c,
    0x6a, 0x42, 0xb7, 0x3b, 0xbe, 0xac, 0x01, 0xfa,
];

/// The exclusive or of the key's 32-bit windows at the input's bits that are 1. The key serves 36
/// bytes and starts over behind them.
#[inline]
pub fn toeplitz(key: &[u8; 40], input: &[u8]) -> u32 {
    let mut window = u32::from_be_bytes([key[0], key[1], key[2], key[3]]);
    let mut hash = 0;
    for (i, byte) in input.iter().enumerate() {
        let next = key[(i + 4) % key.len()];
        for bit in (0..8).rev() {
            hash ^= window & 0u32.wrapping_sub(u32::from(byte >> bit & 1));
            window = window << 1 | u32::from(next >> bit & 1);
        }
    }
    hash
}

#[cfg(test)]
mod tests {
    use std::net::{Ipv4Addr, Ipv6Addr};

    use super::*;

    fn hash(source: &[u8], destination: &[u8], ports: [u16; 2]) -> [u32; 2] {
        let addresses = [source, destination].concat();
        let ports = ports.map(u16::to_be_bytes).concat();
        let both = [&addresses[..], &ports].concat();
        [toeplitz(&MICROSOFT_KEY, &addresses), toeplitz(&MICROSOFT_KEY, &both)]
    }

    /// "Verifying the RSS Hash Calculation": source, destination, their ports; without and with
    /// ports.
    #[test]
    fn microsofts_ipv4_vectors() {
        for (source, destination, ports, expected) in [
            ("66.9.149.187", "161.142.100.80", [2794, 1766], [0x323e_8fc2, 0x51cc_c178]),
            ("199.92.111.2", "65.69.140.83", [14230, 4739], [0xd718_262a, 0xc626_b0ea]),
            ("24.19.198.95", "12.22.207.184", [12898, 38024], [0xd2d0_a5de, 0x5c2b_394a]),
            ("38.27.205.30", "209.142.163.6", [48228, 2217], [0x8298_9176, 0xafc7_327f]),
            ("153.39.163.191", "202.188.127.2", [44251, 1303], [0x5d18_09c5, 0x10e8_28a2]),
        ] {
            let [from, to] = [source, destination].map(|a| a.parse::<Ipv4Addr>().unwrap().octets());
            assert_eq!(hash(&from, &to, ports), expected, "{source}");
        }
    }

    #[test]
    fn microsofts_ipv6_vectors() {
        for (source, destination, ports, expected) in [
            (
                "3ffe:2501:200:1fff::7",
                "3ffe:2501:200:3::1",
                [2794, 1766],
                [0x2cc1_8cd5, 0x4020_7d3d],
            ),
            (
                "3ffe:501:8::260:97ff:fe40:efab",
                "ff02::1",
                [14230, 4739],
                [0x0f0c_461c, 0xdde5_1bbf],
            ),
            (
                "3ffe:1900:4545:3:200:f8ff:fe21:67cf",
                "fe80::200:f8ff:fe21:67cf",
                [44251, 38024],
                [0x4b61_e985, 0x02d1_feef],
            ),
        ] {
            let [from, to] = [source, destination].map(|a| a.parse::<Ipv6Addr>().unwrap().octets());
            assert_eq!(hash(&from, &to, ports), expected, "{source}");
        }
    }
}
