//! Configurations of switches in a trace.

use heddle_policy::cflb::{CflbConfig, Cipher, Codec, CodecError, Field, PortRange, Rules};
use heddle_policy::{
    AssociationConfig, DreShift, HulaConfig, LongFlows, MpHulaConfig, ShuttleChoice, ShuttleConfig,
    ShuttleSubflows, Tor, Update,
};
use serde::{Deserialize, Serialize};

use crate::input::hex_bytes;

/// The switch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SwitchInfo {
    /// Salt of its hashes; the router's number for CFLB.
    pub salt: u32,
    /// Its number if it is a ToR.
    pub tor: Option<u16>,
    /// Number of ports, at most 64.
    pub ports: u16,
    /// Number of ToRs in the fabric.
    pub tors: u16,
}

/// The scheme and its parameters.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Config {
    /// ECMP.
    Ecmp(EcmpConfig),
    /// HULA.
    Hula(HulaParameters),
    /// MP-HULA.
    MpHula(MpHulaParameters),
    /// CFLB.
    Cflb(CflbConstants),
    /// The utilisation estimator of a port.
    Dre(DreConfig),
    /// Shuttle.
    Shuttle(ShuttleParameters),
}

/// ECMP has no parameters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EcmpConfig {}

/// HULA's parameters. Times in nanoseconds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HulaParameters {
    /// T_p.
    pub probe_period: u64,
    /// T_fail.
    pub fail_after: u64,
    /// Idle time that a flowlet survives.
    pub flowlet_gap: u64,
    /// Slots of the flowlet table, a power of two.
    pub flowlet_slots: u32,
    /// Bits of the probe's utilisation field.
    pub util_bits: u32,
    /// Update rule.
    pub update: UpdateRule,
    /// Avoids the switch's own ports that are down.
    pub local_detection: bool,
}

/// HULA's update rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum UpdateRule {
    /// Lower, stale, or from the best hop itself.
    Refresh,
    /// Lower or stale only, as printed.
    Listing,
}

/// MP-HULA's parameters.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MpHulaParameters {
    /// HULA's.
    pub hula: HulaParameters,
    /// k.
    pub best_k: u32,
    /// Rows of the subflow mapping tables, a power of two.
    pub mapping_rows: u32,
    /// Association tables of a ToR.
    pub association: AssociationSizes,
    /// Use of the best hop by long flows.
    pub long_flows: LongFlowsRule,
}

/// Association tables.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AssociationSizes {
    /// Slots for subflows, a power of two, at least 4.
    pub slots: u32,
    /// Idle timeout of a subflow in nanoseconds.
    pub idle_after: u64,
}

/// Use of the best hop by long flows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LongFlowsRule {
    /// As all flows.
    Alike,
    /// They leave it to short ones.
    YieldBest,
    /// As all flows, and further subflows leave the hop that the first one takes.
    Apart,
}

/// Shuttle's parameters.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ShuttleParameters {
    /// HULA's. The update rule has no effect.
    pub hula: HulaParameters,
    /// k.
    pub best_k: u32,
    /// Rows of the subflow mapping tables, a power of two.
    pub mapping_rows: u32,
    /// Association tables of a ToR.
    pub association: AssociationSizes,
    /// A queue of 2^`full_queue_shift` bytes counts as a full link.
    pub full_queue_shift: u32,
    /// Figures and costs tell 2^`range_shift` full links apart.
    pub range_shift: u32,
    /// Draws: 1 or 2.
    pub draws: u32,
    /// The rule of the choice.
    pub choice: ChoiceRule,
    /// Hops of the subflows of one connection.
    pub subflows: SubflowsRule,
}

/// Shuttle's choice among hops.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ChoiceRule {
    /// At random, by weight.
    Weighted,
    /// The least cost.
    Least,
}

/// Hops of the subflows of one connection under Shuttle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SubflowsRule {
    /// Each avoids the others' hops.
    Apart,
    /// Each but the first does.
    FirstFree,
    /// Each chooses alone.
    Alike,
}

/// CFLB's network-wide constants.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CflbConstants {
    /// Controllable fields.
    pub field: CflbField,
    /// F.
    pub cipher: CipherName,
    /// B.
    pub radix: u16,
    /// Rules of selectors.
    pub rules: RulesName,
    /// Key in hex: 16 bytes, for Skip32 10.
    #[serde(with = "hex_bytes")]
    pub key: Vec<u8>,
}

/// Controllable fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CflbField {
    /// Both ports.
    Ports,
    /// The source port, from the lowest to the highest.
    SourcePort(u16, u16),
    /// IPv6's flow label.
    FlowLabel,
}

/// Cipher of F.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CipherName {
    /// RC5-32/12/16.
    Rc5,
    /// Skip32.
    Skip32,
    /// A Feistel network with cycle walking.
    Feistel,
}

/// Rules of selectors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RulesName {
    /// A shift for each digit; values that encode no path are hashed.
    Even,
    /// The paper's.
    AsPublished,
}

/// Parameters of the utilisation estimator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DreConfig {
    /// Tau is 2^shift nanoseconds.
    pub shift: u32,
    /// Bytes that the link carries in tau.
    pub full: u64,
}

impl SwitchInfo {
    /// As the policy has it.
    pub fn policy(&self) -> heddle_policy::SwitchInfo {
        heddle_policy::SwitchInfo {
            salt: self.salt,
            tor: self.tor.map(Tor),
            ports: self.ports,
            tors: self.tors,
            same_pod: Vec::new(),
        }
    }
}

impl HulaParameters {
    /// As the policy has it. The estimator of ports is not part of a trace: inputs carry its readings.
    pub fn policy(&self) -> HulaConfig {
        HulaConfig {
            probe_period: self.probe_period,
            fail_after: self.fail_after,
            flowlet_gap: self.flowlet_gap,
            flowlet_slots: self.flowlet_slots as usize,
            tau: DreShift(0),
            util_bits: self.util_bits,
            update: match self.update {
                UpdateRule::Refresh => Update::Refresh,
                UpdateRule::Listing => Update::Listing,
            },
            local_detection: self.local_detection,
        }
    }
}

impl MpHulaParameters {
    /// As the policy has it.
    pub fn policy(&self) -> MpHulaConfig {
        MpHulaConfig {
            hula: self.hula.policy(),
            best_k: self.best_k as usize,
            mapping_rows: self.mapping_rows as usize,
            association: self.association.policy(),
            long_flows: match self.long_flows {
                LongFlowsRule::Alike => LongFlows::Alike,
                LongFlowsRule::YieldBest => LongFlows::YieldBest,
                LongFlowsRule::Apart => LongFlows::Apart,
            },
        }
    }
}

impl AssociationSizes {
    fn policy(&self) -> AssociationConfig {
        AssociationConfig { slots: self.slots as usize, idle_after: self.idle_after }
    }
}

impl ShuttleParameters {
    /// As the policy has it.
    pub fn policy(&self) -> ShuttleConfig {
        ShuttleConfig {
            hula: self.hula.policy(),
            best_k: self.best_k as usize,
            mapping_rows: self.mapping_rows as usize,
            association: self.association.policy(),
            full_queue_shift: self.full_queue_shift,
            range_shift: self.range_shift,
            draws: self.draws,
            choice: match self.choice {
                ChoiceRule::Weighted => ShuttleChoice::Weighted,
                ChoiceRule::Least => ShuttleChoice::Least,
            },
            subflows: match self.subflows {
                SubflowsRule::Apart => ShuttleSubflows::Apart,
                SubflowsRule::FirstFree => ShuttleSubflows::FirstFree,
                SubflowsRule::Alike => ShuttleSubflows::Alike,
            },
            reroute_above: 0,
        }
    }
}

impl CflbConstants {
    /// As the policy has it.
    ///
    /// # Errors
    /// Those of [`Codec::new`].
    pub fn policy(&self) -> Result<Codec, CodecError> {
        let field = match self.field {
            CflbField::Ports => Field::Ports,
            CflbField::SourcePort(low, high) => Field::SourcePort(PortRange { low, high }),
            CflbField::FlowLabel => Field::FlowLabel,
        };
        let cipher = match self.cipher {
            CipherName::Rc5 => Cipher::Rc5,
            CipherName::Skip32 => Cipher::Skip32,
            CipherName::Feistel => Cipher::Feistel,
        };
        let rules = match self.rules {
            RulesName::Even => Rules::Even,
            RulesName::AsPublished => Rules::AsPublished,
        };
        Codec::new(&CflbConfig { field, cipher, radix: self.radix, rules }, &self.key)
    }
}
