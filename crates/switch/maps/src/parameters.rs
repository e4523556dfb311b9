//! Schemes' parameters as the C has them, and its counters as the schemes have them: times in
//! nanoseconds, sizes of tables as powers of two. The switch's place in the fabric (`salt`, `tors`,
//! `tor`, `is_tor`) is the caller's.

use heddle_policy::{
    AssociationCounters, Conga, CongaConfig, Counters, DreShift, Hula, HulaConfig, LetItFlowConfig,
    LongFlows, MpHula, MpHulaConfig, MptcpTablesConfig, Nanos, Scheme as _, Shuttle, ShuttleChoice,
    ShuttleConfig, ShuttleSubflows, Update, cflb, table_size,
};

use crate::{Scheme, abi};

/// Tau of the estimators where no scheme needs them, only people who look, in nanoseconds.
const TAU: u64 = 100_000_000;

/// A scheme with its parameters.
#[derive(Clone, Debug)]
pub struct Parameters {
    /// The scheme.
    pub scheme: Scheme,
    /// HULA's, MP-HULA's and Shuttle's parameters; of the others the flowlets'.
    pub mp_hula: abi::MpHulaConfig,
    /// CONGA's own parameters.
    pub conga: abi::CongaConfig,
    /// CFLB's constants.
    pub cflb: Option<abi::CflbConstants>,
    /// The estimators' tau is 2^`dre_shift` nanoseconds.
    pub dre_shift: u32,
}

impl Parameters {
    /// Those of a scheme without any.
    pub fn none(scheme: Scheme) -> Parameters {
        Parameters {
            scheme,
            mp_hula: abi::MpHulaConfig::default(),
            conga: abi::CongaConfig::default(),
            cflb: None,
            dre_shift: DreShift::at_least(TAU).0,
        }
    }
}

impl Parameters {
    /// Those of a file's scheme; `None` if there are no programs for it, and for CFLB, whose
    /// constants have a key besides.
    pub fn of(scheme: &heddle_scenario::Scheme) -> Option<Parameters> {
        use heddle_scenario::Scheme as File;
        Some(match scheme {
            File::Ecmp => Parameters::none(Scheme::Ecmp),
            File::Hula(own) => own.into(),
            File::MpHula(own) => own.into(),
            File::Shuttle(own) => own.into(),
            File::Conga(own) => own.into(),
            File::LetItFlow(own) => own.into(),
            _ => return None,
        })
    }
}

impl From<&HulaConfig> for Parameters {
    fn from(config: &HulaConfig) -> Parameters {
        Parameters {
            mp_hula: abi::HulaConfig::from(config).into(),
            dre_shift: Hula::dre_shift(config).0,
            ..Parameters::none(Scheme::Hula)
        }
    }
}

impl From<&MpHulaConfig> for Parameters {
    fn from(config: &MpHulaConfig) -> Parameters {
        Parameters {
            mp_hula: config.into(),
            dre_shift: MpHula::dre_shift(config).0,
            ..Parameters::none(Scheme::MpHula)
        }
    }
}

impl From<&ShuttleConfig> for Parameters {
    fn from(config: &ShuttleConfig) -> Parameters {
        Parameters {
            mp_hula: config.into(),
            dre_shift: Shuttle::dre_shift(config).0,
            ..Parameters::none(Scheme::Shuttle)
        }
    }
}

impl From<&CongaConfig> for Parameters {
    fn from(config: &CongaConfig) -> Parameters {
        Parameters {
            mp_hula: flowlets(config.flowlet_gap.as_nanos(), config.flowlet_slots),
            conga: config.into(),
            dre_shift: Conga::dre_shift(config).0,
            ..Parameters::none(Scheme::Conga)
        }
    }
}

impl From<&LetItFlowConfig> for Parameters {
    fn from(config: &LetItFlowConfig) -> Parameters {
        Parameters {
            mp_hula: flowlets(config.flowlet_gap.as_nanos(), config.flowlet_slots),
            ..Parameters::none(Scheme::LetItFlow)
        }
    }
}

impl From<abi::CflbConstants> for Parameters {
    fn from(constants: abi::CflbConstants) -> Parameters {
        Parameters { cflb: Some(constants), ..Parameters::none(Scheme::Cflb) }
    }
}

impl From<&HulaConfig> for abi::HulaConfig {
    fn from(config: &HulaConfig) -> abi::HulaConfig {
        let config = config.as_run();
        abi::HulaConfig {
            probe_period: config.probe_period.as_nanos(),
            fail_after: config.fail_after().as_nanos(),
            flowlet_gap: config.flowlet_gap.as_nanos(),
            flowlet_slots: config.flowlet_slots,
            update: match config.update {
                Update::Refresh => abi::HulaUpdate::Refresh as u8,
                Update::Listing => abi::HulaUpdate::Listing as u8,
            },
            util_bits: config.util_bits.min(16),
            local_detection: config.local_detection.into(),
            ..abi::HulaConfig::default()
        }
    }
}

/// Flowlets' parameters, for schemes that have no others of HULA's.
fn flowlets(gap: Nanos, slots: u32) -> abi::MpHulaConfig {
    let flowlet_slots = table_size(slots);
    abi::HulaConfig { flowlet_gap: gap, flowlet_slots, ..abi::HulaConfig::default() }.into()
}

impl From<abi::HulaConfig> for abi::MpHulaConfig {
    fn from(hula: abi::HulaConfig) -> abi::MpHulaConfig {
        abi::MpHulaConfig { hula, ..abi::MpHulaConfig::default() }
    }
}

impl From<&CongaConfig> for abi::CongaConfig {
    fn from(config: &CongaConfig) -> abi::CongaConfig {
        let CongaConfig { metric_bits, metric_age, .. } = *config;
        abi::CongaConfig {
            metric_age: metric_age.as_nanos(),
            metric_bits: metric_bits.into(),
            pad: 0,
        }
    }
}

/// The parameters that MP-HULA and Shuttle share.
fn shared(hula: &HulaConfig, tables: &MptcpTablesConfig) -> abi::MpHulaConfig {
    let tables = tables.as_run();
    abi::MpHulaConfig {
        hula: hula.into(),
        idle_after: tables.association_idle.as_nanos(),
        best_k: tables.best_k.into(),
        mapping_rows: tables.mapping_rows,
        association_slots: tables.association_slots,
        ..abi::MpHulaConfig::default()
    }
}

impl From<&MpHulaConfig> for abi::MpHulaConfig {
    fn from(config: &MpHulaConfig) -> abi::MpHulaConfig {
        let long_flows = match config.rules.long_flows {
            LongFlows::Alike => abi::MpHulaLong::Alike as u32,
            LongFlows::YieldBest => abi::MpHulaLong::Yield as u32,
            LongFlows::Apart => abi::MpHulaLong::Apart as u32,
        };
        abi::MpHulaConfig { long_flows, ..shared(&config.hula, &config.tables) }
    }
}

impl From<&ShuttleConfig> for abi::MpHulaConfig {
    fn from(config: &ShuttleConfig) -> abi::MpHulaConfig {
        let rules = &config.rules;
        let shuttle = abi::ShuttleConfig {
            full_queue_shift: rules.full_queue_shift() as u16,
            range_shift: rules.range_shift() as u16,
            draws: rules.draws.into(),
            choice: match rules.choice {
                ShuttleChoice::Weighted => abi::ShuttleRule::Weighted as u32,
                ShuttleChoice::Least => abi::ShuttleRule::Least as u32,
            },
            subflows: match rules.subflows {
                ShuttleSubflows::Apart => abi::ShuttleSubflows::Apart as u32,
                ShuttleSubflows::FirstFree => abi::ShuttleSubflows::FirstFree as u32,
                ShuttleSubflows::Alike => abi::ShuttleSubflows::Alike as u32,
            },
        };
        abi::MpHulaConfig { shuttle, ..shared(&config.hula, &config.tables) }
    }
}

impl abi::CflbConstants {
    /// CFLB's constants with a key of at most 16 bytes.
    pub fn new(config: &cflb::CflbConfig, key: &[u8]) -> abi::CflbConstants {
        let mut bytes = [0; 16];
        bytes.iter_mut().zip(key).for_each(|(to, &byte)| *to = byte);
        let (field, low, high) = match config.field {
            cflb::Field::Ports => (abi::CflbField::Ports, 0, 0),
            cflb::Field::SourcePort(range) => (abi::CflbField::SourcePort, range.low, range.high),
            cflb::Field::FlowLabel => (abi::CflbField::FlowLabel, 0, 0),
        };
        let cipher = match config.cipher {
            cflb::Cipher::Rc5 => abi::CflbCipher::Rc5,
            cflb::Cipher::Skip32 => abi::CflbCipher::Skip32,
            cflb::Cipher::Feistel => abi::CflbCipher::Feistel,
        };
        let rules = match config.rules {
            cflb::Rules::Even => abi::CflbRules::Even,
            cflb::Rules::AsPublished => abi::CflbRules::Published,
        };
        abi::CflbConstants {
            key: bytes,
            low,
            high,
            radix: config.radix,
            field: field as u8,
            cipher: cipher as u8,
            rules: rules as u8,
            pad: [0; 7],
        }
    }
}

impl From<&abi::SchemeCounters> for Counters {
    fn from(counts: &abi::SchemeCounters) -> Counters {
        Counters {
            flowlets: counts.flowlets,
            moves: counts.moves,
            fallbacks: counts.fallbacks,
            probes: counts.probes,
            shims: counts.shims,
            shared: counts.shared,
            controlled: counts.controlled,
            hashed: counts.hashed,
            association: AssociationCounters {
                connections: counts.connections,
                joins: counts.joins,
                unknown_tokens: counts.unknown_tokens,
                token_collisions: counts.token_collisions,
                table_collisions: counts.table_collisions,
                wraps: counts.wraps,
            },
        }
    }
}
