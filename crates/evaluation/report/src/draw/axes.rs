//! Grid, axis lines, ticks and their labels.

use super::ink::Ink;
use super::layout::{AxisLayout, FONT, Layout};
use super::svg::{Pen, Svg, px};
use super::text;

const MAJOR: f64 = 5.0;
const MINOR: f64 = 3.0;

pub(crate) fn draw_axes(svg: &mut Svg, layout: &Layout) {
    svg.stroke(&grid(layout), Pen::solid(Ink::Grid, 1.0));
    svg.stroke(&strokes(layout), Pen::solid(Ink::Axis, 1.0));
    draw_labels(svg, layout);
    draw_titles(svg, layout);
}

fn grid(layout: &Layout) -> String {
    let frame = layout.frame;
    let (left, right) = (px(frame.left), px(frame.right));
    let (top, bottom) = (px(frame.top), px(frame.bottom));
    let upright = places(&layout.x, Kind::Major).map(|x| format!("M{x} {bottom}V{top}"));
    let level = places(&layout.y, Kind::Major).map(|y| format!("M{left} {y}H{right}"));
    upright.chain(level).collect()
}

/// The two axis lines, with their ticks outside.
fn strokes(layout: &Layout) -> String {
    let frame = layout.frame;
    let (left, bottom) = (px(frame.left), px(frame.bottom));
    let axes = format!("M{left} {}V{bottom}H{}", px(frame.top), px(frame.right));
    let tick = |kind| match kind {
        Kind::Major => px(MAJOR),
        Kind::Minor => px(MINOR),
    };
    let both = [Kind::Major, Kind::Minor];
    let x = both.iter().flat_map(|&kind| {
        places(&layout.x, kind).map(|x| format!("M{x} {bottom}v{}", tick(kind))).collect::<Vec<_>>()
    });
    let y = both.iter().flat_map(|&kind| {
        places(&layout.y, kind).map(|y| format!("M{left} {y}h-{}", tick(kind))).collect::<Vec<_>>()
    });
    axes + &x.chain(y).collect::<String>()
}

#[derive(Clone, Copy)]
enum Kind {
    Major,
    Minor,
}

fn places(axis: &AxisLayout, kind: Kind) -> impl Iterator<Item = String> {
    let values = match kind {
        Kind::Major => &axis.ticks.major,
        Kind::Minor => &axis.ticks.minor,
    };
    values.iter().map(|&value| px(axis.map.at(value)))
}

fn draw_labels(svg: &mut Svg, layout: &Layout) {
    let ink = svg.paint(Ink::Muted);
    svg.group(&format!(r#"fill="{ink}" text-anchor="middle""#), |svg| {
        for (&value, label) in layout.x.ticks.major.iter().zip(&layout.x.text.labels) {
            // The last label may be wider than the margin is.
            let rightmost = layout.width - text::width(label, FONT) / 2.0;
            let x = layout.x.map.at(value).min(rightmost);
            svg.text((x, layout.frame.bottom + 18.0), "", label);
        }
    });
    svg.group(&format!(r#"fill="{ink}" text-anchor="end""#), |svg| {
        for (&value, label) in layout.y.ticks.major.iter().zip(&layout.y.text.labels) {
            let y = layout.y.map.at(value) + FONT * 0.35;
            svg.text((layout.frame.left - 9.0, y), "", label);
        }
    });
}

fn draw_titles(svg: &mut Svg, layout: &Layout) {
    let (frame, ink) = (layout.frame, svg.paint(Ink::Text));
    let title = text::fit(&layout.x.text.title, FONT, layout.width);
    svg.group(&format!(r#"fill="{ink}" text-anchor="middle""#), |svg| {
        let middle = (frame.left + frame.right) / 2.0;
        svg.text((middle, frame.bottom + 36.0), "", &title);
        let (x, y) = (14.0, (frame.top + frame.bottom) / 2.0);
        let title = text::fit(&layout.y.text.title, FONT, 2.0 * (layout.height - y).min(y));
        svg.text((x, y), &format!(r#" transform="rotate(-90 {} {})""#, px(x), px(y)), &title);
    });
}
