//! A frame's fields under tshark's names and in its notation, from what the crate reads.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::net::IpAddr;

use heddle_wire::mptcp::{
    AddAddr, AddAddrForm, CapableFlags, CapableKeys, DataSeq, Dss, Mapping, MpCapable, MpJoin,
    MptcpOption,
};
use heddle_wire::{Key, TcpFrame, Version, tcp};

use crate::captures::capture::options;

/// Fields by name; the values of one that occurs again are joined by commas.
#[derive(Default)]
struct Fields(BTreeMap<String, String>);

pub fn read(bytes: &[u8]) -> BTreeMap<String, String> {
    let mut fields = Fields::default();
    fields.headers(&TcpFrame::parse(bytes).unwrap());
    for (_, option) in options(bytes) {
        fields.option(&option);
    }
    fields.0
}

impl Fields {
    fn add(&mut self, name: impl Into<String>, value: impl Display) {
        let values = self.0.entry(name.into()).or_default();
        if !values.is_empty() {
            values.push(',');
        }
        values.push_str(&value.to_string());
    }

    fn mptcp(&mut self, name: &str, value: impl Display) {
        self.add(format!("tcp.options.mptcp.{name}"), value);
    }

    fn flag(&mut self, name: &str, set: bool) {
        self.mptcp(&format!("{name}.flag"), u8::from(set));
    }

    fn headers(&mut self, frame: &TcpFrame<'_>) {
        let TcpFrame { ethernet, ip, tcp } = frame;
        if let Some(vlan) = ethernet.vlan {
            self.add("vlan.id", vlan & 0xfff);
        }
        let family = if ip.source.is_ipv4() { "ip" } else { "ipv6" };
        self.add(format!("{family}.src"), ip.source);
        self.add(format!("{family}.dst"), ip.destination);
        self.add("tcp.srcport", tcp.source_port);
        self.add("tcp.dstport", tcp.destination_port);
        self.add("tcp.seq_raw", tcp.seq);
        self.add("tcp.ack_raw", tcp.ack);
        self.add("tcp.flags", format!("{:#06x}", tcp.flags.0));
        self.add("tcp.len", tcp.payload.len());
        for option in tcp::options(tcp.options) {
            self.add("tcp.option_len", option.bytes.len());
        }
    }

    fn option(&mut self, option: &MptcpOption) {
        match option {
            MptcpOption::Capable(capable) => self.capable(capable),
            MptcpOption::Join(join) => self.join(join),
            MptcpOption::Dss(dss) => self.dss(dss),
            MptcpOption::AddAddr(add) => self.add_addr(add),
            MptcpOption::RemoveAddr(remove) => {
                let ids = remove.ids.as_slice();
                self.mptcp("subtype", 4);
                self.add("mptcp.rm_addr.count", ids.len());
                ids.iter().for_each(|id| self.mptcp("addrid", id));
            }
            MptcpOption::Prio(prio) => {
                self.mptcp("subtype", 5);
                self.flag("backup", prio.backup);
                prio.address.iter().for_each(|id| self.mptcp("addrid", id));
            }
            MptcpOption::Fail(fail) => {
                self.mptcp("subtype", 6);
                self.mptcp("rawdataseqno", fail.data_seq);
            }
            MptcpOption::FastClose(close) => {
                self.mptcp("subtype", 7);
                self.mptcp("recvkey", number(close.receiver));
            }
            MptcpOption::Reset(reset) => {
                self.mptcp("subtype", 8);
                for (bit, name) in ["flag_T", "flag_W", "flag_V", "flag_U"].iter().enumerate() {
                    self.flag(name, reset.flags.bits() >> bit & 1 == 1);
                }
                self.mptcp("rst_reason", format!("{:#04x}", reset.reason));
            }
        }
    }

    fn capable(&mut self, MpCapable { version, flags, keys }: &MpCapable) {
        let (number, hash) = match version {
            Version::V0 => (0, "sha1"),
            Version::V1 => (1, "sha256"),
        };
        self.mptcp("subtype", 0);
        self.mptcp("version", number);
        self.mptcp("checksumreq.flags", u8::from(flags.contains(CapableFlags::CHECKSUM)));
        self.flag("extensibility", flags.contains(CapableFlags::EXTENSIBILITY));
        self.flag("nomoresubflows", flags.contains(CapableFlags::NO_JOIN_HERE));
        self.flag(hash, flags.contains(CapableFlags::HMAC));
        match *keys {
            CapableKeys::None => {}
            CapableKeys::Sender(sender) => self.sender_key(*version, sender),
            CapableKeys::Both { sender, receiver } => self.both_keys(*version, sender, receiver),
            CapableKeys::WithData { sender, receiver, len, checksum } => {
                self.both_keys(*version, sender, receiver);
                self.data(len, checksum);
            }
        }
    }

    fn sender_key(&mut self, version: Version, sender: Key) {
        self.mptcp("sendkey", number(sender));
        self.add("mptcp.expected_token", version.token(sender).0);
        self.add("mptcp.expected_idsn", version.initial_data_seq(sender));
    }

    fn both_keys(&mut self, version: Version, sender: Key, receiver: Key) {
        self.sender_key(version, sender);
        self.mptcp("recvkey", number(receiver));
    }

    fn data(&mut self, len: u16, checksum: Option<u16>) {
        self.mptcp("datalvllen", len);
        if let Some(checksum) = checksum {
            self.mptcp("checksum", format!("{checksum:#06x}"));
        }
    }

    fn join(&mut self, join: &MpJoin) {
        self.mptcp("subtype", 1);
        match *join {
            MpJoin::Syn { backup, address, token, nonce } => {
                self.flag("backup", backup);
                self.mptcp("addrid", address);
                self.mptcp("recvtok", token.0);
                self.mptcp("sendrand", nonce);
            }
            MpJoin::SynAck { backup, address, hmac, nonce } => {
                self.flag("backup", backup);
                self.mptcp("addrid", address);
                self.mptcp("sendtrunchmac", hmac);
                self.mptcp("sendrand", nonce);
            }
            MpJoin::Ack { hmac } => {
                let hex: String = hmac.iter().map(|byte| format!("{byte:02x}")).collect();
                self.mptcp("sendhmac", hex);
            }
        }
    }

    fn dss(&mut self, Dss { fin, ack, mapping }: &Dss) {
        self.mptcp("subtype", 2);
        self.flag("datafin", *fin);
        self.flag("dataackpresent", ack.is_some());
        self.flag("dataack8", matches!(ack, Some(DataSeq::Long(_))));
        self.flag("dseqnpresent", mapping.is_some());
        self.flag("dseqn8", mapping.is_some_and(|m| matches!(m.data_seq, DataSeq::Long(_))));
        if let Some(ack) = ack {
            self.mptcp("rawdataack", seq(*ack));
        }
        if let Some(Mapping { data_seq, subflow_seq, len, checksum }) = *mapping {
            self.mptcp("rawdataseqno", seq(data_seq));
            self.mptcp("subflowseqno", subflow_seq);
            self.data(len, checksum);
        }
    }

    fn add_addr(&mut self, AddAddr { id, address, port, form }: &AddAddr) {
        self.mptcp("subtype", 3);
        self.mptcp("addrid", id);
        let (name, family) = match address {
            IpAddr::V4(_) => ("ipv4", 4),
            IpAddr::V6(_) => ("ipv6", 6),
        };
        self.mptcp(name, address);
        port.iter().for_each(|port| self.mptcp("port", port));
        match form {
            AddAddrForm::V0 => self.mptcp("ipver", family),
            AddAddrForm::Echo => self.mptcp("echo", 1),
            AddAddrForm::Hmac(hmac) => {
                self.mptcp("echo", 0);
                self.mptcp("addaddrtrunchmac", hmac);
            }
        }
    }
}

fn number(key: Key) -> u64 {
    u64::from_be_bytes(key.0)
}

fn seq(seq: DataSeq) -> u64 {
    match seq {
        DataSeq::Short(seq) => seq.into(),
        DataSeq::Long(seq) => seq,
    }
}
