//! Selection of the policy and its parameters from a scenario.

use heddle_fabric::cflb_config;
use heddle_policy as policy;
use heddle_policy::cflb::{Codec, CodecError};
use heddle_policy::{DreShift, Scheme as Policy};
use heddle_scenario::{
    Cflb, Conga, CongaPrime, Detection, Entropy, Flowcut, Hula, HulaUpdate, LongFlows, MpHula,
    Scheme, Shuttle, ShuttleChoice, ShuttleSubflows,
};

use crate::progress::SimError;
use crate::random::{Random, Stream};

/// An action that is generic over the scheme.
pub(crate) trait WithScheme {
    type Output;
    fn with<S: Policy>(self, config: S::Config) -> Self::Output;
}

/// Runs the action `then` with the policy of a scenario.
///
/// # Errors
/// CFLB constants that make no codec; the loader of scenarios rejects these. A scheme in a shared library: the engine opens no files.
pub(crate) fn dispatch<W: WithScheme>(
    scheme: &Scheme,
    seed: u64,
    then: W,
) -> Result<W::Output, SimError> {
    Ok(match scheme {
        Scheme::Cflb(cflb) => then.with::<policy::Cflb>(codec(cflb, seed)?),
        Scheme::Ecmp | Scheme::Ideal => then.with::<policy::Ecmp>(()),
        Scheme::EcmpNs2 => then.with::<policy::EcmpNs2>(()),
        Scheme::Hula(hula) => then.with::<policy::Hula>(hula_config(hula)),
        Scheme::MpHula(mp_hula) => then.with::<policy::MpHula>(mp_hula_config(mp_hula)),
        Scheme::Shuttle(shuttle) => then.with::<policy::Shuttle>(shuttle_config(shuttle)),
        Scheme::CongaPrime(prime) => then.with::<policy::CongaPrime>(conga_prime_config(prime)),
        Scheme::Conga(conga) => then.with::<policy::Conga>(conga_config(conga)),
        Scheme::LetItFlow(flowlets) => then.with::<policy::LetItFlow>(policy::LetItFlowConfig {
            flowlet_gap: flowlets.gap.as_nanos(),
            flowlet_slots: flowlets.slots as usize,
        }),
        Scheme::Drill(drill) => then.with::<policy::Drill>(policy::DrillConfig {
            samples: usize::from(drill.samples),
            memory: usize::from(drill.memory),
        }),
        Scheme::Flowcut(flowcut) => then.with::<policy::Flowcut>(flowcut_config(flowcut)),
        Scheme::Spray => then.with::<policy::Spray>(()),
        Scheme::External(external) => {
            let reason = "its library is to be loaded by the caller, and run by `simulate_with`";
            return Err(SimError::External(format!("{}: {reason}", external.library)));
        }
    })
}

/// CFLB codec of the routers and senders of a run; the key is derived from the seed.
pub(crate) fn codec(cflb: &Cflb, seed: u64) -> Result<Codec, CodecError> {
    let mut random = Random::new(seed, Stream::CflbKey);
    let key: [u8; 16] = std::array::from_fn(|_| random.bits() as u8);
    let config = cflb_config(&cflb.constants);
    Codec::new(&config, &key[..config.cipher.key_bytes()])
}

/// The policy's parameters of a scenario's HULA.
pub fn hula_config(hula: &Hula) -> policy::HulaConfig {
    policy::HulaConfig {
        probe_period: hula.probe_period.as_nanos(),
        fail_after: hula.fail_after.as_nanos(),
        flowlet_gap: hula.flowlets.gap.as_nanos(),
        flowlet_slots: hula.flowlets.slots as usize,
        tau: DreShift::at_least(hula.tau.as_nanos()),
        util_bits: u32::from(hula.util_bits),
        update: match hula.update {
            HulaUpdate::Refresh => policy::Update::Refresh,
            HulaUpdate::Listing => policy::Update::Listing,
        },
        local_detection: hula.local_detection,
    }
}

/// The policy's parameters of a scenario's MP-HULA.
pub fn mp_hula_config(mp_hula: &MpHula) -> policy::MpHulaConfig {
    policy::MpHulaConfig {
        hula: hula_config(&mp_hula.hula),
        best_k: usize::from(mp_hula.best_k),
        mapping_rows: mp_hula.mapping_rows as usize,
        association: policy::AssociationConfig {
            slots: mp_hula.association_slots as usize,
            idle_after: mp_hula.association_idle.as_nanos(),
        },
        long_flows: match mp_hula.long_flows {
            LongFlows::Alike => policy::LongFlows::Alike,
            LongFlows::YieldBest => policy::LongFlows::YieldBest,
            LongFlows::Apart => policy::LongFlows::Apart,
        },
    }
}

/// The policy's parameters of a scenario's Shuttle.
pub fn shuttle_config(shuttle: &Shuttle) -> policy::ShuttleConfig {
    policy::ShuttleConfig {
        hula: hula_config(&shuttle.hula),
        best_k: usize::from(shuttle.best_k),
        mapping_rows: shuttle.mapping_rows as usize,
        association: policy::AssociationConfig {
            slots: shuttle.association_slots as usize,
            idle_after: shuttle.association_idle.as_nanos(),
        },
        full_queue_shift: shuttle.full_queue.0.next_power_of_two().trailing_zeros(),
        range_shift: shuttle.range.trailing_zeros(),
        draws: u32::from(shuttle.draws),
        choice: match shuttle.choice {
            ShuttleChoice::Weighted => policy::ShuttleChoice::Weighted,
            ShuttleChoice::Least => policy::ShuttleChoice::Least,
        },
        subflows: match shuttle.subflows {
            ShuttleSubflows::Apart => policy::ShuttleSubflows::Apart,
            ShuttleSubflows::FirstFree => policy::ShuttleSubflows::FirstFree,
            ShuttleSubflows::Alike => policy::ShuttleSubflows::Alike,
        },
        reroute_above: u32::try_from(shuttle.reroute_above.0).unwrap_or(u32::MAX),
    }
}

fn flowcut_config(flowcut: &Flowcut) -> policy::FlowcutConfig {
    let after = u32::try_from(flowcut.drain_after.0).unwrap_or(u32::MAX);
    policy::FlowcutConfig {
        flow_slots: flowcut.flow_slots as usize,
        lost_after: flowcut.lost_after.as_nanos(),
        drain: flowcut.drain_ratio.map(|ratio| policy::DrainConfig { ratio: ratio.into(), after }),
    }
}

fn conga_prime_config(prime: &CongaPrime) -> policy::CongaPrimeConfig {
    policy::CongaPrimeConfig {
        conga: conga_config(&prime.conga),
        detection: match prime.detection {
            Detection::EverySwitch => policy::Detection::EverySwitch,
            Detection::SourceTor => policy::Detection::SourceTor,
        },
    }
}

/// The policy by which hosts choose entropy values; `None` if they choose none.
pub(crate) fn entropy_config(entropy: &Entropy) -> Option<policy::entropy::Config> {
    use policy::entropy::{Config, FlowBenderConfig, PlbConfig, RepsConfig, Share};
    let share = |threshold: f64| Share((threshold * 65_536.0) as u32);
    match entropy {
        Entropy::Flow => None,
        Entropy::Spray => Some(Config::Spray),
        Entropy::FlowBender(flowbender) => Some(Config::FlowBender(FlowBenderConfig {
            threshold: share(flowbender.threshold),
            rounds: flowbender.rounds,
        })),
        Entropy::Plb(plb) => Some(Config::Plb(PlbConfig {
            threshold: share(plb.threshold),
            rehash_rounds: plb.rehash_rounds,
            idle_rehash_rounds: plb.idle_rehash_rounds,
            suspend: plb.suspend.as_nanos(),
        })),
        Entropy::Reps(reps) => {
            Some(Config::Reps(RepsConfig { freeze: reps.freeze.as_nanos(), explore: reps.explore }))
        }
    }
}

fn conga_config(conga: &Conga) -> policy::CongaConfig {
    policy::CongaConfig {
        flowlet_gap: conga.flowlets.gap.as_nanos(),
        flowlet_slots: conga.flowlets.slots as usize,
        tau: DreShift::at_least(conga.tau.as_nanos()),
        metric_bits: u32::from(conga.metric_bits),
        metric_age: conga.metric_age.as_nanos(),
    }
}
