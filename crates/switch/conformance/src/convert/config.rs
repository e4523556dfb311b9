//! Configurations as the C has them.

use heddle_vectors::{
    AssociationSizes, CflbConstants, CflbField, ChoiceRule, CipherName, Config, Error,
    HulaParameters, LongFlowsRule, MpHulaParameters, RulesName, ShuttleParameters, SubflowsRule,
    SwitchInfo, UpdateRule,
};

use crate::abi::{
    self, CflbCipher, CflbRules, DreConfig, HulaConfig, HulaUpdate, MpHulaConfig, MpHulaLong,
    ShuttleConfig, StepConfig, StepScheme,
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
        Config::Shuttle(parameters) => {
            StepConfig { mp_hula: shuttle(switch, parameters)?, ..of(StepScheme::Shuttle) }
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

/// The parameters that MP-HULA and Shuttle share.
fn mptcp(
    hula: HulaConfig,
    (best_k, mapping_rows): (u32, u32),
    association: &AssociationSizes,
) -> Result<MpHulaConfig, Error> {
    let slots = association.slots.next_power_of_two().max(4);
    Ok(MpHulaConfig {
        hula,
        idle_after: association.idle_after,
        best_k: within("best hops", best_k.max(1), BEST_HOPS)?,
        mapping_rows: within("mapping rows", mapping_rows.next_power_of_two(), SLOTS)?,
        association_slots: within("association slots", slots, SLOTS)?,
        ..MpHulaConfig::default()
    })
}

fn mp_hula(switch: &SwitchInfo, parameters: &MpHulaParameters) -> Result<MpHulaConfig, Error> {
    let MpHulaParameters { best_k, mapping_rows, association, .. } = parameters;
    let shared = mptcp(hula(switch, &parameters.hula)?, (*best_k, *mapping_rows), association)?;
    let long_flows = match parameters.long_flows {
        LongFlowsRule::Alike => MpHulaLong::Alike as u32,
        LongFlowsRule::YieldBest => MpHulaLong::Yield as u32,
        LongFlowsRule::Apart => MpHulaLong::Apart as u32,
    };
    Ok(MpHulaConfig { long_flows, ..shared })
}

fn shuttle(switch: &SwitchInfo, parameters: &ShuttleParameters) -> Result<MpHulaConfig, Error> {
    let ShuttleParameters { best_k, mapping_rows, association, .. } = parameters;
    let shared = mptcp(hula(switch, &parameters.hula)?, (*best_k, *mapping_rows), association)?;
    let shuttle = ShuttleConfig {
        // Greater ones count as these.
        full_queue_shift: parameters.full_queue_shift.min(31) as u16,
        range_shift: parameters.range_shift.min(8) as u16,
        draws: parameters.draws,
        choice: match parameters.choice {
            ChoiceRule::Weighted => abi::ShuttleRule::Weighted as u32,
            ChoiceRule::Least => abi::ShuttleRule::Least as u32,
        },
        subflows: match parameters.subflows {
            SubflowsRule::Apart => abi::ShuttleSubflows::Apart as u32,
            SubflowsRule::FirstFree => abi::ShuttleSubflows::FirstFree as u32,
            SubflowsRule::Alike => abi::ShuttleSubflows::Alike as u32,
        },
    };
    Ok(MpHulaConfig { shuttle, ..shared })
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
