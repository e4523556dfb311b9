//! Schemes' parameters as the C has them, and its counters as the schemes have them: times in
//! nanoseconds, sizes of tables as powers of two. The switch's place in the fabric (`salt`, `tors`,
//! `tor`, `is_tor`) is the caller's.

use heddle_policy::{
    AssociationCounters, CongaConfig, Counters, HulaConfig, LetItFlowConfig, LongFlows,
    MpHulaConfig, MptcpTablesConfig, ShuttleChoice, ShuttleConfig, ShuttleSubflows, Update, cflb,
    table_size,
};

use crate::abi;

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

impl From<&CongaConfig> for abi::HulaConfig {
    fn from(config: &CongaConfig) -> abi::HulaConfig {
        abi::HulaConfig {
            flowlet_gap: config.flowlet_gap.as_nanos(),
            flowlet_slots: table_size(config.flowlet_slots),
            ..abi::HulaConfig::default()
        }
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

impl From<&LetItFlowConfig> for abi::HulaConfig {
    fn from(config: &LetItFlowConfig) -> abi::HulaConfig {
        abi::HulaConfig {
            flowlet_gap: config.flowlet_gap.as_nanos(),
            flowlet_slots: table_size(config.flowlet_slots),
            ..abi::HulaConfig::default()
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
