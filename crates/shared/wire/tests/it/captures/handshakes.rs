//! Tokens and HMACs of the captured handshakes, from the captured keys and nonces.

use std::collections::BTreeMap;
use std::net::IpAddr;

use heddle_wire::key::add_addr_hmac;
use heddle_wire::mptcp::{AddAddr, AddAddrForm, CapableKeys, MpCapable, MpJoin, MptcpOption};
use heddle_wire::{Key, TcpFrame, Version};

use crate::captures::capture::{CAPTURES, frames, options};

/// State of an observer of one connection: A opened it, B accepted it.
#[derive(Default)]
struct Observer {
    version: Version,
    a: Option<(IpAddr, Key)>,
    b: Option<(IpAddr, Key)>,
    /// Nonces of the subflows that A opened, by A's port.
    nonces: BTreeMap<u16, (u32, u32)>,
    proved: Proved,
}

/// Numbers of verified values.
#[derive(Debug, Default, PartialEq, Eq)]
struct Proved {
    tokens: usize,
    syn_acks: usize,
    acks: usize,
    add_addrs: usize,
}

impl Observer {
    fn see(&mut self, frame: &TcpFrame<'_>, option: &MptcpOption) {
        match option {
            MptcpOption::Capable(capable) => self.learn_keys(frame, capable),
            MptcpOption::Join(join) => self.check_join(frame, join),
            MptcpOption::AddAddr(add) => self.check_add_addr(frame, add),
            _ => {}
        }
    }

    fn learn_keys(&mut self, frame: &TcpFrame<'_>, MpCapable { version, keys, .. }: &MpCapable) {
        self.version = *version;
        let (source, destination) = (frame.ip.source, frame.ip.destination);
        match *keys {
            CapableKeys::None => {}
            CapableKeys::Sender(key) if frame.tcp.flags.0 == 0x12 => self.b = Some((source, key)),
            CapableKeys::Sender(key) => self.a = Some((source, key)),
            CapableKeys::Both { sender, receiver }
            | CapableKeys::WithData { sender, receiver, .. } => {
                self.a = Some((source, sender));
                assert_eq!(self.b, Some((destination, receiver)));
            }
        }
    }

    fn check_join(&mut self, frame: &TcpFrame<'_>, join: &MpJoin) {
        let ((_, a), (_, b)) = (self.a.unwrap(), self.b.unwrap());
        match *join {
            MpJoin::Syn { token, nonce, .. } => {
                assert_eq!(self.version.token(b), token);
                self.nonces.insert(frame.tcp.source_port, (nonce, 0));
                self.proved.tokens += 1;
            }
            MpJoin::SynAck { hmac, nonce: nonce_b, .. } => {
                let nonces = self.nonces.get_mut(&frame.tcp.destination_port).unwrap();
                nonces.1 = nonce_b;
                assert_eq!(self.version.join_hmac(b, a, nonce_b, nonces.0).syn_ack(), hmac);
                self.proved.syn_acks += 1;
            }
            MpJoin::Ack { hmac } => {
                let (nonce_a, nonce_b) = self.nonces[&frame.tcp.source_port];
                assert_eq!(self.version.join_hmac(a, b, nonce_a, nonce_b).ack(), hmac);
                self.proved.acks += 1;
            }
        }
    }

    fn check_add_addr(&mut self, frame: &TcpFrame<'_>, add: &AddAddr) {
        let ((address_of_a, a), (_, b)) = (self.a.unwrap(), self.b.unwrap());
        let from_a = frame.ip.source == address_of_a;
        let (sender, receiver) = if from_a { (a, b) } else { (b, a) };
        if let AddAddrForm::Hmac(hmac) = add.form {
            assert_eq!(add_addr_hmac(sender, receiver, add.id, add.address, add.port), hmac);
            self.proved.add_addrs += 1;
        }
    }
}

#[test]
fn tokens_and_hmacs_are_those_of_the_keys() {
    let proved = CAPTURES.map(|(name, capture)| {
        let mut observer = Observer::default();
        for frame in frames(capture) {
            for (_, option) in options(&frame.bytes) {
                observer.see(&TcpFrame::parse(&frame.bytes).unwrap(), &option);
            }
        }
        (name, observer.proved)
    });
    let expected =
        |joins, add_addrs| Proved { tokens: joins, syn_acks: joins, acks: joins, add_addrs };
    assert_eq!(
        proved,
        [
            ("ipv4", expected(2, 1)),
            ("ipv6", expected(2, 1)),
            ("refused", expected(1, 0)),
            ("handmade", expected(1, 4)),
        ]
    );
}
