//! Configurations as the C has them.

use heddle_vectors::{
    CflbConstants, CflbField, CipherName, Config, Error, HulaParameters, LongFlowsRule,
    MpHulaParameters, RulesName, SwitchInfo, UpdateRule,
};

use crate::abi::{
    self, CflbCipher, CflbRules, DreConfig, HulaConfig, HulaUpdate, MpHulaConfig, MpHulaLong,
    StepConfig, StepScheme,
};

/// Ports that a switch can have.
pub(super) const PORTS: u16 = 64;

/// Sizes of the tables (c/sizes.h).
const TORS: u16 = 64;
const SLOTS: u32 = 4096;
const BEST_HOPS: u32 = 8;

/// The configuration of a switch.
///
/// # Errors
/// A limit that is exceeded.
pub fn config(switch: &SwitchInfo, config: &Config) -> Result<StepConfig, Error> {
    within("ports", switch.ports.into(), PORTS.into())?;
    within("ToRs", switch.tors.into(), TORS.into())?;
    let empty = StepConfig { salt: switch.salt, ..StepConfig::default() };
    let of = |scheme: StepScheme| StepConfig { scheme: scheme as u32, ..empty };
    Ok(match config {
        Config::Ecmp(_) => of(StepScheme::Ecmp),
        Config::Hula(parameters) => {
            let mp_hula =
                MpHulaConfig { hula: hula(switch, parameters)?, ..MpHulaConfig::default() };
            StepConfig { mp_hula, ..of(StepScheme::Hula) }
        }
        Config::MpHula(parameters) => {
            StepConfig { mp_hula: mp_hula(switch, parameters)?, ..of(StepScheme::MpHula) }
        }
        Config::Cflb(constants) => StepConfig { cflb: cflb(constants), ..of(StepScheme::Cflb) },
        Config::Dre(dre) => {
            let dre = DreConfig { full: dre.full, shift: dre.shift, pad: 0 };
            StepConfig { dre, ..of(StepScheme::Dre) }
        }
    })
}

fn within(what: &str, number: u32, most: u32) -> Result<u32, Error> {
    if number > most {
        return Err(Error(format!("{number} {what}: the C has room for {most}")));
    }
    Ok(number)
}

fn hula(switch: &SwitchInfo, parameters: &HulaParameters) -> Result<HulaConfig, Error> {
    let flowlet_slots = parameters.flowlet_slots.next_power_of_two();
    Ok(HulaConfig {
        probe_period: parameters.probe_period,
        fail_after: parameters.fail_after,
        flowlet_gap: parameters.flowlet_gap,
        salt: switch.salt,
        flowlet_slots: within("flowlet slots", flowlet_slots, SLOTS)?,
        tors: switch.tors,
        tor: switch.tor.unwrap_or_default(),
        is_tor: switch.tor.is_some().into(),
        update: match parameters.update {
            UpdateRule::Refresh => HulaUpdate::Refresh as u8,
            UpdateRule::Listing => HulaUpdate::Listing as u8,
        },
        util_bits: parameters.util_bits.min(16) as u8,
        local_detection: parameters.local_detection.into(),
    })
}

fn mp_hula(switch: &SwitchInfo, parameters: &MpHulaParameters) -> Result<MpHulaConfig, Error> {
    let rows = parameters.mapping_rows.next_power_of_two();
    let slots = parameters.association.slots.next_power_of_two().max(4);
    Ok(MpHulaConfig {
        hula: hula(switch, &parameters.hula)?,
        idle_after: parameters.association.idle_after,
        best_k: within("best hops", parameters.best_k.max(1), BEST_HOPS)?,
        mapping_rows: within("mapping rows", rows, SLOTS)?,
        association_slots: within("association slots", slots, SLOTS)?,
        long_flows: match parameters.long_flows {
            LongFlowsRule::Alike => MpHulaLong::Alike as u32,
            LongFlowsRule::YieldBest => MpHulaLong::Yield as u32,
            LongFlowsRule::Apart => MpHulaLong::Apart as u32,
        },
    })
}

fn cflb(constants: &CflbConstants) -> abi::CflbConstants {
    let mut key = [0; 16];
    for (to, &byte) in key.iter_mut().zip(&constants.key) {
        *to = byte;
    }
    let (field, (low, high)) = match constants.field {
        CflbField::Ports => (abi::CflbField::Ports, (0, 0)),
        CflbField::SourcePort(low, high) => (abi::CflbField::SourcePort, (low, high)),
        CflbField::FlowLabel => (abi::CflbField::FlowLabel, (0, 0)),
    };
    let cipher = match constants.cipher {
        CipherName::Rc5 => CflbCipher::Rc5,
        CipherName::Skip32 => CflbCipher::Skip32,
        CipherName::Feistel => CflbCipher::Feistel,
    };
    let rules = match constants.rules {
        RulesName::Even => CflbRules::Even,
        RulesName::AsPublished => CflbRules::Published,
    };
    abi::CflbConstants {
        key,
        low,
        high,
        radix: constants.radix,
        field: field as u8,
        cipher: cipher as u8,
        rules: rules as u8,
        pad: [0; 7],
    }
}
