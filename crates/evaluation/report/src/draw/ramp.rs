//! The key to the colours of utilisation.

use super::ink::{Ink, LOAD_STEPS};
use super::svg::{Pen, Svg, Xy, px};

const STEP: f64 = 20.0;

/// Draws the key to the right of `x` and below `y`; its name stands left of it.
pub(crate) fn draw_ramp(svg: &mut Svg, (x, y): Xy) {
    let muted = svg.paint(Ink::Muted);
    for i in 0..LOAD_STEPS {
        let (x, y, paint) = (px(x + STEP * i as f64), px(y), svg.paint(Ink::Load(i)));
        svg.raw(&format!(r#"<rect x="{x}" y="{y}" width="{STEP}" height="8" fill="{paint}"/>"#));
    }
    svg.group(&format!(r#"fill="{muted}""#), |svg| {
        svg.text((x - 16.0, y + 8.0), r#" text-anchor="end""#, "Utilisation   0");
        svg.text((x + STEP * LOAD_STEPS as f64 + 8.0, y + 8.0), "", "100 %");
    });
}

/// The sign of links that are down, behind [`draw_ramp`] at the same place.
pub(crate) fn draw_down(svg: &mut Svg, (x, y): Xy) {
    let (muted, end) = (svg.paint(Ink::Muted), x + STEP * LOAD_STEPS as f64);
    svg.text((end + 92.0, y + 8.0), &format!(r#" fill="{muted}""#), "down");
    let dash = Pen { ink: Ink::Axis, width: 2.0, dash: "2 3" };
    svg.stroke(&format!("M{} {}h24", px(end + 66.0), px(y + 4.0)), dash);
}
