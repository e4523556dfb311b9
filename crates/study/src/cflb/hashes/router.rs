//! CFLB's router (figure 3b).

use heddle_policy::cflb::{CflbConfig, Cipher, Codec, Field, Fields, Surplus};

use super::NextHop;

/// Which key is of no consequence: packets that nobody steers do not know it.
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

    /// The default; and as published too, if some selectors are never written.
    pub(super) fn settings(
        cipher: Cipher,
        field: Field,
        radix: u16,
    ) -> impl Iterator<Item = CflbRouter> {
        let with = move |surplus| CflbRouter::new(CflbConfig { field, cipher, radix, surplus });
        let published = with(Surplus::AsPublished).filter(CflbRouter::has_surplus);
        with(Surplus::Hash).into_iter().chain(published)
    }

    /// Whether the field has values that are no selectors.
    fn has_surplus(&self) -> bool {
        self.codec.radix().selectors() < self.config.field.values()
    }

    /// Such as "rc5, B = 4", "feistel on the source port, B = 16" or "skip32, B = 3, as published".
    pub fn name(&self) -> String {
        let CflbConfig { field, cipher, radix, surplus } = self.config;
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
        let surplus = match surplus {
            Surplus::Hash => "",
            Surplus::AsPublished => ", as published",
        };
        format!("{cipher}{field}, B = {radix}{surplus}")
    }
}

impl NextHop for CflbRouter {
    #[inline]
    fn next_hop(&self, fields: &Fields, router: u32, next_hops: u16) -> u16 {
        self.codec.decide(router, fields, next_hops).next_hop
    }
}
