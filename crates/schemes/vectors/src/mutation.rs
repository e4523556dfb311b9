//! Configurations that are wrong by one: a port that reads a parameter in this way must fail a
//! trace.

use heddle_policy::cflb::{Field, Rules};
use heddle_policy::{
    CongaConfig, HulaConfig, LetItFlowConfig, LongFlows, MpHulaConfig, ShuttleChoice,
    ShuttleConfig, ShuttleSubflows, Update,
};
use heddle_units::Time;

use crate::config::{CflbConstants, Config, SwitchInfo};

/// A switch with one parameter wrong.
#[derive(Clone, Debug)]
pub struct Mutation {
    /// The mistake.
    pub name: &'static str,
    /// The switch.
    pub switch: SwitchInfo,
    /// Its configuration.
    pub config: Config,
}

/// The mistakes that are possible with a configuration.
pub fn mutations(switch: &SwitchInfo, config: &Config) -> Vec<Mutation> {
    let wrong = |name, config| Mutation { name, switch: switch.clone(), config };
    let salted = SwitchInfo { salt: switch.salt ^ 1, ..switch.clone() };
    let salt = Mutation { name: "another salt", switch: salted, config: config.clone() };
    let role = SwitchInfo { tor: switch.tor.xor(Some(0)), ..switch.clone() };
    let role = Mutation {
        name: "a ToR taken for another switch, or the reverse",
        switch: role,
        config: config.clone(),
    };
    let mut all = match config {
        Config::Ecmp(_) => Vec::new(),
        Config::Dre(dre) => {
            let mut longer = *dre;
            longer.shift += 1;
            let mut wider = *dre;
            wider.full += 1;
            vec![
                wrong("twice the tau", Config::Dre(longer)),
                wrong("a byte more in tau", Config::Dre(wider)),
            ]
        }
        Config::Conga(conga) => {
            let change = |name, edit: &dyn Fn(&mut CongaConfig)| {
                let mut conga = *conga;
                edit(&mut conga);
                wrong(name, Config::Conga(conga))
            };
            vec![
                role,
                change("flowlets that end a nanosecond late", &|conga| {
                    conga.flowlet_gap += Time::nanos(1);
                }),
                change("twice the flowlet slots", &|conga| conga.flowlet_slots *= 2),
                change("one bit more of a metric", &|conga| conga.metric_bits += 1),
                change("metrics that age a nanosecond late", &|conga| {
                    conga.metric_age += Time::nanos(1);
                }),
            ]
        }
        Config::LetItFlow(flowlets) => {
            let change = |name, gap, slots| {
                let flowlet_gap = flowlets.flowlet_gap + Time::nanos(gap);
                let flowlet_slots = flowlets.flowlet_slots * slots;
                wrong(name, Config::LetItFlow(LetItFlowConfig { flowlet_gap, flowlet_slots }))
            };
            vec![
                change("flowlets that end a nanosecond late", 1, 1),
                change("twice the flowlet slots", 0, 2),
            ]
        }
        Config::Hula(hula) => {
            let all = of_hula(hula).into_iter();
            all.map(|(name, hula)| wrong(name, Config::Hula(hula))).chain([role]).collect()
        }
        Config::MpHula(mp_hula) => {
            let change = |name, edit: &dyn Fn(&mut MpHulaConfig)| {
                let mut mp_hula = *mp_hula;
                edit(&mut mp_hula);
                wrong(name, Config::MpHula(mp_hula))
            };
            let mut all: Vec<Mutation> = of_hula(&mp_hula.hula)
                .into_iter()
                .map(|(name, hula)| change(name, &|mp_hula| mp_hula.hula = hula))
                .collect();
            all.extend([
                role,
                change("one hop more remembered", &|mp_hula| mp_hula.tables.best_k += 1),
                change("twice the mapping rows", &|mp_hula| mp_hula.tables.mapping_rows *= 2),
                change("twice the association slots", &|mp_hula| {
                    mp_hula.tables.association_slots *= 2;
                }),
                change("subflows idle a nanosecond longer", &|mp_hula| {
                    mp_hula.tables.association_idle += Time::nanos(1);
                }),
                change("the other rule for long flows", &|mp_hula| {
                    mp_hula.rules.long_flows = match mp_hula.rules.long_flows {
                        LongFlows::Alike => LongFlows::YieldBest,
                        LongFlows::YieldBest | LongFlows::Apart => LongFlows::Alike,
                    };
                }),
            ]);
            all
        }
        Config::Shuttle(shuttle) => {
            let all = of_shuttle(shuttle).into_iter();
            all.map(|(name, shuttle)| wrong(name, Config::Shuttle(shuttle))).chain([role]).collect()
        }
        Config::Cflb(constants) => {
            let change = |name, edit: &dyn Fn(&mut CflbConstants)| {
                let mut constants = constants.clone();
                edit(&mut constants);
                wrong(name, Config::Cflb(constants))
            };
            vec![
                change("the other rules", &|constants| {
                    constants.rules = match constants.rules {
                        Rules::Even => Rules::AsPublished,
                        Rules::AsPublished => Rules::Even,
                    };
                }),
                change("a radix one higher", &|constants| constants.radix += 1),
                change("a bit of the key", &|constants| constants.key[9] ^= 1),
                change("one port less in the range", &|constants| {
                    if let Field::SourcePort(range) = &mut constants.field {
                        range.high -= 1;
                    }
                }),
            ]
        }
    };
    if !matches!(config, Config::Dre(_)) {
        all.push(salt);
    }
    all
}

fn of_hula(hula: &HulaConfig) -> Vec<(&'static str, HulaConfig)> {
    let change = |name, edit: &dyn Fn(&mut HulaConfig)| {
        let mut hula = *hula;
        edit(&mut hula);
        (name, hula)
    };
    vec![
        change("probes suppressed too long", &|hula| hula.probe_period += Time::nanos(8)),
        change("entries that age a nanosecond late", &|hula| {
            hula.fail_after = Some(hula.fail_after() + Time::nanos(1));
        }),
        change("flowlets that end a nanosecond late", &|hula| hula.flowlet_gap += Time::nanos(1)),
        change("twice the flowlet slots", &|hula| hula.flowlet_slots *= 2),
        change("one bit more of utilisation", &|hula| hula.util_bits += 1),
        change("the other update rule", &|hula| {
            hula.update = match hula.update {
                Update::Refresh => Update::Listing,
                Update::Listing => Update::Refresh,
            };
        }),
        change("ports that are down used, or the reverse", &|hula| {
            hula.local_detection = !hula.local_detection;
        }),
    ]
}

fn of_shuttle(shuttle: &ShuttleConfig) -> Vec<(&'static str, ShuttleConfig)> {
    let change = |name, edit: &dyn Fn(&mut ShuttleConfig)| {
        let mut shuttle = *shuttle;
        edit(&mut shuttle);
        (name, shuttle)
    };
    let mut all: Vec<_> = of_hula(&shuttle.hula)
        .into_iter()
        .map(|(name, hula)| change(name, &|shuttle| shuttle.hula = hula))
        .collect();
    all.extend([
        change("one hop more remembered", &|shuttle| shuttle.tables.best_k += 1),
        change("twice the mapping rows", &|shuttle| shuttle.tables.mapping_rows *= 2),
        change("twice the association slots", &|shuttle| shuttle.tables.association_slots *= 2),
        change("subflows idle a nanosecond longer", &|shuttle| {
            shuttle.tables.association_idle += Time::nanos(1);
        }),
        change("twice the full queue", &|shuttle| shuttle.rules.full_queue.0 *= 2),
        change("twice the range", &|shuttle| shuttle.rules.range *= 2),
        change("one draw for two, or the reverse", &|shuttle| {
            shuttle.rules.draws = if shuttle.rules.draws < 2 { 2 } else { 1 };
        }),
        change("the other choice", &|shuttle| {
            shuttle.rules.choice = match shuttle.rules.choice {
                ShuttleChoice::Weighted => ShuttleChoice::Least,
                ShuttleChoice::Least => ShuttleChoice::Weighted,
            };
        }),
        change("first subflows apart, or free", &|shuttle| {
            shuttle.rules.subflows = match shuttle.rules.subflows {
                ShuttleSubflows::Apart => ShuttleSubflows::FirstFree,
                ShuttleSubflows::FirstFree | ShuttleSubflows::Alike => ShuttleSubflows::Apart,
            };
        }),
        change("subflows alike, or apart", &|shuttle| {
            shuttle.rules.subflows = match shuttle.rules.subflows {
                ShuttleSubflows::Apart | ShuttleSubflows::FirstFree => ShuttleSubflows::Alike,
                ShuttleSubflows::Alike => ShuttleSubflows::FirstFree,
            };
        }),
    ]);
    all
}
