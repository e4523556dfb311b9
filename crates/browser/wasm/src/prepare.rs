//! A scenario before it runs: what its file offers to choose, and what is to be drawn.

use heddle_report::{FabricMap, Run};
use heddle_scenario::{Scenario, Until, Variant, complete, variants};
use heddle_sim::forecast;
use heddle_study::overload::offered;
use heddle_study::view::plots::fabric_map;
use serde::Serialize;
use serde_json::Value;

use crate::choice::{Choice, resolve};
use crate::message;

/// Values that the controls of the page offer for a scenario file.
#[derive(Debug, Serialize)]
pub struct Offer {
    /// The scenario's title.
    pub title: String,
    /// Every scheme of the schema.
    pub schemes: Vec<SchemeOffer>,
    /// The variants of the file.
    pub variants: Vec<Variant>,
    /// Links between switches, as scenario files name them.
    pub links: Vec<String>,
    /// The scheme of the file.
    pub scheme: String,
    /// The load of the file, if it has one.
    pub load: Option<f64>,
    /// The flows that the file measures, if it ends by them.
    pub flows: Option<u64>,
    /// The first seed.
    pub seed: u64,
}

/// A scheme.
#[derive(Debug, Serialize)]
pub struct SchemeOffer {
    /// Its name in scenario files.
    pub name: String,
    /// Its description in the schema.
    pub about: String,
    /// The reason why it cannot run in this scenario.
    pub refusal: Option<String>,
}

/// Reads a scenario file for the controls.
///
/// # Errors
/// The command line's message, if the file is wrong.
pub fn offer(text: &str) -> Result<Offer, String> {
    let choice = Choice { text: text.to_owned(), ..Choice::default() };
    let (source, scenario) = choice.resolve().map_err(|error| message(&error))?;
    Ok(Offer {
        title: scenario.title.clone(),
        schemes: schemes(&choice),
        variants: variants(&source).map_err(|error| message(&error))?,
        links: link_names(&scenario),
        scheme: scenario.scheme.name().to_owned(),
        load: scenario.workload.flows().first().map(|flows| flows.load),
        flows: match scenario.measure.until {
            Until::Flows(flows) => Some(flows),
            Until::Time(_) => None,
        },
        seed: seed_of(&scenario),
    })
}

/// The schemes of the schema that need no file of their own, each tried on the scenario.
fn schemes(choice: &Choice) -> Vec<SchemeOffer> {
    let schema = heddle_scenario::schema();
    let variants = schema["$defs"]["Scheme"]["oneOf"].as_array().cloned().unwrap_or_default();
    let needs_only_its_name = |variant: &&Value| {
        variant["required"].as_array().is_none_or(|keys| keys.iter().all(|key| key == "kind"))
    };
    let offer = |variant: &Value| {
        let name = variant["properties"]["kind"]["const"].as_str()?.to_owned();
        let tried = Choice { scheme: name.clone(), ..choice.clone() }.resolve();
        let refusal = tried.err().map(|error| error.message().to_owned());
        let about = variant["description"].as_str().unwrap_or_default().to_owned();
        Some(SchemeOffer { name, about, refusal })
    };
    variants.iter().filter(needs_only_its_name).filter_map(offer).collect()
}

/// Links between switches, each name once.
fn link_names(scenario: &Scenario) -> Vec<String> {
    let graph = &scenario.fabric.graph;
    let node = |node: u32| &graph.nodes[node as usize];
    let between = graph.links.iter().map(|link| (node(link.ends.0), node(link.ends.1)));
    let switches = between.filter(|(a, b)| a.tier > 0 && b.tier > 0);
    let mut names: Vec<String> = switches.map(|(a, b)| format!("{} {}", a.name, b.name)).collect();
    names.dedup();
    names
}

/// A scenario that is ready to run.
#[derive(Debug, Serialize)]
pub struct Prepared {
    /// The scenario's title.
    pub title: String,
    /// The name of the variant, or else of the scheme.
    pub name: String,
    /// The seed of the run.
    pub seed: u64,
    /// The number of measured flows that ends the run, if it ends by them.
    pub flows: Option<u64>,
    /// The scenario file with every default, as `heddle show` prints it: `heddle run` takes it, and
    /// gives the same digest.
    pub file: String,
    /// The fabric as SVG, without utilisation.
    pub drawing: String,
    /// The ends of each direction of the drawing's links, in order.
    pub lanes: Vec<String>,
    /// A warning to read before figures are compared.
    pub warning: Option<String>,
    /// The packet hops that the run is expected to take.
    pub packet_hops: f64,
    /// The memory that it is expected to take, in bytes.
    pub memory: f64,
}

/// Resolves a choice and draws its fabric.
///
/// # Errors
/// The command line's message, if the scenario is wrong.
pub fn prepare(choice: &Choice) -> Result<Prepared, String> {
    let (source, scenario) = choice.resolve().map_err(|error| message(&error))?;
    let file = complete(&source, &scenario).map_err(|error| message(&error))?;
    let file = toml::to_string(&file).map_err(|error| format!("error: {error}"))?;
    // The file that is saved must be one: it is read again before a reader has it.
    resolve(&heddle_scenario::Source::new(crate::FILE, file.clone()))
        .map_err(|error| message(&error))?;
    let offered = offered(&scenario).map_err(|error| format!("error: {error}"))?;
    let expected =
        forecast(&scenario, seed_of(&scenario)).map_err(|error| format!("error: {error}"))?;
    let map = map(&scenario);
    let name = if choice.variant.is_empty() { scenario.scheme.name() } else { &choice.variant };
    let run = Run { name: name.to_owned(), frames: Vec::new() };
    Ok(Prepared {
        title: scenario.title.clone(),
        name: run.name.clone(),
        seed: seed_of(&scenario),
        flows: match scenario.measure.until {
            Until::Flows(flows) => Some(flows),
            Until::Time(_) => None,
        },
        file,
        drawing: map.to_page_svg(&run),
        lanes: lanes(&map).map(|(from, to)| format!("{from} to {to}")).collect(),
        warning: offered.and_then(|offered| offered.warning(&scenario.scheme)),
        packet_hops: expected.packet_hops,
        memory: expected.memory,
    })
}

/// The seed of a page's run: the first.
pub(crate) fn seed_of(scenario: &Scenario) -> u64 {
    scenario.seeds.first().copied().unwrap_or(1)
}

/// The report's drawing of the fabric.
pub(crate) fn map(scenario: &Scenario) -> FabricMap {
    fabric_map("fabric", "Link utilisation", &scenario.fabric.graph, &[])
}

/// The ends of each direction of the drawing's links: where `data-i` of a line counts.
pub(crate) fn lanes(map: &FabricMap) -> impl Iterator<Item = (&str, &str)> {
    let name = |node: usize| map.nodes.get(node).map_or("?", |node| node.name.as_str());
    map.links
        .iter()
        .flat_map(move |link| [(name(link.a), name(link.b)), (name(link.b), name(link.a))])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::presets::PRESETS;

    #[test]
    fn every_preset_offers_its_schemes_and_links() {
        for preset in PRESETS {
            let offer = offer(preset.text).unwrap();
            let refused = |name: &str| {
                offer.schemes.iter().find(|scheme| scheme.name == name).unwrap().refusal.is_some()
            };
            assert!(preset.schemes.iter().all(|name| !refused(name)), "{}", preset.label);
            assert!(!refused("ecmp") && offer.links.len() >= 6 && offer.load.is_some());
            assert!(
                offer.schemes.iter().all(|scheme| scheme.name != "external"),
                "it needs a file"
            );
        }
    }

    /// CONGA's paper has leaves and spines only.
    #[test]
    fn a_scheme_that_does_not_fit_has_the_reason() {
        let offer = offer(PRESETS[1].text).unwrap();
        let conga = offer.schemes.iter().find(|scheme| scheme.name == "conga").unwrap();
        assert!(conga.refusal.is_some() && conga.about.contains("CONGA"));
    }

    /// HULA Fig. 4: four ToRs with two links each to their pod's aggregation switches, and four of
    /// these with two links each to the cores.
    #[test]
    fn a_drawing_has_a_line_for_each_direction_of_each_link() {
        let choice = Choice { text: PRESETS[1].text.to_owned(), ..Choice::default() };
        let prepared = prepare(&choice).unwrap();
        assert_eq!(prepared.drawing.matches("<line ").count(), prepared.lanes.len());
        assert_eq!(offer(PRESETS[1].text).unwrap().links.len(), 4 * 2 + 4 * 2);
        assert_eq!(prepared.lanes.len(), 2 * 16);
        assert_eq!((prepared.name.as_str(), prepared.seed), ("hula", 1));
    }
}
