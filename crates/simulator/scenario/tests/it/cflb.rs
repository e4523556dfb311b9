//! `[scheme]` with `kind = "cflb"`.

use std::io;

use heddle_policy::cflb::{CflbConfig, Cipher, Field, PortRange, Rules};
use heddle_scenario::{Cflb, Placing, ScenarioError, Scheme, Source, load};
use heddle_units::Bytes;

/// A scenario on HULA's fabric, where no switch has more than 2 next hops, with a scheme of these
/// keys from line 4 on.
fn scheme(keys: &str) -> Result<Scheme, ScenarioError> {
    let text = format!(
        "[fabric]\nkind = \"two-pod\"\n[scheme]\n{keys}\n[workload]\nkind = \"long\"\n[measure]\nduration = \"1s\"\n"
    );
    let no_files = |path: &str| Err(io::Error::other(path.to_owned()));
    load(&Source::new("s.toml", text), &no_files).map(|scenario| scenario.scheme)
}

fn cflb(keys: &str) -> Cflb {
    match scheme(&format!("kind = \"cflb\"\n{keys}")) {
        Ok(Scheme::Cflb(cflb)) => cflb,
        other => panic!("{other:?}"),
    }
}

/// The keys start at line 5.
fn refused(cases: &[(&str, &str)]) {
    for (keys, expected) in cases {
        let error = scheme(&format!("kind = \"cflb\"\n{keys}")).expect_err(keys).to_string();
        assert_eq!(error, format!("s.toml:{expected}"), "{keys:?}");
    }
}

#[test]
fn the_defaults_are_the_papers() {
    let default = Cflb {
        constants: CflbConfig {
            field: Field::Ports,
            cipher: Cipher::Rc5,
            radix: 2,
            rules: Rules::Even,
        },
        elephants: Bytes(100_000),
        placing: Placing::FewestFlows,
    };
    assert_eq!(cflb(""), default);
    assert_eq!(Scheme::Cflb(default).name(), "cflb");
}

#[test]
fn every_key_can_be_given() {
    let given = cflb(
        "field = \"source-port\"\nsource_ports = \"49152-65535\"\ncipher = \"feistel\"\nradix = 16\n\
         rules = \"as-published\"\nelephants = \"0B\"\nplacing = \"first-fit\"",
    );
    let expected = Cflb {
        constants: CflbConfig {
            field: Field::SourcePort(PortRange { low: 49152, high: 65535 }),
            cipher: Cipher::Feistel,
            radix: 16,
            rules: Rules::AsPublished,
        },
        elephants: Bytes(0),
        placing: Placing::FirstFit,
    };
    assert_eq!(given, expected);
    assert_eq!(cflb("cipher = \"skip32\"").constants.cipher, Cipher::Skip32);
    assert_eq!(cflb("cipher = \"feistel\"").constants.cipher, Cipher::Feistel);
}

/// Only the Feistel network is as wide as the source port.
#[test]
fn the_source_port_alone_goes_through_a_feistel_network() {
    let alone = cflb("field = \"source-port\"");
    assert_eq!(alone.constants.field, Field::SourcePort(PortRange { low: 0, high: 65535 }));
    assert_eq!(alone.constants.cipher, Cipher::Feistel);
}

#[test]
fn constants_that_cannot_be() {
    refused(&[
        (
            "field = \"flow-label\"",
            "5: scheme.field: the simulator's packets are IPv4 and have no flow label\n\
             help: \"ports\" or \"source-port\"; fabric files may name paths by the flow label",
        ),
        (
            "field = \"tos\"",
            "5: scheme.field: \"tos\" is not one of \"ports\", \"source-port\" or \"flow-label\"\n\
             help: known here: `ports`, `source-port`, `flow-label`",
        ),
        (
            "source_ports = \"1024-65535\"",
            "5: scheme.source_ports: the source port alone does not name the path\nhelp: field = \"source-port\"",
        ),
        (
            "field = \"source-port\"\nsource_ports = \"1024\u{2013}65535\"",
            "6: scheme.source_ports: \"1024\u{2013}65535\" is not a range of ports\n\
             help: lowest and highest, as in \"1024-65535\"",
        ),
        (
            "field = \"source-port\"\nsource_ports = \"2000-1000\"",
            "6: scheme.source_ports: \"2000-1000\" is not a range of ports\n\
             help: lowest and highest, as in \"1024-65535\"",
        ),
        (
            "field = \"source-port\"\nsource_ports = \"1024-65536\"",
            "6: scheme.source_ports: \"1024-65536\" is not a range of ports\n\
             help: lowest and highest, as in \"1024-65535\"",
        ),
        (
            "field = \"source-port\"\ncipher = \"rc5\"",
            "6: scheme.cipher: this cipher has blocks of 32 bits, the field is smaller\n\
             help: \"feistel\", or `field = \"ports\"`",
        ),
        ("radix = 1", "5: scheme.radix: 1 is no base\nhelp: from 2 up"),
        ("radix = 70000", "5: scheme.radix: a whole number from 0 to 65535 is expected, not 70000"),
        (
            "radix = 5\nfield = \"source-port\"\nsource_ports = \"2000-2003\"",
            "5: scheme.radix: a field of 4 values has no digit in base 5\nhelp: a smaller radix, or a wider field",
        ),
        (
            "field = \"source-port\"\nsource_ports = \"80\"",
            "3: scheme.radix: a field of 1 values has no digit in base 2\nhelp: a smaller radix, or a wider field",
        ),
        (
            "elephants = 100",
            "5: scheme.elephants: a size in quotes with its unit, as in \"1.5MB\" is expected, not 100",
        ),
        (
            "placing = \"best\"",
            "5: scheme.placing: \"best\" is not one of \"fewest-flows\" or \"first-fit\"\n\
             help: known here: `fewest-flows`, `first-fit`",
        ),
        (
            "elephant = \"1B\"",
            "5: scheme.elephant: this key is not known here\nhelp: did you mean `elephants`?",
        ),
        (
            "ttl = 64",
            "5: scheme.ttl: this key is not known here\nhelp: known here: `field`, `source_ports`, `cipher`, `radix`, \
             `rules`, `elephants`, `placing`",
        ),
    ]);
}

/// CFLB section 3.2: B bounds the next hops of every router.
#[test]
fn the_radix_is_not_below_the_most_next_hops() {
    let on_spines = |keys: &str| {
        let text = format!(
            "[fabric]\nkind = \"leaf-spine\"\nspines = 7\nparallel_links = 1\n[scheme]\nkind = \"cflb\"\n{keys}\n\
             [workload]\nkind = \"long\"\n[measure]\nduration = \"1s\"\n"
        );
        let no_files = |path: &str| Err(io::Error::other(path.to_owned()));
        load(&Source::new("s.toml", text), &no_files)
    };
    let Scheme::Cflb(cflb) = on_spines("").unwrap().scheme else { panic!("cflb") };
    assert_eq!(cflb.constants.radix, 7);
    assert_eq!(
        on_spines("radix = 6").unwrap_err().to_string(),
        "s.toml:7: scheme.radix: a radix of 6 is below a router's next hops, 7\nhelp: 7 or more"
    );
}
