//! Reference lines with their labels, and the notice that there is nothing to show.

use super::ink::Ink;
use super::layout::{FONT, Layout};
use super::svg::{Pen, Svg, px};
use super::text;
use crate::axis::drawable;
use crate::model::{Annotation, Plot};

const DOTTED: Pen = Pen { ink: Ink::Muted, width: 1.2, dash: "2 3" };

/// Draws the reference lines that lie inside the frame.
pub(crate) fn draw_annotations(svg: &mut Svg, plot: &Plot, layout: &Layout) {
    let mut floors = Vec::new();
    for annotation in &plot.annotations {
        match annotation {
            Annotation::Vertical { x, label } => draw_upright(svg, layout, *x, label, &mut floors),
            Annotation::Horizontal { y, label } => draw_level(svg, layout, *y, label),
        }
    }
}

/// `floors` keeps where earlier labels ended, so that neighbours go one line lower.
fn draw_upright(svg: &mut Svg, layout: &Layout, x: f64, label: &str, floors: &mut Vec<f64>) {
    let (map, frame) = (&layout.x.map, layout.frame);
    if !map.scale.admits(x) || !(map.values.low..=map.values.high).contains(&x) {
        return;
    }
    let x = map.at(x);
    svg.stroke(&format!("M{} {}V{}", px(x), px(frame.bottom), px(frame.top)), DOTTED);
    let width = text::width(label, FONT);
    let (start, anchor) =
        if x + 6.0 + width > frame.right { (x - 5.0, "end") } else { (x + 5.0, "start") };
    let left = if anchor == "end" { start - width } else { start };
    let line = floors.iter().position(|&end| end < left).unwrap_or(floors.len());
    floors.truncate(line);
    floors.push(left + width + 8.0);
    draw_label(svg, (start, frame.top + 12.0 + 15.0 * line as f64), anchor, label);
}

fn draw_level(svg: &mut Svg, layout: &Layout, y: f64, label: &str) {
    let (map, frame) = (&layout.y.map, layout.frame);
    if !map.scale.admits(y) || !(map.values.low..=map.values.high).contains(&y) {
        return;
    }
    let y = map.at(y);
    svg.stroke(&format!("M{} {}H{}", px(frame.left), px(y), px(frame.right)), DOTTED);
    let above = if y - frame.top < 16.0 { y + 14.0 } else { y - 5.0 };
    draw_label(svg, (frame.right - 4.0, above), "end", label);
}

/// A label that keeps the curves behind it at a distance.
fn draw_label(svg: &mut Svg, at: (f64, f64), anchor: &str, label: &str) {
    let (ink, page) = (svg.paint(Ink::Muted), svg.paint(Ink::Page));
    let halo = format!(r#"stroke="{page}" stroke-width="3" stroke-linejoin="round""#);
    let style = format!(r#" text-anchor="{anchor}" fill="{ink}" {halo} paint-order="stroke""#);
    svg.text(at, &style, label);
}

/// True if any series has a point to draw.
pub(crate) fn has_data(plot: &Plot, layout: &Layout) -> bool {
    let points = plot.series.iter().flat_map(|s| &s.points);
    points.into_iter().any(|p| drawable(plot, layout.y.map.scale, p))
}

/// Says "no data" in the middle of the frame.
pub(crate) fn draw_no_data(svg: &mut Svg, layout: &Layout) {
    let (frame, ink) = (layout.frame, svg.paint(Ink::Muted));
    let middle = ((frame.left + frame.right) / 2.0, (frame.top + frame.bottom) / 2.0);
    svg.text(middle, &format!(r#" text-anchor="middle" font-size="16" fill="{ink}""#), "no data");
}
