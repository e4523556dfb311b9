//! Configurations as the C has them.

use heddle_switch_maps::{Parameters, Scheme};
use heddle_vectors::{Config, Error, SwitchInfo};

use crate::abi::{CflbConstants, DreConfig, HulaConfig, MpHulaConfig, STEP_DRE, StepConfig};

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
    let parameters: Parameters = match config {
        Config::Ecmp(_) => Parameters::none(Scheme::Ecmp),
        Config::Hula(own) => own.into(),
        Config::MpHula(own) => own.into(),
        Config::Shuttle(own) => own.into(),
        Config::Conga(own) => own.into(),
        Config::LetItFlow(own) => own.into(),
        Config::Cflb(own) => CflbConstants::new(&own.config(), &own.key).into(),
        Config::Dre(dre) => {
            let dre = DreConfig { full: dre.full, shift: dre.shift, pad: 0 };
            return Ok(StepConfig { dre, scheme: STEP_DRE, ..StepConfig::default() });
        }
    };
    step_config(switch, &parameters)
}

/// The configuration of a switch with these parameters.
///
/// # Errors
/// A limit that is exceeded.
pub fn step_config(switch: &SwitchInfo, parameters: &Parameters) -> Result<StepConfig, Error> {
    within("ports", switch.ports.into(), PORTS.into())?;
    within("ToRs", switch.tors.into(), TORS.into())?;
    Ok(StepConfig {
        scheme: parameters.scheme as u32,
        salt: switch.salt,
        mp_hula: placed(switch, parameters.mp_hula)?,
        conga: parameters.conga,
        cflb: parameters.cflb.unwrap_or_default(),
        ..StepConfig::default()
    })
}

fn within(what: &str, number: u32, most: u32) -> Result<u32, Error> {
    if number > most {
        return Err(Error(format!("{number} {what}: the C has room for {most}")));
    }
    Ok(number)
}

/// The parameters at this switch, if its tables have room.
fn placed(switch: &SwitchInfo, config: MpHulaConfig) -> Result<MpHulaConfig, Error> {
    within("flowlet slots", config.hula.flowlet_slots, SLOTS)?;
    within("best hops", config.best_k, BEST_HOPS)?;
    within("mapping rows", config.mapping_rows, SLOTS)?;
    within("association slots", config.association_slots, SLOTS)?;
    let hula = HulaConfig {
        salt: switch.salt,
        tors: switch.tors,
        tor: switch.tor.unwrap_or_default(),
        is_tor: switch.tor.is_some().into(),
        ..config.hula
    };
    Ok(MpHulaConfig { hula, ..config })
}
