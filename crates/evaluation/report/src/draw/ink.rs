//! Colours: what is drawn in which, on paper and on screen, light and dark.
//!
//! The series colours keep to the hues of M. Okabe and K. Ito, "Color Universal Design" (2008),
//! with lightness spread further so that every pair stays apart under protanopia, deuteranopia and
//! tritanopia, and every line stands out from both backgrounds. The load ramp falls steadily in
//! lightness, so that it reads in print and without colour vision.

/// Role of a stroke or a fill; its colour depends on the theme.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ink {
    Page,
    Text,
    Muted,
    Axis,
    Grid,
    /// A series colour, counted round.
    Series(usize),
    /// A step of the load ramp, 0 to [`LOAD_STEPS`] - 1.
    Load(usize),
}

/// Destination of a drawing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Medium {
    /// Into the page: colours are CSS variables, with the light colour to fall back on.
    Page,
    /// Into a file: plain light colours.
    File,
}

type Pair = (&'static str, &'static str);

const PAGE: Pair = ("#ffffff", "#14171c");
const TEXT: Pair = ("#1b1f24", "#e6e9ed");
const MUTED: Pair = ("#5b6470", "#9aa4b1");
const AXIS: Pair = ("#858e99", "#6f7884");
const GRID: Pair = ("#e7eaee", "#272c34");
const SERIES: [Pair; 7] = [
    ("#1944a0", "#4a80f8"),
    ("#db3d12", "#e05a22"),
    ("#038c8e", "#77c686"),
    ("#7f0846", "#ad74a0"),
    ("#e98f01", "#f0d839"),
    ("#48a8fe", "#69e3ff"),
    ("#0b0b0b", "#fcffed"),
];
const LOAD: [Pair; LOAD_STEPS] = [
    ("#e6e2cc", "#3e2f57"),
    ("#ddca93", "#60346e"),
    ("#dbae55", "#893579"),
    ("#d88e22", "#b03c72"),
    ("#d26d00", "#d4495f"),
    ("#c54c00", "#ec6345"),
    ("#b12d20", "#f88534"),
    ("#961034", "#fda93a"),
    ("#710c47", "#fbcb64"),
    ("#4c0c49", "#f9ea92"),
];
const DASHES: [&str; 4] = ["", "7 3", "2 2.5", "9 3 2 3"];

/// Number of colours of the load ramp.
pub(crate) const LOAD_STEPS: usize = 10;

impl Medium {
    /// The colour as an SVG paint.
    pub fn paint(self, ink: Ink) -> String {
        match self {
            Medium::File => ink.pair().0.to_owned(),
            Medium::Page => format!("var({})", ink.variable()),
        }
    }
}

impl Ink {
    fn pair(self) -> Pair {
        match self {
            Ink::Page => PAGE,
            Ink::Text => TEXT,
            Ink::Muted => MUTED,
            Ink::Axis => AXIS,
            Ink::Grid => GRID,
            Ink::Series(slot) => SERIES[slot % SERIES.len()],
            Ink::Load(step) => LOAD[step.min(LOAD_STEPS - 1)],
        }
    }

    fn variable(self) -> String {
        match self {
            Ink::Page => "--page".into(),
            Ink::Text => "--text".into(),
            Ink::Muted => "--muted".into(),
            Ink::Axis => "--axis".into(),
            Ink::Grid => "--grid".into(),
            Ink::Series(slot) => format!("--s{}", slot % SERIES.len()),
            Ink::Load(step) => format!("--u{}", step.min(LOAD_STEPS - 1)),
        }
    }
}

/// The step of the load ramp for a utilisation of 0 to 1.
pub(crate) fn load_step(load: f32) -> usize {
    ((load * LOAD_STEPS as f32) as usize).min(LOAD_STEPS - 1)
}

/// The definitions of all CSS variables, light and dark.
pub(crate) fn css_variables() -> (String, String) {
    let plain = [Ink::Page, Ink::Text, Ink::Muted, Ink::Axis, Ink::Grid];
    let series = (0..SERIES.len()).map(Ink::Series);
    let inks: Vec<Ink> =
        plain.into_iter().chain(series).chain((0..LOAD_STEPS).map(Ink::Load)).collect();
    let light = inks.iter().map(|ink| format!("{}:{};", ink.variable(), ink.pair().0)).collect();
    let dark = inks.iter().map(|ink| format!("{}:{};", ink.variable(), ink.pair().1)).collect();
    (light, dark)
}

/// Colour and marker of each series name, the same wherever it appears.
///
/// Seven names differ in colour and marker; further ones take the colours again with broken lines.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Colours {
    names: Vec<String>,
}

impl Colours {
    /// Colours for names, by order of first appearance.
    pub fn of<'a>(names: impl IntoIterator<Item = &'a str>) -> Colours {
        let mut colours = Colours::default();
        for name in names {
            if !colours.names.iter().any(|known| known == name) {
                colours.names.push(name.to_owned());
            }
        }
        colours
    }

    /// The place of a name; unknown names share the one after the last.
    pub(crate) fn slot(&self, name: &str) -> usize {
        self.names.iter().position(|known| known == name).unwrap_or(self.names.len())
    }
}

/// The dash pattern of a slot: solid until the colours come round again.
pub(crate) fn dash_of(slot: usize) -> &'static str {
    DASHES[slot / SERIES.len() % DASHES.len()]
}

#[cfg(test)]
#[path = "ink_tests.rs"]
mod tests;
