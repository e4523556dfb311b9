//! The scheme as the programs take it. What they cannot honour is refused by name.

use std::path::Path;

use anyhow::Context as _;
use heddle_config::Problem;
use heddle_fabric::{Fabric, cflb_config};
use heddle_path_files::{files, keys};
use heddle_policy::DreShift;
use heddle_program::Failure;
use heddle_scenario::{
    self as scenario, CflbCipher, CflbField, CflbRules, FabricFile, HulaUpdate, LongFlows,
    ShuttleChoice, ShuttleSubflows,
};
use heddle_switch_maps::Scheme;
use heddle_switch_maps::abi::{
    self, ASSOCIATION_SLOTS, BEST_HOPS, CflbConstants, FLOWLET_SLOTS, HulaConfig, MAPPING_ROWS,
    MpHulaConfig, MpHulaLong, ShuttleConfig, ShuttleRule,
};
use heddle_units::Time;

use super::SchemeConfig;
use super::resolve::Refused;

/// Tau of the estimators where no scheme needs them, only people who look.
const TAU: u64 = 100_000_000;
/// Bits of utilisation in a probe.
const PROBE_BITS: u8 = 8;

pub(super) fn resolve(scheme: &scenario::Scheme, place: &Place) -> Result<SchemeConfig, Refused> {
    let plain = |scheme| SchemeConfig {
        scheme,
        mp_hula: MpHulaConfig::default(),
        cflb: None,
        dre_shift: DreShift::at_least(TAU).0,
    };
    Ok(match scheme {
        scenario::Scheme::Ecmp => plain(Scheme::Ecmp),
        scenario::Scheme::Hula(hula) => SchemeConfig {
            mp_hula: MpHulaConfig { hula: place.hula(hula)?, ..MpHulaConfig::default() },
            dre_shift: DreShift::at_least(hula.tau.as_nanos()).0,
            ..plain(Scheme::Hula)
        },
        scenario::Scheme::MpHula(mp_hula) => SchemeConfig {
            mp_hula: place.mp_hula(mp_hula)?,
            dre_shift: DreShift::at_least(mp_hula.hula.tau.as_nanos()).0,
            ..plain(Scheme::MpHula)
        },
        scenario::Scheme::Shuttle(shuttle) => SchemeConfig {
            mp_hula: place.shuttle(shuttle)?,
            dre_shift: DreShift::at_least(shuttle.hula.tau.as_nanos()).0,
            ..plain(Scheme::Shuttle)
        },
        scenario::Scheme::Cflb(_) => {
            SchemeConfig { cflb: Some(place.cflb()?), ..plain(Scheme::Cflb) }
        }
        other => {
            let message = format!("the switch does not run {}", other.name());
            return Err(Problem::at("scheme.kind", message)
                .help("\"ecmp\", \"hula\", \"mp-hula\", \"shuttle\" or \"cflb\"")
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

/// A table's size, a power of two that the programs have room for.
fn slots(key: &str, wanted: u32, most: u32) -> Result<u32, Problem> {
    if wanted > most {
        let message = format!("{wanted}: the programs have room for {most}");
        return Err(Problem::at(key, message).help(format!("{most}, or less")));
    }
    Ok(wanted.next_power_of_two())
}

impl Place<'_> {
    fn hula(&self, hula: &scenario::Hula) -> Result<HulaConfig, Problem> {
        if hula.util_bits > PROBE_BITS {
            let message = format!("{}: a probe has {PROBE_BITS} bits", hula.util_bits);
            return Err(Problem::at("scheme.util_bits", message).help("8, or less"));
        }
        let is_tor = self.switch < self.fabric.tors;
        Ok(HulaConfig {
            probe_period: hula.probe_period.as_nanos(),
            fail_after: hula.fail_after.as_nanos(),
            flowlet_gap: hula.flowlets.gap.as_nanos(),
            salt: self.salt,
            flowlet_slots: slots("scheme.flowlet_slots", hula.flowlets.slots, FLOWLET_SLOTS)?,
            tors: self.fabric.tors as u16,
            tor: if is_tor { self.switch as u16 } else { 0 },
            is_tor: is_tor.into(),
            update: match hula.update {
                HulaUpdate::Refresh => abi::HulaUpdate::Refresh as u8,
                HulaUpdate::Listing => abi::HulaUpdate::Listing as u8,
            },
            util_bits: hula.util_bits,
            local_detection: hula.local_detection.into(),
        })
    }

    /// The parameters that MP-HULA and Shuttle share.
    fn mptcp(
        &self,
        hula: &scenario::Hula,
        best_k: u8,
        (associations, mapping_rows): (u32, u32),
        idle: Time,
    ) -> Result<MpHulaConfig, Problem> {
        if u32::from(best_k) > BEST_HOPS {
            let message = format!("{best_k}: the programs have room for {BEST_HOPS}");
            return Err(Problem::at("scheme.best_k", message).help(format!("{BEST_HOPS}, or less")));
        }
        let association_slots = slots("scheme.association_slots", associations, ASSOCIATION_SLOTS)?;
        Ok(MpHulaConfig {
            hula: self.hula(hula)?,
            idle_after: idle.as_nanos(),
            best_k: best_k.into(),
            mapping_rows: slots("scheme.mapping_rows", mapping_rows, MAPPING_ROWS)?,
            association_slots: association_slots.max(4),
            ..MpHulaConfig::default()
        })
    }

    fn mp_hula(&self, own: &scenario::MpHula) -> Result<MpHulaConfig, Problem> {
        let sizes = (own.association_slots, own.mapping_rows);
        let long_flows = match own.long_flows {
            LongFlows::Alike => MpHulaLong::Alike as u32,
            LongFlows::YieldBest => MpHulaLong::Yield as u32,
            LongFlows::Apart => MpHulaLong::Apart as u32,
        };
        let shared = self.mptcp(&own.hula, own.best_k, sizes, own.association_idle)?;
        Ok(MpHulaConfig { long_flows, ..shared })
    }

    fn shuttle(&self, own: &scenario::Shuttle) -> Result<MpHulaConfig, Problem> {
        if own.reroute_above.0 > 0 {
            let message = "this switch does not move running flowlets";
            return Err(Problem::at("scheme.reroute_above", message).help("leave it out"));
        }
        let sizes = (own.association_slots, own.mapping_rows);
        let shuttle = ShuttleConfig {
            full_queue_shift: own.full_queue.0.next_power_of_two().trailing_zeros() as u16,
            range_shift: own.range.trailing_zeros() as u16,
            draws: own.draws.into(),
            choice: match own.choice {
                ShuttleChoice::Weighted => ShuttleRule::Weighted as u32,
                ShuttleChoice::Least => ShuttleRule::Least as u32,
            },
            subflows: match own.subflows {
                ShuttleSubflows::Apart => abi::ShuttleSubflows::Apart as u32,
                ShuttleSubflows::FirstFree => abi::ShuttleSubflows::FirstFree as u32,
                ShuttleSubflows::Alike => abi::ShuttleSubflows::Alike as u32,
            },
        };
        let shared = self.mptcp(&own.hula, own.best_k, sizes, own.association_idle)?;
        Ok(MpHulaConfig { shuttle, ..shared })
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
        let secret = keys::read(&path, cflb_config(constants).cipher)?;
        if let Some(check) = &network.key_check {
            secret
                .verify(check)
                .with_context(|| path.display().to_string())
                .map_err(Failure::from)?;
        }
        let mut key = [0; 16];
        key.iter_mut().zip(secret.bytes()).for_each(|(to, &byte)| *to = byte);
        let (field, (low, high)) = match constants.field {
            CflbField::Ports => (abi::CflbField::Ports, (0, 0)),
            CflbField::SourcePort { low, high } => (abi::CflbField::SourcePort, (low, high)),
            CflbField::FlowLabel => (abi::CflbField::FlowLabel, (0, 0)),
        };
        let cipher = match constants.cipher {
            CflbCipher::Rc5 => abi::CflbCipher::Rc5,
            CflbCipher::Skip32 => abi::CflbCipher::Skip32,
            CflbCipher::Feistel => abi::CflbCipher::Feistel,
        };
        let rules = match constants.rules {
            CflbRules::Even => abi::CflbRules::Even,
            CflbRules::AsPublished => abi::CflbRules::Published,
        };
        Ok(CflbConstants {
            key,
            low,
            high,
            radix: constants.radix,
            field: field as u8,
            cipher: cipher as u8,
            rules: rules as u8,
            pad: [0; 7],
        })
    }
}
