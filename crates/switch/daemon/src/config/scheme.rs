//! The scheme as the programs take it. What they cannot honour is refused by name.

use std::path::Path;

use anyhow::Context as _;
use heddle_config::Problem;
use heddle_path_files::{files, keys};
use heddle_program::Failure;
use heddle_scenario::{FabricFile, Scheme};
use heddle_switch_maps::Parameters;
use heddle_switch_maps::abi::{
    ASSOCIATION_SLOTS, BEST_HOPS, CflbConstants, FLOWLET_SLOTS, HulaConfig, MAPPING_ROWS,
};
use serde_json::Value;

use super::refused::Refused;

/// Bits of utilisation in a probe.
const PROBE_BITS: u32 = 8;

/// The largest numbers for which the programs have room, by the keys of the schemes' parameters.
const LIMITS: [(&str, u32); 5] = [
    ("best_k", BEST_HOPS),
    ("association_slots", ASSOCIATION_SLOTS),
    ("mapping_rows", MAPPING_ROWS),
    ("util_bits", PROBE_BITS),
    ("flowlet_slots", FLOWLET_SLOTS),
];

/// `cflb` gives CFLB's constants with the key.
pub(super) fn resolve(
    scheme: &Scheme,
    place: &Place,
    cflb: impl FnOnce() -> Result<CflbConstants, Refused>,
) -> Result<Parameters, Refused> {
    let mut parameters = match scheme {
        Scheme::Cflb(_) => cflb()?.into(),
        other => Parameters::of(other).ok_or_else(|| no_programs(other))?,
    };
    check_limits(scheme)?;
    parameters.mp_hula.hula = place.here(parameters.mp_hula.hula);
    Ok(parameters)
}

fn no_programs(scheme: &Scheme) -> Problem {
    Problem::at("scheme.kind", format!("the switch does not run {}", scheme.name()))
        .help(format!("one of {}", Scheme::IN_EBPF.join(", ")))
}

/// Refuses numbers for which the programs have no room.
fn check_limits(scheme: &Scheme) -> Result<(), Refused> {
    let value =
        serde_json::to_value(scheme).context("the scheme as JSON").map_err(Failure::from)?;
    let Some(parameters) = value.get(scheme.name()) else { return Ok(()) };
    for (key, most) in LIMITS {
        let wanted = parameters.get(key).and_then(Value::as_u64);
        if let Some(wanted) = wanted.filter(|&wanted| wanted > most.into()) {
            let message = format!("{wanted}: the programs have room for {most}");
            let help = format!("{most}, or less");
            return Err(Problem::at(&format!("scheme.{key}"), message).help(help).into());
        }
    }
    Ok(())
}

/// The switch for which parameters are.
pub(super) struct Place {
    pub(super) salt: u32,
    /// Numbers of ToRs are below.
    pub(super) tors: u16,
    /// The switch's own, if it is a ToR.
    pub(super) tor: Option<u16>,
}

impl Place {
    /// The parameters at this switch.
    fn here(&self, hula: HulaConfig) -> HulaConfig {
        HulaConfig {
            salt: self.salt,
            tors: self.tors,
            tor: self.tor.unwrap_or(0),
            is_tor: self.tor.is_some().into(),
            ..hula
        }
    }
}

/// CFLB's constants with the key, those of the fabric file at `path`.
pub(super) fn cflb(file: &FabricFile, path: &Path) -> Result<CflbConstants, Refused> {
    let network = &file.cflb;
    let constants = &network.constants;
    let Some(name) = &network.key_file else {
        let message = format!("{} names no key file, and CFLB needs one", path.display());
        let help =
            "key_file = \"fabric.key\" in its [cflb]; heddle path keygen fabric.key makes one";
        return Err(Failure::advised(message, help).into());
    };
    let path = files::folder(path).join(name);
    let secret = keys::read(&path, constants.cipher)?;
    if let Some(check) = &network.key_check {
        secret.verify(check).with_context(|| path.display().to_string()).map_err(Failure::from)?;
    }
    Ok(CflbConstants::new(constants, secret.bytes()))
}
