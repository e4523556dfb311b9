//! Configurations that are wrong by one: a port that reads a parameter in this way must fail a trace.

use crate::config::{
    CflbField, ChoiceRule, Config, HulaParameters, LongFlowsRule, RulesName, ShuttleParameters,
    SubflowsRule, SwitchInfo, UpdateRule,
};

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
        Config::Hula(hula) => {
            let all = of_hula(hula).into_iter();
            all.map(|(name, hula)| wrong(name, Config::Hula(hula))).chain([role]).collect()
        }
        Config::MpHula(mp_hula) => {
            let change = |name, edit: &dyn Fn(&mut crate::MpHulaParameters)| {
                let mut mp_hula = mp_hula.clone();
                edit(&mut mp_hula);
                wrong(name, Config::MpHula(mp_hula))
            };
            let mut all: Vec<Mutation> = of_hula(&mp_hula.hula)
                .into_iter()
                .map(|(name, hula)| change(name, &|mp_hula| mp_hula.hula = hula.clone()))
                .collect();
            all.extend([
                role,
                change("one hop more remembered", &|mp_hula| mp_hula.best_k += 1),
                change("twice the mapping rows", &|mp_hula| mp_hula.mapping_rows *= 2),
                change("twice the association slots", &|mp_hula| mp_hula.association.slots *= 2),
                change("subflows idle a nanosecond longer", &|mp_hula| {
                    mp_hula.association.idle_after += 1;
                }),
                change("the other rule for long flows", &|mp_hula| {
                    mp_hula.long_flows = match mp_hula.long_flows {
                        LongFlowsRule::Alike => LongFlowsRule::YieldBest,
                        LongFlowsRule::YieldBest | LongFlowsRule::Apart => LongFlowsRule::Alike,
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
            let change = |name, edit: &dyn Fn(&mut crate::CflbConstants)| {
                let mut constants = constants.clone();
                edit(&mut constants);
                wrong(name, Config::Cflb(constants))
            };
            vec![
                change("the other rules", &|constants| {
                    constants.rules = match constants.rules {
                        RulesName::Even => RulesName::AsPublished,
                        RulesName::AsPublished => RulesName::Even,
                    };
                }),
                change("a radix one higher", &|constants| constants.radix += 1),
                change("a bit of the key", &|constants| constants.key[9] ^= 1),
                change("one port less in the range", &|constants| {
                    if let CflbField::SourcePort(_, high) = &mut constants.field {
                        *high -= 1;
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

fn of_hula(hula: &HulaParameters) -> Vec<(&'static str, HulaParameters)> {
    let change = |name, edit: &dyn Fn(&mut HulaParameters)| {
        let mut hula = hula.clone();
        edit(&mut hula);
        (name, hula)
    };
    vec![
        change("probes suppressed too long", &|hula| hula.probe_period += 8),
        change("entries that age a nanosecond late", &|hula| hula.fail_after += 1),
        change("flowlets that end a nanosecond late", &|hula| hula.flowlet_gap += 1),
        change("twice the flowlet slots", &|hula| hula.flowlet_slots *= 2),
        change("one bit more of utilisation", &|hula| hula.util_bits += 1),
        change("the other update rule", &|hula| {
            hula.update = match hula.update {
                UpdateRule::Refresh => UpdateRule::Listing,
                UpdateRule::Listing => UpdateRule::Refresh,
            };
        }),
        change("ports that are down used, or the reverse", &|hula| {
            hula.local_detection = !hula.local_detection;
        }),
    ]
}

fn of_shuttle(shuttle: &ShuttleParameters) -> Vec<(&'static str, ShuttleParameters)> {
    let change = |name, edit: &dyn Fn(&mut ShuttleParameters)| {
        let mut shuttle = shuttle.clone();
        edit(&mut shuttle);
        (name, shuttle)
    };
    let mut all: Vec<_> = of_hula(&shuttle.hula)
        .into_iter()
        .map(|(name, hula)| change(name, &|shuttle| shuttle.hula = hula.clone()))
        .collect();
    all.extend([
        change("one hop more remembered", &|shuttle| shuttle.best_k += 1),
        change("twice the mapping rows", &|shuttle| shuttle.mapping_rows *= 2),
        change("twice the association slots", &|shuttle| shuttle.association.slots *= 2),
        change("subflows idle a nanosecond longer", &|shuttle| shuttle.association.idle_after += 1),
        change("twice the full queue", &|shuttle| shuttle.full_queue_shift += 1),
        change("twice the range", &|shuttle| shuttle.range_shift += 1),
        change("one draw for two, or the reverse", &|shuttle| {
            shuttle.draws = if shuttle.draws < 2 { 2 } else { 1 };
        }),
        change("the other choice", &|shuttle| {
            shuttle.choice = match shuttle.choice {
                ChoiceRule::Weighted => ChoiceRule::Least,
                ChoiceRule::Least => ChoiceRule::Weighted,
            };
        }),
        change("first subflows apart, or free", &|shuttle| {
            shuttle.subflows = match shuttle.subflows {
                SubflowsRule::Apart => SubflowsRule::FirstFree,
                SubflowsRule::FirstFree | SubflowsRule::Alike => SubflowsRule::Apart,
            };
        }),
        change("subflows alike, or apart", &|shuttle| {
            shuttle.subflows = match shuttle.subflows {
                SubflowsRule::Apart | SubflowsRule::FirstFree => SubflowsRule::Alike,
                SubflowsRule::Alike => SubflowsRule::FirstFree,
            };
        }),
    ]);
    all
}
