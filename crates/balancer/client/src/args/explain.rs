//! `explain`: a packet described by options.

use std::net::SocketAddr;

use clap::{ArgGroup, Args};
use heddled::admin::{MptcpOption, Packet, QuicPacket};
use heddled::service::Protocol;

use super::number;

const SYN: u8 = 2;
const ACK: u8 = 16;

#[derive(Args, Debug)]
#[command(
    group = ArgGroup::new("segment").args(["syn", "ack", "flags", "udp"]),
    group = ArgGroup::new("option").args(["capable", "keys", "join"]),
    group = ArgGroup::new("tcp").args(["syn", "ack", "flags", "capable", "keys", "join"]).multiple(true),
    after_help = "\
Examples, from the first packet of an MPTCP connection to its second subflow:
  heddle lb explain --from 198.51.100.7:4000 --to 192.0.2.10:443 --capable
  heddle lb explain --from 198.51.100.7:4000 --to 192.0.2.10:443 --keys 1122334455667788,99aabbcc
  heddle lb explain --from 203.0.113.9:4001 --to 192.0.2.10:443 --join 0x1c2d3e4f
And others:
  heddle lb explain --from 198.51.100.7:4000 --to 192.0.2.10:443            a plain SYN
  heddle lb explain --from 198.51.100.7:4000 --to 192.0.2.10:443 --ack --payload 1400
  heddle lb explain --from [2001:db8::7]:4000 --to [2001:db8::10]:443 --udp
  heddle lb explain --from 198.51.100.7:4000 --to 192.0.2.10:443 --quic 0700a145c04cc4f0

The running program decides, on its own tables, as it would for a packet that arrives now."
)]
pub(crate) struct Explain {
    /// The client's address and port.
    #[arg(long, value_name = "ADDRESS:PORT", value_parser = place)]
    pub(crate) from: SocketAddr,
    /// The service's address and port.
    #[arg(long, value_name = "ADDRESS:PORT", value_parser = place)]
    pub(crate) to: SocketAddr,
    /// UDP instead of TCP.
    #[arg(long, conflicts_with = "option")]
    udp: bool,
    /// TCP: SYN alone, as for a new connection (the default; with --keys it is --ack).
    #[arg(long)]
    syn: bool,
    /// TCP: ACK alone, as in the middle of a connection.
    #[arg(long)]
    ack: bool,
    /// TCP: these flags, by their first letters, as in FA or SA; - for none.
    #[arg(long, value_name = "LETTERS", value_parser = flags)]
    flags: Option<u8>,
    /// MP_CAPABLE without keys: a SYN that opens an MPTCP connection.
    #[arg(long)]
    capable: bool,
    /// MP_CAPABLE with the client's and the server's key, in hexadecimal: the third packet or the
    /// first data.
    #[arg(long, value_name = "CLIENT,SERVER", value_parser = keys)]
    keys: Option<MptcpOption>,
    /// MP_JOIN: a SYN that joins the connection that the backend knows by this token, in
    /// hexadecimal.
    #[arg(long, value_name = "TOKEN", value_parser = token)]
    join: Option<u32>,
    /// UDP: a packet of an established QUIC connection, whose destination connection id begins with
    /// these bytes, in hexadecimal.
    #[arg(long, value_name = "ID", conflicts_with_all = ["tcp", "quic_initial"], value_parser = connection_id)]
    quic: Option<String>,
    /// UDP: an Initial of QUIC, with this destination connection id.
    #[arg(long, value_name = "ID", conflicts_with = "tcp", value_parser = connection_id)]
    quic_initial: Option<String>,
    /// Bytes of data behind the header; of QUIC packets, their length, if it is not the least that
    /// they have.
    #[arg(long, value_name = "BYTES", default_value_t = 0, value_parser = number(0..=u16::MAX))]
    payload: u16,
}

impl Explain {
    /// The packet of the request.
    pub(crate) fn packet(&self) -> Packet {
        let capable = self.capable.then_some(MptcpOption::Capable);
        let join = self.join.map(|token| MptcpOption::Join { token });
        let short = self.quic.clone().map(|connection_id| QuicPacket::Short { connection_id });
        let initial = self.quic_initial.clone();
        let initial = initial.map(|connection_id| QuicPacket::Initial { connection_id });
        Packet {
            source: self.from,
            destination: self.to,
            quic: short.or(initial),
            protocol: if self.is_udp() { Protocol::Udp } else { Protocol::Tcp },
            flags: self.tcp_flags(),
            mptcp: capable.or(self.keys).or(join),
            payload: self.payload,
        }
    }

    fn is_udp(&self) -> bool {
        self.udp || self.quic.is_some() || self.quic_initial.is_some()
    }

    fn tcp_flags(&self) -> u8 {
        match self.flags {
            Some(flags) => flags,
            None if self.is_udp() => 0,
            None if self.ack || (self.keys.is_some() && !self.syn) => ACK,
            None => SYN,
        }
    }
}

/// `198.51.100.7:4000` or `[2001:db8::7]:4000`.
fn place(text: &str) -> Result<SocketAddr, String> {
    text.parse().map_err(|_| match text.parse() {
        Ok(address) => {
            let with_port = SocketAddr::new(address, 4000);
            format!("the port is missing, as in {with_port}")
        }
        Err(_) => {
            "write an address and a port, as in 198.51.100.7:4000 or [2001:db8::7]:4000".into()
        }
    })
}

/// `FA`: FIN and ACK.
fn flags(text: &str) -> Result<u8, String> {
    let bit = |letter: char| match letter.to_ascii_uppercase() {
        'F' => Ok(1),
        'S' => Ok(SYN),
        'R' => Ok(4),
        'P' => Ok(8),
        'A' => Ok(ACK),
        '-' => Ok(0),
        _ => Err(format!("{letter} is no flag: write some of F, S, R, P and A, as in FA")),
    };
    text.chars().try_fold(0, |flags, letter| Ok(flags | bit(letter)?))
}

/// 32 bits in hexadecimal, with 0x or without.
pub(crate) fn token(text: &str) -> Result<u32, String> {
    u32::from_str_radix(digits(text), 16)
        .map_err(|_| "write up to 8 hexadecimal digits, as in 0x1c2d3e4f".to_owned())
}

fn keys(text: &str) -> Result<MptcpOption, String> {
    let wrong =
        || "write two keys of up to 16 hexadecimal digits, as in 1122334455667788,99aabbccddeeff00";
    let (sender, receiver) = text.split_once(',').ok_or_else(wrong)?;
    let key = |text| u64::from_str_radix(digits(text), 16).map_err(|_| wrong());
    Ok(MptcpOption::Keys { sender: key(sender)?, receiver: key(receiver)? })
}

fn connection_id(text: &str) -> Result<String, String> {
    let digits = digits(text);
    match heddled::hex::bytes(digits) {
        Some(id) if id.len() <= 20 => Ok(digits.to_owned()),
        _ => Err("write up to 20 bytes in hexadecimal, as in 07c4605e4504cc4f".into()),
    }
}

fn digits(text: &str) -> &str {
    let text = text.trim();
    text.strip_prefix("0x").unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::*;
    use crate::args::{Cli, Command};

    fn packet(words: &str) -> Result<Packet, String> {
        let line =
            format!("heddle-lb explain --from 198.51.100.7:4000 --to 192.0.2.10:443 {words}");
        let cli =
            Cli::try_parse_from(line.split_whitespace()).map_err(|error| error.to_string())?;
        match cli.command {
            Command::Explain(args) => Ok(args.packet()),
            other => Err(format!("{other:?}")),
        }
    }

    #[test]
    fn a_place_without_a_port_is_told_so() {
        assert_eq!(place("10.0.0.5").unwrap_err(), "the port is missing, as in 10.0.0.5:4000");
        assert!(place("fd00::5").unwrap_err().ends_with("as in [fd00::5]:4000"));
        assert!(place("be1:80").unwrap_err().starts_with("write an address and a port"));
    }

    #[test]
    fn options_imply_flags() {
        let flags = |words: &str| packet(words).map(|packet| packet.flags);
        for (words, wanted) in [
            ("", SYN),
            ("--ack", ACK),
            ("--capable", SYN),
            ("--join 1c2d3e4f", SYN),
            ("--keys 1,2", ACK),
            ("--keys 1,2 --flags PA", 24),
            ("--flags fa", 17),
            ("--flags=-", 0),
            ("--udp", 0),
            ("--quic 0700a1", 0),
        ] {
            assert_eq!(flags(words), Ok(wanted), "{words}");
        }
    }

    #[test]
    fn tokens_and_keys_are_hexadecimal() {
        let option = |words: &str| packet(words).unwrap().mptcp;
        assert_eq!(option("--join 0x1c2d3e4f"), Some(MptcpOption::Join { token: 0x1c2d_3e4f }));
        assert_eq!(option("--join 10"), Some(MptcpOption::Join { token: 16 }));
        assert_eq!(option("--keys a,0xb"), Some(MptcpOption::Keys { sender: 10, receiver: 11 }));
        for wrong in ["--join 1c2d3e4f5", "--join x", "--keys 1", "--keys 1,x", "--flags X"] {
            assert!(packet(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn connection_ids_are_of_udp_and_hexadecimal() {
        let quic = |words: &str| {
            let packet = packet(words).unwrap();
            assert_eq!(packet.protocol, Protocol::Udp);
            packet.quic.unwrap()
        };
        let connection_id = || "07c4".to_owned();
        let short = QuicPacket::Short { connection_id: connection_id() };
        assert_eq!(quic("--quic 0x07c4"), short);
        assert_eq!(quic("--udp --quic 07c4"), short);
        let initial = QuicPacket::Initial { connection_id: connection_id() };
        assert_eq!(quic("--quic-initial 07c4"), initial);
        let long = format!("--quic {}", "00".repeat(21));
        for wrong in ["--quic 07c", "--quic x", &long, "--quic 07 --syn", "--quic 07 --join 1"] {
            assert!(packet(wrong).is_err(), "{wrong}");
        }
        assert!(packet("--quic 07 --quic-initial 07").is_err());
    }

    #[test]
    fn one_kind_of_packet_at_a_time() {
        for wrong in ["--udp --join 1", "--syn --ack", "--capable --join 1", "--udp --syn"] {
            assert!(packet(wrong).unwrap_err().contains("cannot be used with"), "{wrong}");
        }
    }
}
