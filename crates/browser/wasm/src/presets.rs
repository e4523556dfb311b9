//! Scenarios to start from.

use serde::Serialize;

/// A scenario file, and what the controls of the page have at first.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Preset {
    /// The entry in the list of scenarios.
    pub label: &'static str,
    /// The effect to be seen, in a sentence.
    pub about: &'static str,
    /// The text of the file.
    pub text: &'static str,
    /// The number of flows that take a browser seconds; files of papers have many more.
    pub flows: u32,
    /// Schemes to compare at first.
    pub schemes: [&'static str; 2],
    /// The link that fails; empty for none.
    pub link: &'static str,
    /// The time at which it fails; empty where none does.
    pub fails_at: &'static str,
}

/// The scenarios, in the order of the list. The page runs the first as it opens.
pub const PRESETS: [Preset; 4] = [
    Preset {
        label: "A link dies: ECMP and HULA",
        about: "The link between leaf-1 and spine-1 dies at 2 ms: ECMP sends flows into it until routing has \
                converged, 10 ms later; HULA gets no more probes over it, and leaves it within a millisecond.",
        text: include_str!("story.toml"),
        flows: 2000,
        schemes: ["ecmp", "hula"],
        link: "leaf-1 spine-1",
        fails_at: "2ms",
    },
    Preset {
        label: "HULA's fabric: two pods, TCP",
        about: "Web search at 70 % load on the fabric of HULA's paper (Fig. 5a): ECMP balances it by a hash, HULA \
                by probes.",
        text: include_str!("../../../../scenarios/hula-fig5.toml"),
        flows: 500,
        schemes: ["ecmp", "hula"],
        link: "",
        fails_at: "",
    },
    Preset {
        label: "MP-HULA's fabric: two pods, MPTCP",
        about: "The same fabric under MPTCP with two subflows, which MP-HULA keeps apart (MP-HULA's Fig. 5).",
        text: include_str!("../../../../scenarios/mp-hula-fig5.toml"),
        flows: 500,
        schemes: ["hula", "mp-hula"],
        link: "",
        fails_at: "",
    },
    Preset {
        label: "A small leaf-spine fabric",
        about: "Web search at 60 % load between three leaves over two spines, under ECMP and CONGA.",
        text: include_str!("../../../../scenarios/small-leaf-spine.toml"),
        flows: 200,
        schemes: ["ecmp", "conga"],
        link: "",
        fails_at: "",
    },
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::choice::Choice;
    use crate::prepare::prepare;

    /// HULA of the first preset leaves the dead link 3 probe periods after 2 ms, routing 10 ms
    /// after it; a browser computes a few million packet hops in a second.
    #[test]
    fn the_first_preset_is_what_its_sentence_says_and_runs_in_a_second() {
        let [story, ..] = PRESETS;
        let choice = Choice {
            text: story.text.to_owned(),
            flows: story.flows.to_string(),
            link: story.link.to_owned(),
            fails_at: story.fails_at.to_owned(),
            ..Choice::default()
        };
        let (_, scenario) = choice.resolve().unwrap();
        let event = &scenario.events[0];
        assert_eq!((event.at, event.links.len()), (heddle_units::Time::millis(2), 1));
        assert_eq!(scenario.fabric.convergence, heddle_units::Time::millis(10));
        let prepared = prepare(&choice).unwrap();
        assert!((1e5..2e6).contains(&prepared.packet_hops), "{}", prepared.packet_hops);
    }
}
