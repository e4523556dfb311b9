//! CFLB with any constants, packet and path: a router names a next hop that it has, and follows
//! what a sender has encoded.
#![no_main]

use heddle_policy::cflb::{
    Addresses, CflbConfig, Cipher, Codec, Field, Fields, PortRange, Ports, RouterChoice, Rules,
};
use libfuzzer_sys::{arbitrary::Unstructured, fuzz_target};

type Result<T> = libfuzzer_sys::arbitrary::Result<T>;

fn codec(bytes: &mut Unstructured<'_>) -> Result<Option<Codec>> {
    let range = PortRange { low: bytes.arbitrary()?, high: bytes.arbitrary()? };
    let field = *bytes.choose(&[Field::Ports, Field::SourcePort(range), Field::FlowLabel])?;
    let cipher = *bytes.choose(&[Cipher::Rc5, Cipher::Skip32, Cipher::Feistel])?;
    let rules = *bytes.choose(&[Rules::Even, Rules::AsPublished])?;
    let config = CflbConfig { field, cipher, radix: bytes.arbitrary()?, rules };
    let key: [u8; 16] = bytes.arbitrary()?;
    Ok(Codec::new(&config, &key[..cipher.key_bytes()]).ok())
}

fn fields(bytes: &mut Unstructured<'_>) -> Result<Fields> {
    let addresses = match bytes.arbitrary()? {
        true => Addresses::V4(bytes.arbitrary::<u32>()?.into(), bytes.arbitrary::<u32>()?.into()),
        false => {
            Addresses::V6(bytes.arbitrary::<u128>()?.into(), bytes.arbitrary::<u128>()?.into())
        }
    };
    Ok(Fields {
        addresses,
        protocol: bytes.arbitrary()?,
        ports: bytes.arbitrary::<Option<u32>>()?.map(Ports::from_bits),
        flow_label: bytes.arbitrary()?,
        ttl: bytes.arbitrary()?,
    })
}

fn choices(bytes: &mut Unstructured<'_>) -> Result<Vec<RouterChoice>> {
    (0..bytes.int_in_range(0..=8)?)
        .map(|_| {
            let (hop, next_hop, next_hops) = bytes.arbitrary()?;
            Ok(RouterChoice { hop, next_hop, next_hops })
        })
        .collect()
}

/// Routers follow what was sent.
fn follow(codec: &Codec, sent: &Fields, choices: &[RouterChoice]) {
    for choice in choices {
        let seen = Fields { ttl: sent.ttl - choice.hop, ..*sent };
        assert_eq!(codec.decide(1, &seen, choice.next_hops).next_hop, choice.next_hop);
    }
}

fn run(bytes: &mut Unstructured<'_>) -> Result<()> {
    let Some(codec) = codec(bytes)? else { return Ok(()) };
    let (fields, choices) = (fields(bytes)?, choices(bytes)?);
    let (router, next_hops, filler): (u32, u16, u32) = bytes.arbitrary()?;
    assert!(codec.decide(router, &fields, next_hops).next_hop < next_hops.max(1));
    if let Ok(sent) = codec.encode(&choices, &fields, filler) {
        follow(&codec, &sent, &choices);
    }
    if let Ok(sent) = codec.encode_free(&choices, &fields, 1..=64, filler, |_| true) {
        follow(&codec, &sent, &choices);
    }
    Ok(())
}

fuzz_target!(|bytes: &[u8]| {
    let _ = run(&mut Unstructured::new(bytes));
});
