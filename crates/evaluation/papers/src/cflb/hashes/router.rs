//! CFLB's router (figure 3b).

use heddle_policy::cflb::{CflbConfig, Cipher, Codec, Field, Fields, Rules};

use super::NextHop;

/// Key of the cipher, of no consequence: ports of flows that are not steered do not depend on it.
const KEY: [u8; 16] = *b"uncontrolled mix";

/// CFLB's router.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CflbRouter {
    config: CflbConfig,
    codec: Codec,
}

impl CflbRouter {
    /// With a key that is always the same. `None` if the constants make no codec.
    pub fn new(config: CflbConfig) -> Option<CflbRouter> {
        let codec = Codec::new(&config, &KEY[..config.cipher.key_bytes()]).ok()?;
        Some(CflbRouter { config, codec })
    }

    /// With the rules that spread evenly, and as published.
    pub(super) fn settings(
        cipher: Cipher,
        field: Field,
        radix: u16,
    ) -> impl Iterator<Item = CflbRouter> {
        let with = move |rules| CflbRouter::new(CflbConfig { field, cipher, radix, rules });
        [Rules::Even, Rules::AsPublished].into_iter().filter_map(with)
    }

    /// Such as "rc5, B = 4", "feistel on the source port, B = 16" or "skip32, B = 3, as published".
    pub fn name(&self) -> String {
        let CflbConfig { field, cipher, radix, rules } = self.config;
        let cipher = match cipher {
            Cipher::Rc5 => "rc5",
            Cipher::Skip32 => "skip32",
            Cipher::Feistel => "feistel",
        };
        let field = match field {
            Field::Ports => "",
            Field::SourcePort(_) => " on the source port",
            Field::FlowLabel => " on the flow label",
        };
        let rules = match rules {
            Rules::Even => "",
            Rules::AsPublished => ", as published",
        };
        format!("{cipher}{field}, B = {radix}{rules}")
    }
}

impl NextHop for CflbRouter {
    #[inline]
    fn next_hop(&self, fields: &Fields, router: u32, next_hops: u16) -> u16 {
        self.codec.decide(router, fields, next_hops).next_hop
    }
}
