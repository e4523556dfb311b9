//! A map of the network in the page: one drawing a scheme, and all frames for the script.

use serde::Serialize;

use super::anchor;
use super::json::{base64, data, short};
use super::prose::paragraphs;
use crate::draw::{Ink, LOAD_STEPS, Medium, draw_fabric, escape, levels};
use crate::model::{FabricMap, Mark, Run};

/// Data of a map for the script.
#[derive(Serialize)]
struct FabricData<'a> {
    /// Seconds.
    times: Vec<f64>,
    /// Events of a frame, by its number.
    events: Vec<(usize, &'a str)>,
    /// One entry a direction of a link, as many as the drawings number.
    lanes: Vec<[String; 2]>,
    runs: Vec<RunData<'a>>,
    /// The colours from idle to full, and that of a link that is down.
    ramp: Vec<String>,
    down: String,
}

#[derive(Serialize)]
struct RunData<'a> {
    name: &'a str,
    /// Base64 of [`levels`].
    levels: String,
}

pub(crate) fn figure(map: &FabricMap, id: &str) -> String {
    let drawing = |(i, run): (usize, &Run)| {
        let svg = draw_fabric(map, run, &format!("{id}-{}", i + 1));
        format!("<div class=\"panel\">{svg}\n{TOOLS}</div>\n")
    };
    let drawings: String = map.runs.iter().enumerate().map(drawing).collect();
    let drawings =
        if drawings.is_empty() { "<p class=\"none\">no data</p>\n".into() } else { drawings };
    format!(
        "<figure class=\"fabric\" id=\"{id}\">\n<h3>{} {}</h3>\n{}<div class=\"panels\">\n{drawings}</div>\n{}<figcaption>{}</figcaption>\n</figure>\n",
        escape(&map.title),
        anchor(id),
        controls(map, id),
        data(&fabric_data(map)),
        paragraphs(&map.caption),
    )
}

pub(super) const TOOLS: &str = "<div class=\"tools\" hidden><button type=\"button\" data-do=\"svg\" title=\"Download as SVG\">SVG</button><button type=\"button\" data-do=\"png\" title=\"Download as PNG\">PNG</button></div>";

/// Time and schemes, for the script; hidden where there is none. Frames with events are ticks.
fn controls(map: &FabricMap, id: &str) -> String {
    let tick = |mark: &Mark| {
        let (frame, label) = (map.frame_of(mark.at), escape(&mark.label));
        format!("<option value=\"{frame}\" label=\"{label}\"></option>")
    };
    let ticks: String = map.marks.iter().map(tick).collect();
    let last = map.times.len().saturating_sub(1);
    let chip = |run: &Run| {
        let name = escape(&run.name);
        format!("<button type=\"button\" class=\"chip\" aria-pressed=\"true\">{name}</button>")
    };
    let chips: String = map.runs.iter().map(chip).collect();
    format!(
        "<div class=\"controls\" hidden><button type=\"button\" class=\"play\">Play</button><input type=\"range\" list=\"{id}-events\" min=\"0\" max=\"{last}\" value=\"0\" aria-label=\"Time\"><output>mean</output><datalist id=\"{id}-events\">{ticks}</datalist><button type=\"button\" class=\"mean\" aria-pressed=\"true\">Mean</button><span class=\"chips\" role=\"group\" aria-label=\"Schemes\">{chips}</span></div>\n"
    )
}

fn run_data<'a>(map: &FabricMap, run: &'a Run) -> RunData<'a> {
    RunData { name: &run.name, levels: base64(&levels(map, run)) }
}

fn fabric_data(map: &FabricMap) -> FabricData<'_> {
    FabricData {
        times: map.times.iter().map(|&t| short(t)).collect(),
        events: map.marks.iter().map(|m| (map.frame_of(m.at), m.label.as_str())).collect(),
        lanes: (0..map.links.len()).flat_map(|link| lanes(map, link)).collect(),
        runs: map.runs.iter().map(|run| run_data(map, run)).collect(),
        ramp: (0..LOAD_STEPS).map(|step| Medium::Page.paint(Ink::Load(step))).collect(),
        down: Medium::Page.paint(Ink::Axis),
    }
}

/// Both directions of a link: from where to where, and what else is known of it.
fn lanes(map: &FabricMap, link: usize) -> [[String; 2]; 2] {
    let link = &map.links[link];
    let name = |n: usize| map.nodes.get(n).map_or("?", |n| n.name.as_str());
    let about = [link.name.as_str(), link.rate.as_str()];
    let about = about.into_iter().filter(|s| !s.is_empty()).collect::<Vec<_>>().join(", ");
    [(link.a, link.b), (link.b, link.a)]
        .map(|(from, to)| [format!("{} → {}", name(from), name(to)), about.clone()])
}
