//! The scheme as the programs take it. What they cannot honour is refused by name.

use std::path::Path;

use anyhow::Context as _;
use heddle_config::Problem;
use heddle_fabric::Fabric;
use heddle_path_files::{files, keys};
use heddle_policy::{self as policy, DreShift, Scheme as _};
use heddle_program::Failure;
use heddle_scenario::{self as scenario, FabricFile};
use heddle_switch_maps::Scheme;
use heddle_switch_maps::abi::{
    ASSOCIATION_SLOTS, BEST_HOPS, CflbConstants, CongaConfig, FLOWLET_SLOTS, HulaConfig,
    MAPPING_ROWS, MpHulaConfig,
};

use super::SchemeConfig;
use super::refused::Refused;

/// Tau of the estimators where no scheme needs them, only people who look.
const TAU: u64 = 100_000_000;
/// Bits of utilisation in a probe.
const PROBE_BITS: u8 = 8;

pub(super) fn resolve(scheme: &scenario::Scheme, place: &Place) -> Result<SchemeConfig, Refused> {
    let plain = |scheme| SchemeConfig {
        scheme,
        mp_hula: MpHulaConfig::default(),
        conga: CongaConfig::default(),
        cflb: None,
        dre_shift: DreShift::at_least(TAU).0,
    };
    Ok(match scheme {
        scenario::Scheme::Ecmp => plain(Scheme::Ecmp),
        scenario::Scheme::Hula(hula) => SchemeConfig {
            mp_hula: place.hula(hula)?,
            dre_shift: policy::Hula::dre_shift(hula).0,
            ..plain(Scheme::Hula)
        },
        scenario::Scheme::MpHula(mp_hula) => SchemeConfig {
            mp_hula: place.mp_hula(mp_hula)?,
            dre_shift: policy::MpHula::dre_shift(mp_hula).0,
            ..plain(Scheme::MpHula)
        },
        scenario::Scheme::Shuttle(shuttle) => SchemeConfig {
            mp_hula: place.shuttle(shuttle)?,
            dre_shift: policy::Shuttle::dre_shift(shuttle).0,
            ..plain(Scheme::Shuttle)
        },
        scenario::Scheme::Cflb(_) => {
            SchemeConfig { cflb: Some(place.cflb()?), ..plain(Scheme::Cflb) }
        }
        scenario::Scheme::Conga(own) => {
            within("scheme.flowlet_slots", own.flowlet_slots, FLOWLET_SLOTS)?;
            let hula = place.here(own.into());
            SchemeConfig {
                mp_hula: MpHulaConfig { hula, ..MpHulaConfig::default() },
                conga: own.into(),
                dre_shift: policy::Conga::dre_shift(own).0,
                ..plain(Scheme::Conga)
            }
        }
        scenario::Scheme::LetItFlow(own) => {
            within("scheme.flowlet_slots", own.flowlet_slots, FLOWLET_SLOTS)?;
            let hula = place.here(own.into());
            let mp_hula = MpHulaConfig { hula, ..MpHulaConfig::default() };
            SchemeConfig { mp_hula, ..plain(Scheme::LetItFlow) }
        }
        other => {
            let message = format!("the switch does not run {}", other.name());
            return Err(Problem::at("scheme.kind", message)
                .help(format!("one of {}", scenario::Scheme::IN_EBPF.join(", ")))
                .into());
        }
    })
}

/// The switch for which parameters are.
pub(super) struct Place<'a> {
    /// The fabric file, and its path.
    pub(super) file: &'a FabricFile,
    pub(super) path: &'a Path,
    pub(super) fabric: &'a Fabric,
    pub(super) switch: u32,
    pub(super) salt: u32,
}

/// Refuses a number for which the programs have no room.
fn within(key: &str, wanted: u32, most: u32) -> Result<(), Problem> {
    if wanted <= most {
        return Ok(());
    }
    let message = format!("{wanted}: the programs have room for {most}");
    Err(Problem::at(key, message).help(format!("{most}, or less")))
}

/// Refuses what the programs cannot honour.
fn check_hula(hula: &policy::HulaConfig) -> Result<(), Problem> {
    if hula.util_bits > PROBE_BITS {
        let message = format!("{}: a probe has {PROBE_BITS} bits", hula.util_bits);
        return Err(Problem::at("scheme.util_bits", message).help("8, or less"));
    }
    within("scheme.flowlet_slots", hula.flowlet_slots, FLOWLET_SLOTS)
}

fn check_tables(tables: &policy::MptcpTablesConfig) -> Result<(), Problem> {
    within("scheme.best_k", tables.best_k.into(), BEST_HOPS)?;
    within("scheme.association_slots", tables.association_slots, ASSOCIATION_SLOTS)?;
    within("scheme.mapping_rows", tables.mapping_rows, MAPPING_ROWS)
}

impl Place<'_> {
    /// The parameters at this switch.
    fn here(&self, hula: HulaConfig) -> HulaConfig {
        let is_tor = self.switch < self.fabric.tors;
        HulaConfig {
            salt: self.salt,
            tors: self.fabric.tors as u16,
            tor: if is_tor { self.switch as u16 } else { 0 },
            is_tor: is_tor.into(),
            ..hula
        }
    }

    fn hula(&self, own: &policy::HulaConfig) -> Result<MpHulaConfig, Problem> {
        check_hula(own)?;
        Ok(MpHulaConfig { hula: self.here(own.into()), ..MpHulaConfig::default() })
    }

    fn mp_hula(&self, own: &policy::MpHulaConfig) -> Result<MpHulaConfig, Problem> {
        check_tables(&own.tables)?;
        check_hula(&own.hula)?;
        let config = MpHulaConfig::from(own);
        Ok(MpHulaConfig { hula: self.here(config.hula), ..config })
    }

    fn shuttle(&self, own: &policy::ShuttleConfig) -> Result<MpHulaConfig, Problem> {
        check_tables(&own.tables)?;
        check_hula(&own.hula)?;
        let config = MpHulaConfig::from(own);
        Ok(MpHulaConfig { hula: self.here(config.hula), ..config })
    }

    /// CFLB's constants with the key, those of the fabric file.
    fn cflb(&self) -> Result<CflbConstants, Refused> {
        let network = &self.file.cflb;
        let constants = &network.constants;
        let Some(name) = &network.key_file else {
            let message = format!("{} names no key file, and CFLB needs one", self.path.display());
            let help =
                "key_file = \"fabric.key\" in its [cflb]; heddle path keygen fabric.key makes one";
            return Err(Failure::advised(message, help).into());
        };
        let path = files::folder(self.path).join(name);
        let secret = keys::read(&path, constants.cipher)?;
        if let Some(check) = &network.key_check {
            secret
                .verify(check)
                .with_context(|| path.display().to_string())
                .map_err(Failure::from)?;
        }
        Ok(CflbConstants::new(constants, secret.bytes()))
    }
}
