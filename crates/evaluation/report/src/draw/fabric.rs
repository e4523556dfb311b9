//! A network in tiers, each link as two thin lines, one a direction, coloured by utilisation.

use super::ink::{Ink, Medium, load_step};
use super::ramp::{draw_down, draw_ramp};
use super::svg::{Svg, Xy, escape, px};
use super::text;
use crate::model::{FabricMap, Link, Node, Run};

const WIDTH: f64 = 480.0;
/// Horizontal range of the nodes; tier names are left of it.
const INNER: (f64, f64) = (76.0, 476.0);
/// No network has more tiers; nodes above are drawn in the highest.
const HIGHEST: usize = 15;
const FIRST_TIER: f64 = 52.0;
const TIER_GAP: f64 = 76.0;
const FOOT: f64 = 46.0;
const FONT: f64 = 11.0;
const BOX_HEIGHT: f64 = 18.0;
/// The level of a link that was down.
const DOWN: u8 = 255;
/// The level of a link that was full.
const FULL: f32 = 250.0;

/// Positions of nodes and tiers.
struct Places {
    nodes: Vec<Xy>,
    /// The smallest distance between two nodes of each tier.
    gaps: Vec<f64>,
    height: f64,
}

/// Draws the mean utilisation of one run. Lines carry `data-i`: twice the link, plus the direction.
pub(crate) fn draw_fabric(map: &FabricMap, run: &Run, name: &str) -> String {
    let places = Places::of(map);
    let mut svg = Svg::new(Medium::Page);
    let (height, about) = (px(places.height), escape(&format!("{}: {}", map.title, run.name)));
    svg.raw(&format!(
        r#"<svg class="map" viewBox="0 0 {WIDTH} {height}" data-head="0" data-name="{name}" role="img" aria-label="{about}" font-size="{FONT}" font-family="Helvetica,Arial,'Liberation Sans',sans-serif">"#
    ));
    draw_header(&mut svg, map, run);
    draw_links(&mut svg, map, run, &places);
    draw_nodes(&mut svg, map, &places);
    let key = (96.0, places.height - 20.0);
    draw_ramp(&mut svg, key);
    draw_down(&mut svg, key);
    svg.raw("</svg>");
    svg.finish()
}

/// The utilisation of all frames, links and directions, in this order: 0 to 250, and 255 for
/// "down".
pub(crate) fn levels(map: &FabricMap, run: &Run) -> Vec<u8> {
    let level = |load: f32| (load * FULL + 0.5) as u8;
    let frames = 0..map.times.len();
    let entries = frames.flat_map(|f| (0..2 * map.links.len()).map(move |i| (f, i / 2, i % 2)));
    entries.map(|(f, link, way)| FabricMap::load(run, f, link, way).map_or(DOWN, level)).collect()
}

impl Places {
    fn of(map: &FabricMap) -> Places {
        let named = map.tiers.len().saturating_sub(1).min(HIGHEST);
        let top_tier = map.nodes.iter().map(tier_of).max().unwrap_or(0).max(named);
        let tier = |t: usize| shares(map.nodes.iter().filter(|n| tier_of(n) == t).collect());
        let mut tiers: Vec<_> = (0..=top_tier).map(tier).collect();
        let gaps = tiers.iter().map(|shares| smallest_gap(shares)).collect();
        tiers.iter_mut().for_each(|shares| shares.reverse());
        let mut place = |node: &Node| {
            let share = tiers[tier_of(node)].pop().unwrap_or(0.5);
            let y = FIRST_TIER + (top_tier - tier_of(node)) as f64 * TIER_GAP;
            (INNER.0 + share * (INNER.1 - INNER.0), y)
        };
        let nodes = map.nodes.iter().map(&mut place).collect();
        Places { nodes, gaps, height: FIRST_TIER + top_tier as f64 * TIER_GAP + FOOT + 14.0 }
    }

    /// The ends of one direction's line: traffic keeps to the right.
    fn lane(&self, from: usize, to: usize, offset: f64) -> Option<(Xy, Xy)> {
        let (a, b) = (*self.nodes.get(from)?, *self.nodes.get(to)?);
        let (dx, dy) = (b.0 - a.0, b.1 - a.1);
        let length = (dx * dx + dy * dy).sqrt();
        let (ox, oy) =
            if length > 0.0 { (-dy / length * offset, dx / length * offset) } else { (0.0, 0.0) };
        Some(((a.0 + ox, a.1 + oy), (b.0 + ox, b.1 + oy)))
    }

    /// Width of the lines of a link: thin where nodes crowd.
    fn thickness(&self, map: &FabricMap, link: &Link) -> f64 {
        let gap = |n: usize| map.nodes.get(n).and_then(|n| self.gaps.get(tier_of(n))).copied();
        let gap = gap(link.a).unwrap_or(99.0).min(gap(link.b).unwrap_or(99.0));
        (gap / 8.0).clamp(0.8, 2.6)
    }
}

fn tier_of(node: &Node) -> usize {
    node.tier.min(HIGHEST)
}

/// The places of one tier's nodes, 0 to 1.
fn shares(nodes: Vec<&Node>) -> Vec<f64> {
    let count = nodes.len() as f64;
    let even = |i: usize| (i as f64 + 0.5) / count;
    let asked = |n: &Node| n.x.filter(|x| x.is_finite()).map(|x| x.clamp(0.0, 1.0));
    nodes.into_iter().enumerate().map(|(i, n)| asked(n).unwrap_or(even(i))).collect()
}

fn smallest_gap(shares: &[f64]) -> f64 {
    let mut sorted = shares.to_vec();
    sorted.sort_by(f64::total_cmp);
    let gaps = sorted.windows(2).map(|w| w[1] - w[0]);
    gaps.fold(1.0, f64::min) * (INNER.1 - INNER.0)
}

fn draw_header(svg: &mut Svg, map: &FabricMap, run: &Run) {
    let (text, muted) = (svg.paint(Ink::Text), svg.paint(Ink::Muted));
    let bold = format!(r#" font-size="13" font-weight="600" fill="{text}""#);
    svg.text((4.0, 16.0), &bold, &run.name);
    let when = format!(r#" class="when" text-anchor="end" fill="{muted}""#);
    svg.text((WIDTH - 8.0, 16.0), &when, &format!("mean of {} frames", map.times.len()));
}

fn draw_links(svg: &mut Svg, map: &FabricMap, run: &Run, places: &Places) {
    svg.group(r#"class="links""#, |svg| {
        for (i, link) in map.links.iter().enumerate() {
            let thickness = places.thickness(map, link);
            for (direction, (from, to)) in [(link.a, link.b), (link.b, link.a)].iter().enumerate() {
                if let Some(lane) = places.lane(*from, *to, thickness * 0.65) {
                    let load = map.mean_load(run, i, direction);
                    draw_lane(svg, lane, load, thickness, 2 * i + direction);
                }
            }
        }
    });
}

fn draw_lane(svg: &mut Svg, (a, b): (Xy, Xy), load: Option<f32>, thickness: f64, index: usize) {
    let (ink, dash) = match load {
        Some(load) => (Ink::Load(load_step(load)), ""),
        None => (Ink::Axis, r#" stroke-dasharray="2 3""#),
    };
    let (x1, y1, x2, y2) = (px(a.0), px(a.1), px(b.0), px(b.1));
    let (paint, thickness) = (svg.paint(ink), px(thickness));
    svg.raw(&format!(
        r#"<line data-i="{index}" x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}" stroke="{paint}" stroke-width="{thickness}"{dash}/>"#
    ));
}

fn draw_nodes(svg: &mut Svg, map: &FabricMap, places: &Places) {
    let (text, muted) = (svg.paint(Ink::Text), svg.paint(Ink::Muted));
    svg.group(&format!(r#"fill="{muted}""#), |svg| {
        for (tier, name) in map.tiers.iter().enumerate().take(places.gaps.len()) {
            let above = (places.gaps.len() - 1 - tier) as f64;
            let y = FIRST_TIER + above * TIER_GAP + FONT * 0.35;
            svg.text((4.0, y), "", &text::fit(name, FONT, INNER.0 - 8.0));
        }
    });
    svg.group(&format!(r#"text-anchor="middle" fill="{text}""#), |svg| {
        for (node, at) in map.nodes.iter().zip(&places.nodes) {
            draw_node(svg, node, *at, places.gaps[tier_of(node)]);
        }
    });
}

/// A box with the name in it, or a dot where names do not fit.
fn draw_node(svg: &mut Svg, node: &Node, (x, y): Xy, gap: f64) {
    let (fill, rim) = (svg.paint(Ink::Page), svg.paint(Ink::Muted));
    let width = text::width(&node.name, FONT) + 12.0;
    if width + 4.0 > gap {
        let (x, y, r) = (px(x), px(y), px((gap / 5.0).clamp(1.2, 4.0)));
        let name = escape(&node.name);
        svg.raw(&format!(
            r#"<circle cx="{x}" cy="{y}" r="{r}" fill="{rim}"><title>{name}</title></circle>"#
        ));
        return;
    }
    let (left, top) = (px(x - width / 2.0), px(y - BOX_HEIGHT / 2.0));
    let (width, height) = (px(width), px(BOX_HEIGHT));
    svg.raw(&format!(
        r#"<rect x="{left}" y="{top}" width="{width}" height="{height}" rx="4" fill="{fill}" stroke="{rim}"/>"#
    ));
    svg.text((x, y + FONT * 0.35), "", &node.name);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(name: &str, tier: usize) -> Node {
        Node { name: name.into(), tier, x: None }
    }
    fn link(a: usize, b: usize) -> Link {
        Link { a, b, name: String::new(), rate: String::new() }
    }
    fn small() -> FabricMap {
        FabricMap {
            tiers: vec!["ToR".into(), "Core".into()],
            nodes: vec![node("T1", 0), node("C1", 1), node("T2", 0)],
            links: vec![link(0, 1), link(1, 2), link(1, 9)],
            times: vec![0.0, 1.0],
            ..FabricMap::default()
        }
    }

    #[test]
    fn tiers_are_rows_and_nodes_spread_evenly() {
        let places = Places::of(&small());
        let (left, middle, right) = (176.0, 276.0, 376.0);
        let low = FIRST_TIER + TIER_GAP;
        assert_eq!(places.nodes, [(left, low), (middle, FIRST_TIER), (right, low)]);
    }

    #[test]
    fn traffic_keeps_to_the_right() {
        let mut map = small();
        map.nodes = vec![node("down", 0), node("up", 1)];
        let places = Places::of(&map);
        let (from, to) = places.lane(0, 1, 2.0).unwrap(); // upwards: right is east
        assert_eq!((from.0 - places.nodes[0].0, to.0 - places.nodes[1].0), (2.0, 2.0));
        let (from, _) = places.lane(1, 0, 2.0).unwrap();
        assert_eq!(from.0 - places.nodes[1].0, -2.0);
    }

    #[test]
    fn levels_run_over_frames_links_and_directions() {
        let run = Run { name: "r".into(), frames: vec![vec![[0.0, 1.0], [0.5, f32::NAN]]] };
        let none = [DOWN; 2];
        let first = [0, 250, 125, DOWN];
        assert_eq!(levels(&small(), &run), [&first[..], &none, &[DOWN; 6]].concat());
    }

    #[test]
    fn a_link_to_nowhere_is_not_drawn() {
        let svg = draw_fabric(&small(), &Run::default(), "m");
        assert_eq!(svg.matches("<line ").count(), 4);
        assert!(svg.contains(r#"stroke-dasharray="2 3""#)); // nothing known: down
    }
}
