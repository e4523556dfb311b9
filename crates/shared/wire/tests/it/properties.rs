//! Properties: no bytes cause a panic, and an emitted header parses to the same value.

use std::net::IpAddr;

use heddle_wire::mptcp::{
    AddAddr, AddAddrForm, AddressIds, CapableFlags, CapableKeys, DataSeq, Dss, Mapping, MpCapable,
    MpFail, MpFastClose, MpJoin, MpPrio, MpReset, MptcpOption, RemoveAddr, ResetFlags,
};
use heddle_wire::probe::TorId;
use heddle_wire::{
    EtherType, Ethernet, IpPacket, Key, MptcpId, Probe, Shim, ShimFrame, Subflow, TcpFrame,
    TcpSegment, Token, Version, mptcp, tcp,
};
use proptest::collection::vec;
use proptest::prelude::*;

fn key() -> impl Strategy<Value = Key> {
    any::<[u8; 8]>().prop_map(Key)
}

fn capable() -> impl Strategy<Value = MpCapable> {
    let both = (key(), key()).prop_map(|(sender, receiver)| CapableKeys::Both { sender, receiver });
    let with_data = (key(), key(), any::<u16>(), any::<Option<u16>>()).prop_map(
        |(sender, receiver, len, checksum)| CapableKeys::WithData {
            sender,
            receiver,
            len,
            checksum,
        },
    );
    let in_both = prop_oneof![key().prop_map(CapableKeys::Sender), both];
    let in_v1 = prop_oneof![Just(CapableKeys::None), with_data];
    let keys = prop_oneof![
        (prop_oneof![Just(Version::V0), Just(Version::V1)], in_both),
        (Just(Version::V1), in_v1)
    ];
    let flags = any::<u8>().prop_map(CapableFlags);
    (keys, flags).prop_map(|((version, keys), flags)| MpCapable { version, flags, keys })
}

fn join() -> impl Strategy<Value = MpJoin> {
    let token = any::<u32>().prop_map(Token);
    prop_oneof![
        (any::<bool>(), any::<u8>(), token, any::<u32>()).prop_map(
            |(backup, address, token, nonce)| MpJoin::Syn { backup, address, token, nonce }
        ),
        (any::<bool>(), any::<u8>(), any::<u64>(), any::<u32>()).prop_map(
            |(backup, address, hmac, nonce)| MpJoin::SynAck { backup, address, hmac, nonce }
        ),
        any::<[u8; 20]>().prop_map(|hmac| MpJoin::Ack { hmac }),
    ]
}

fn data_seq() -> impl Strategy<Value = DataSeq> {
    prop_oneof![any::<u32>().prop_map(DataSeq::Short), any::<u64>().prop_map(DataSeq::Long)]
}

fn dss() -> impl Strategy<Value = Dss> {
    let mapping = (data_seq(), any::<u32>(), any::<u16>(), any::<Option<u16>>()).prop_map(
        |(data_seq, subflow_seq, len, checksum)| Mapping { data_seq, subflow_seq, len, checksum },
    );
    (any::<bool>(), prop::option::of(data_seq()), prop::option::of(mapping))
        .prop_map(|(fin, ack, mapping)| Dss { fin, ack, mapping })
}

fn add_addr() -> impl Strategy<Value = AddAddr> {
    let form = prop_oneof![
        Just(AddAddrForm::V0),
        Just(AddAddrForm::Echo),
        any::<u64>().prop_map(AddAddrForm::Hmac)
    ];
    (any::<u8>(), any::<IpAddr>(), any::<Option<u16>>(), form)
        .prop_map(|(id, address, port, form)| AddAddr { id, address, port, form })
}

fn option() -> impl Strategy<Value = MptcpOption> {
    let ids = vec(any::<u8>(), 1..=AddressIds::MAX).prop_map(|ids| AddressIds::new(&ids).unwrap());
    prop_oneof![
        capable().prop_map(MptcpOption::Capable),
        join().prop_map(MptcpOption::Join),
        dss().prop_map(MptcpOption::Dss),
        add_addr().prop_map(MptcpOption::AddAddr),
        ids.prop_map(|ids| MptcpOption::RemoveAddr(RemoveAddr { ids })),
        any::<(bool, Option<u8>)>()
            .prop_map(|(backup, address)| MptcpOption::Prio(MpPrio { backup, address })),
        any::<u64>().prop_map(|data_seq| MptcpOption::Fail(MpFail { data_seq })),
        key().prop_map(|receiver| MptcpOption::FastClose(MpFastClose { receiver })),
        (0..16_u8, any::<u8>()).prop_map(|(flags, reason)| {
            MptcpOption::Reset(MpReset { flags: ResetFlags::new(flags), reason })
        }),
    ]
}

/// Bytes that get past the first checks: an MPTCP option with the right length and any content.
fn option_bytes() -> impl Strategy<Value = Vec<u8>> {
    vec(any::<u8>(), 1..=38).prop_map(|rest| {
        let len = u8::try_from(rest.len() + 2).unwrap();
        [&[tcp::MPTCP, len][..], &rest].concat()
    })
}

/// Frames whose EtherType is known.
fn frame_bytes() -> impl Strategy<Value = Vec<u8>> {
    let ether_type = prop::sample::select(vec![0x0800_u16, 0x86dd, 0x8100, 0x88b5]);
    let version = prop::sample::select(vec![0x45_u8, 0x46, 0x4f, 0x60]);
    (ether_type, version, vec(any::<u8>(), 0..120)).prop_map(|(ether_type, version, rest)| {
        [&[0; 12][..], &ether_type.to_be_bytes(), &[version], &rest].concat()
    })
}

proptest! {
    #[test]
    fn an_option_survives_the_wire(option in option()) {
        let mut out = [0xff; 40];
        let len = option.emit(&mut out).unwrap();
        prop_assert_eq!(len, option.len());
        prop_assert_eq!(usize::from(out[1]), len);
        prop_assert_eq!(MptcpOption::parse(&out[..len]), Ok(option));
        prop_assert_eq!(mptcp::find(&out[..len]), Some(option));
        prop_assert!(out[len..].iter().all(|byte| *byte == 0xff), "written past its end");
    }

    /// The bytes differ in reserved bits at most, so reading them again gives the same.
    #[test]
    fn an_option_that_was_read_is_written_the_same(bytes in option_bytes()) {
        if let Ok(option) = MptcpOption::parse(&bytes) {
            let mut out = [0; 40];
            let len = option.emit(&mut out).unwrap();
            prop_assert_eq!(len, bytes.len());
            prop_assert_eq!(MptcpOption::parse(&out[..len]), Ok(option));
        }
    }

    #[test]
    fn a_shim_survives_the_wire(id: u64, subflow in 1..=Subflow::MAX, next: u16) {
        let shim = Shim { id: MptcpId(id), subflow: Subflow::new(subflow).unwrap() };
        let mut out = [0xff; Shim::BYTES];
        prop_assert_eq!(shim.emit(EtherType(next), &mut out), Ok(Shim::BYTES));
        let frame = ShimFrame { shim, ether_type: EtherType(next), payload: &[] };
        prop_assert_eq!(Shim::parse(&out), Ok(frame));
    }

    #[test]
    fn a_probe_survives_the_wire(tor in 0..1_u32 << 24, path_util: u8) {
        let probe = Probe { tor: TorId::new(tor).unwrap(), path_util };
        let mut out = [0; Probe::BYTES];
        prop_assert_eq!(probe.emit(&mut out), Ok(Probe::BYTES));
        prop_assert_eq!(Probe::parse(&out), Ok(probe));
    }

    #[test]
    fn no_bytes_make_a_parser_panic(bytes in prop_oneof![vec(any::<u8>(), 0..300), frame_bytes()]) {
        let _ = (MptcpOption::parse(&bytes), mptcp::find(&bytes), TcpSegment::parse(&bytes));
        let _ = (Ethernet::parse(&bytes), TcpFrame::parse(&bytes), Shim::parse(&bytes));
        let _ = (IpPacket::parse_v4(&bytes), IpPacket::parse_v6(&bytes), Probe::parse(&bytes));
        prop_assert!(tcp::options(&bytes).all(|option| option.bytes.len() >= 2));
    }
}
