//! A writer of SVG: escapes text, rounds positions to a hundredth of a pixel.

use super::ink::{Ink, Medium};

/// A position in pixels, from the top left.
pub(crate) type Xy = (f64, f64);

/// SVG in the making.
pub(crate) struct Svg {
    out: String,
    pub medium: Medium,
}

/// Style of a line.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pen {
    pub ink: Ink,
    pub width: f64,
    /// The dash pattern; empty for a solid line.
    pub dash: &'static str,
}

impl Pen {
    pub fn solid(ink: Ink, width: f64) -> Pen {
        Pen { ink, width, dash: "" }
    }
}

impl Svg {
    pub fn new(medium: Medium) -> Svg {
        Svg { out: String::new(), medium }
    }

    /// The finished text.
    pub fn finish(self) -> String {
        self.out
    }

    /// Adds markup as it is.
    pub fn raw(&mut self, markup: &str) {
        self.out.push_str(markup);
    }

    pub fn paint(&self, ink: Ink) -> String {
        self.medium.paint(ink)
    }

    /// A group with attributes around whatever `inside` draws.
    pub fn group(&mut self, attributes: &str, inside: impl FnOnce(&mut Svg)) {
        self.raw(&format!("<g {attributes}>"));
        inside(self);
        self.raw("</g>");
    }

    /// A stroke along path data. Nothing for an empty path.
    pub fn stroke(&mut self, d: &str, pen: Pen) {
        if d.is_empty() {
            return;
        }
        let paint = self.paint(pen.ink);
        let dash = match pen.dash {
            "" => String::new(),
            dash => format!(r#" stroke-dasharray="{dash}""#),
        };
        let width = px(pen.width);
        self.raw(&format!(
            r#"<path d="{d}" fill="none" stroke="{paint}" stroke-width="{width}"{dash}/>"#
        ));
    }

    /// A filled path with a thin rim in the colour of the page, to part it from what lies below.
    pub fn fill(&mut self, d: &str, ink: Ink) {
        if d.is_empty() {
            return;
        }
        let (fill, rim) = (self.paint(ink), self.paint(Ink::Page));
        self.raw(&format!(
            r#"<path d="{d}" fill="{fill}" stroke="{rim}" stroke-width="0.8" paint-order="stroke"/>"#
        ));
    }

    /// A filled path through which what lies below shows.
    pub fn wash(&mut self, d: &str, ink: Ink) {
        if d.is_empty() {
            return;
        }
        let fill = self.paint(ink);
        self.raw(&format!(
            r#"<path class="band" d="{d}" fill="{fill}" fill-opacity="0.12" stroke="{fill}" stroke-opacity="0.45" stroke-width="0.8"/>"#
        ));
    }

    /// Escaped text; `attributes` begin with a space or are empty.
    pub fn text(&mut self, (x, y): Xy, attributes: &str, text: &str) {
        let (x, y, text) = (px(x), px(y), escape(text));
        self.raw(&format!(r#"<text x="{x}" y="{y}"{attributes}>{text}</text>"#));
    }
}

/// A length with at most two decimals and no trailing zeros.
pub(crate) fn px(value: f64) -> String {
    let text = format!("{value:.2}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0".to_owned() } else { text.to_owned() }
}

/// Text that is safe between tags and inside quoted attributes. Characters that XML forbids are
/// left out.
pub(crate) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\t' | '\n' => out.push(c),
            '\u{fffe}' | '\u{ffff}' => {}
            c if c.is_control() => {}
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_are_short() {
        assert_eq!([1.0, 1.5, 1.239, -0.001, 100.0].map(px), ["1", "1.5", "1.24", "0", "100"]);
    }

    #[test]
    fn nothing_gets_out_of_its_quotes() {
        assert_eq!(escape(r#"<b a="1" c='2'>&"#), "&lt;b a=&quot;1&quot; c=&#39;2&#39;&gt;&amp;");
        assert_eq!(escape("a\u{0}b\u{7}c\nd"), "abc\nd");
    }
}
