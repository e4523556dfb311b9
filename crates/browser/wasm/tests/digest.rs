//! Runs of the page against plain runs of the engine, and the file that the page saves against
//! both.

use heddle_browser::choice::Choice;
use heddle_browser::live::{Listener, Row};
use heddle_browser::presets::PRESETS;
use heddle_browser::{FILE, prepare, run};
use heddle_scenario::{Source, load};
use heddle_sim::{Next, simulate};
use heddle_study::summary::RunSummary;

#[derive(Default)]
struct Counted {
    rows: usize,
    flows: usize,
}

impl Listener for Counted {
    fn row(&mut self, row: Row<'_>) {
        self.rows += 1;
        self.flows += row.flows.len() / 2;
    }
}

/// Every preset under both of its schemes, with a link that fails for a while.
#[test]
fn a_run_and_its_saved_file_have_the_digest_and_the_summary_of_the_engine() {
    for (preset, scheme) in PRESETS.iter().flat_map(|preset| preset.schemes.map(|s| (preset, s))) {
        let choice = Choice {
            // A short warm-up: what is before the window is simulated, too.
            text: preset.text.replace("warm_up = \"20ms\"", "warm_up = \"2ms\""),
            scheme: scheme.to_owned(),
            load: "0.5".into(),
            flows: "40".into(),
            seed: "3".into(),
            link: prepare::offer(preset.text).unwrap().links[0].clone(),
            fails_at: "3ms".into(),
            recovers_at: "6ms".into(),
            ..Choice::default()
        };
        let mut counted = Counted::default();
        let finished = run::run(&choice, &mut counted).unwrap();
        assert_eq!(counted.flows, 40, "each flow is told once");
        assert!(counted.rows > 6);

        let file = prepare::prepare(&choice).unwrap().file;
        let no_files = |_: &str| Err(std::io::Error::other("none"));
        let scenario = load(&Source::new(FILE, file), &no_files).unwrap();
        assert_eq!(scenario.seeds, [3]);
        let outcome = simulate(&scenario, 3, &mut |_| Next::Continue).unwrap();
        assert_eq!(finished.summary, RunSummary::new(&scenario, 3, &outcome, 0.0), "{scheme}");
    }
}
