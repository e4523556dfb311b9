//! The legend: a sample of each series and its name.

use super::ink::Ink;
use super::layout::{FONT, LEGEND_LINE, Layout, SAMPLE};
use super::marks::{Curve, marker};
use super::svg::{Svg, escape, px};
use super::text;
use crate::model::Style;

pub(crate) fn draw_legend(svg: &mut Svg, curves: &[Curve], layout: &Layout) {
    let text = svg.paint(Ink::Text);
    svg.group(&format!(r#"class="legend" fill="{text}""#), |svg| {
        for (curve, entry) in curves.iter().zip(&layout.legend) {
            let name = escape(curve.name);
            svg.group(&format!(r#"class="key" data-series="{name}""#), |svg| {
                draw_entry(svg, curve, &entry.name, (entry.left, entry.middle));
            });
        }
    });
}

fn draw_entry(svg: &mut Svg, curve: &Curve, label: &str, (x, y): (f64, f64)) {
    let look = curve.look;
    let (length, indent) = SAMPLE;
    let width = indent + text::width(label, FONT);
    // The whole entry takes the pointer, its gaps too.
    let (left, top) = (px(x - 4.0), px(y - LEGEND_LINE / 2.0));
    let (width, height) = (px(width + 8.0), px(LEGEND_LINE));
    svg.raw(&format!(
        r#"<rect x="{left}" y="{top}" width="{width}" height="{height}" rx="4" fill="none" pointer-events="all"/>"#
    ));
    if look.style != Style::Markers {
        svg.stroke(&format!("M{} {}h{}", px(x), px(y), px(length)), look.pen());
    }
    if curve.is_marked() {
        look.draw_markers(svg, &marker(look.slot, (x + length / 2.0, y), look.radius()));
    }
    svg.text((x + indent, y + FONT * 0.35), "", label);
}
