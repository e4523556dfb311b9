//! Traces with the decisions of the implementation in Rust.

use std::collections::BTreeMap;
use std::ops::Range;

use heddle_policy::LongFlows;

use crate::config::SwitchInfo;
use crate::counts::counts;
use crate::draw::Generator;
use crate::file::{Trace, TraceStep, VectorFile};
use crate::minimise::minimise;
use crate::mutation::mutations;
use crate::output::Output;
use crate::random::{StepInput, Steps, switch};
use crate::reference::Error;
use crate::schemes::{Config, Kind, reference};

/// Steps of a trace before it is minimised.
const LENGTH: usize = 120;

/// Steps of the trace that is not minimised.
const LONG: usize = 60;

/// Seeds that are tried.
const SEEDS: u64 = 400;

/// A trace of `steps` with the decisions and states of the implementation in Rust.
///
/// # Errors
/// That of [`reference()`].
pub fn trace(
    name: &str,
    source: &str,
    (switch, config): (&SwitchInfo, &Config),
    steps: &[StepInput],
) -> Result<Trace, Error> {
    let mut target = reference(switch, config)?;
    let record = |step: &StepInput| {
        let StepInput { now, rnd, input } = step.clone();
        let output = target.step(now, rnd, &input);
        TraceStep { now, rnd, input, output, state: target.digest() }
    };
    let steps = steps.iter().map(record).collect();
    Ok(Trace {
        name: name.into(),
        source: source.into(),
        switch: switch.clone(),
        config: config.clone(),
        steps,
        counters: counts(&target.counters()),
    })
}

/// The inputs of a file's traces with the decisions and states of the implementation in Rust,
/// whatever the file says of them: for traces from which a port's minimiser has removed steps.
///
/// # Errors
/// That of [`reference()`].
pub fn again(file: &VectorFile) -> Result<VectorFile, Error> {
    let input =
        |step: &TraceStep| StepInput { now: step.now, rnd: step.rnd, input: step.input.clone() };
    let one = |old: &Trace| {
        let steps: Vec<StepInput> = old.steps.iter().map(input).collect();
        trace(&old.name, &old.source, (&old.switch, &old.config), &steps)
    };
    Ok(VectorFile { traces: file.traces.iter().map(one).collect::<Result<_, Error>>()? })
}

/// The trace with its states and counters as they are; its decisions are not touched.
///
/// # Errors
/// That of [`reference()`].
pub fn fill(trace: &Trace) -> Result<Trace, Error> {
    let mut target = reference(&trace.switch, &trace.config)?;
    let mut filled = trace.clone();
    for step in &mut filled.steps {
        target.step(step.now, step.rnd, &step.input);
        step.state = target.digest();
    }
    filled.counters = counts(&target.counters());
    Ok(filled)
}

/// The file of random traces of a scheme: one for each mistake ([`mutations`]) and for each
/// counter, with the fewest steps that show it, and a longer one.
///
/// # Errors
/// That of [`reference()`].
pub fn random_file(kind: Kind) -> Result<VectorFile, Error> {
    let mut found = BTreeMap::new();
    for seed in 0..SEEDS {
        let Draft { switch, config, steps } = Draft::new(kind, seed, LENGTH);
        let right = decisions(&switch, &config, &steps)?;
        for wrong in mutations(&switch, &config) {
            let differs = |steps: &[StepInput]| {
                decisions(&switch, &config, steps) != decisions(&wrong.switch, &wrong.config, steps)
            };
            let name = format!("fails with {}", wrong.name);
            if !found.contains_key(&name)
                && decisions(&wrong.switch, &wrong.config, &steps)? != right
            {
                let source = format!("drawn at random (seed {seed}) and minimised");
                let steps = minimise(&steps, differs);
                found.insert(name.clone(), trace(&name, &source, (&switch, &config), &steps)?);
            }
        }
        for counter in trace("", "", (&switch, &config), &steps)?.counters.into_keys() {
            let name = format!("counts {}", counter.replace('_', " "));
            let counted = |steps: &[StepInput]| {
                trace("", "", (&switch, &config), steps)
                    .is_ok_and(|trace| trace.counters.contains_key(&counter))
            };
            if !found.contains_key(&name) {
                let source = format!("drawn at random (seed {seed}) and minimised");
                let steps = minimise(&steps, counted);
                found.insert(name.clone(), trace(&name, &source, (&switch, &config), &steps)?);
            }
        }
    }
    let mut traces: Vec<Trace> = found.into_values().collect();
    for seed in [1, 2, 3] {
        let Draft { switch, config, steps } = Draft::new(kind, SEEDS + seed, LONG);
        let source = format!("drawn at random (seed {})", SEEDS + seed);
        traces.push(trace("mixed steps", &source, (&switch, &config), &steps)?);
    }
    Ok(VectorFile { traces })
}

/// Random traces of a scheme, one for each seed, of so many steps each: for runs of a port beside
/// the Rust. Every third one of MP-HULA has the rule that the files of traces do not have.
///
/// # Errors
/// That of [`reference()`].
pub fn drawn(kind: Kind, seeds: Range<u64>, length: usize) -> Result<VectorFile, Error> {
    let one = |seed: u64| {
        let Draft { switch, mut config, steps } = Draft::new(kind, seed, length);
        if let (Config::MpHula(mp_hula), 0) = (&mut config, seed % 3) {
            mp_hula.rules.long_flows = LongFlows::Apart;
        }
        trace(&format!("seed {seed}"), "drawn at random", (&switch, &config), &steps)
    };
    Ok(VectorFile { traces: seeds.map(one).collect::<Result<_, Error>>()? })
}

/// A random switch and its steps.
struct Draft {
    switch: SwitchInfo,
    config: Config,
    steps: Vec<StepInput>,
}

impl Draft {
    fn new(kind: Kind, seed: u64, length: usize) -> Draft {
        let place = Kind::ALL.iter().take_while(|other| other.name != kind.name).count();
        let mut draw = Generator(seed << 32 | place as u64);
        let switch = switch(&mut draw);
        let config = kind.config(&mut draw);
        let mut next = Steps::new(&switch, &config);
        let steps = (0..length).map(|_| next.next(&mut draw)).collect();
        Draft { switch, config, steps }
    }
}

/// The decisions on `steps`.
fn decisions(
    switch: &SwitchInfo,
    config: &Config,
    steps: &[StepInput],
) -> Result<Vec<Output>, Error> {
    let mut target = reference(switch, config)?;
    Ok(steps.iter().map(|step| target.step(step.now, step.rnd, &step.input)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_recorded_again_is_what_was_recorded_and_wrong_decisions_are_replaced() {
        let right = drawn(Kind::named("hula").unwrap(), 7..9, 40).unwrap();
        let mut wrong = right.clone();
        wrong.traces[0].steps[3].state ^= 1;
        wrong.traces[1].counters.clear();
        assert_ne!(wrong, right);
        assert_eq!(again(&wrong).unwrap(), right);
    }
}
