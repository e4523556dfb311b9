//! Results of runs that go on.

use heddle_scenario::{Source, load};

use super::*;
use crate::progress::Running as _;

/// Runs a scenario with looks at its results so far every so many events; without any if 0.
struct Looked<'a>(&'a Scenario, u64);

impl schemes::WithScheme for Looked<'_> {
    type Output = (Vec<Outcome>, Outcome);

    fn with<S: Scheme>(self, config: S::Config) -> Self::Output {
        let Looked(scenario, every) = self;
        let mut simulation =
            Simulation::<S>::new(scenario, config, 1).unwrap_or_else(|error| panic!("{error}"));
        let mut looks = vec![simulation.so_far()];
        while simulation.step() {
            if every > 0 && simulation.totals.events.is_multiple_of(every) {
                looks.push(simulation.so_far());
            }
        }
        simulation.sample_rest();
        looks.push(simulation.so_far());
        (looks, simulation.finish())
    }
}

/// Each look has the flows that finished until then; the last is the result, and looks change nothing.
#[test]
fn results_so_far_grow_to_the_result() {
    let text = r#"
        fabric = { kind = "leaf-spine", leaves = 2, spines = 2, hosts_per_leaf = 4 }
        scheme = "mp-hula"
        transport = { kind = "mptcp", subflows = 2 }
        workload = [
            { name = "web", kind = "flows", sizes = "fixed:20KB", load = 0.3 },
            { name = "ask", kind = "requests", sizes = "fixed:10KB", outstanding = 1 },
        ]
        measure = { warm_up = "1ms", duration = "5ms", sample_every = "100us" }
    "#;
    let files = |name: &str| Err(std::io::Error::other(name.to_owned()));
    let scenario = load(&Source::new("looked.toml", text), &files).unwrap();
    let run = |every| schemes::dispatch(&scenario.scheme, 1, Looked(&scenario, every)).unwrap();
    let ((looks, outcome), (_, unseen)) = (run(500), run(0));
    assert!(outcome == unseen, "a look changes the run");
    assert!(looks.len() > 20 && looks.last() == Some(&outcome));
    let counts: Vec<usize> = looks.iter().map(|look| look.flows.len()).collect();
    assert!(counts.is_sorted() && counts[0] == 0 && counts[counts.len() / 2] > 0, "{counts:?}");
    for look in &looks {
        assert_eq!(look.flows, outcome.flows[..look.flows.len()]);
        assert_eq!(look.samples.times, outcome.samples.times[..look.samples.times.len()]);
        assert_eq!(look.totals.measured, (look.flows.len() + look.unfinished.len()) as u64);
    }
    assert!(looks.iter().any(|look| !look.unfinished.is_empty() && !look.requests.is_empty()));
}
