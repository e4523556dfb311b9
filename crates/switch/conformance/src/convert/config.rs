//! Configurations as the C has them.

use heddle_vectors::{Config, Error, SwitchInfo};

use crate::abi::{
    CflbConstants, DreConfig, HulaConfig, MpHulaConfig, STEP_DRE, StepConfig, SwitchScheme,
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
    let config_of = |scheme: SwitchScheme| StepConfig { scheme: scheme as u32, ..empty };
    Ok(match config {
        Config::Ecmp(_) => config_of(SwitchScheme::Ecmp),
        Config::Hula(own) => {
            let mp_hula = MpHulaConfig { hula: own.into(), ..MpHulaConfig::default() };
            StepConfig { mp_hula: placed(switch, mp_hula)?, ..config_of(SwitchScheme::Hula) }
        }
        Config::MpHula(own) => {
            StepConfig { mp_hula: placed(switch, own.into())?, ..config_of(SwitchScheme::MpHula) }
        }
        Config::Shuttle(own) => {
            StepConfig { mp_hula: placed(switch, own.into())?, ..config_of(SwitchScheme::Shuttle) }
        }
        Config::Conga(own) => {
            let mp_hula = MpHulaConfig { hula: own.into(), ..MpHulaConfig::default() };
            let mp_hula = placed(switch, mp_hula)?;
            StepConfig { mp_hula, conga: own.into(), ..config_of(SwitchScheme::Conga) }
        }
        Config::LetItFlow(own) => {
            let mp_hula = MpHulaConfig { hula: own.into(), ..MpHulaConfig::default() };
            StepConfig { mp_hula: placed(switch, mp_hula)?, ..config_of(SwitchScheme::LetItFlow) }
        }
        Config::Cflb(own) => {
            let cflb = CflbConstants::new(&own.config(), &own.key);
            StepConfig { cflb, ..config_of(SwitchScheme::Cflb) }
        }
        Config::Dre(dre) => {
            let dre = DreConfig { full: dre.full, shift: dre.shift, pad: 0 };
            StepConfig { dre, scheme: STEP_DRE, ..empty }
        }
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
