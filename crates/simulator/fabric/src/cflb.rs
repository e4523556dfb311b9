//! A file's constants and a fabric's paths as CFLB's codec takes them.

use heddle_policy::cflb::{CflbConfig, Cipher, Field, PortRange, RouterChoice, Rules};
use heddle_scenario::{CflbCipher, CflbConstants, CflbField, CflbRules};

use crate::{Hop, Path};

/// The codec's constants of a file; [`CflbConfig::cipher`] says which key the codec takes.
pub fn cflb_config(constants: &CflbConstants) -> CflbConfig {
    CflbConfig {
        field: match constants.field {
            CflbField::Ports => Field::Ports,
            CflbField::SourcePort { low, high } => Field::SourcePort(PortRange { low, high }),
            CflbField::FlowLabel => Field::FlowLabel,
        },
        cipher: match constants.cipher {
            CflbCipher::Rc5 => Cipher::Rc5,
            CflbCipher::Skip32 => Cipher::Skip32,
            CflbCipher::Feistel => Cipher::Feistel,
        },
        radix: constants.radix,
        rules: match constants.rules {
            CflbRules::Even => Rules::Even,
            CflbRules::AsPublished => Rules::AsPublished,
        },
    }
}

/// The choices along a path, as the codec takes them.
pub fn router_choices(path: &Path) -> Vec<RouterChoice> {
    let choice = |(hop, at): (usize, &Hop)| RouterChoice {
        hop: hop as u8,
        next_hop: at.next_hop,
        next_hops: at.next_hops,
    };
    path.hops.iter().enumerate().map(choice).collect()
}
