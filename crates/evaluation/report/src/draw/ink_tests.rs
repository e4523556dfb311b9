//! The palette against the science of colour: WCAG 2 contrast, Machado's model of colour blindness,
//! distances in Oklab (B. Ottosson, 2020).

use super::*;

type Rgb = [f64; 3];
type Matrix = [Rgb; 3];

/// G. Machado et al., "A Physiologically-based Model for Simulation of Color Vision Deficiency"
/// (2009), severity 1.0, after full colour vision.
const VISIONS: [Matrix; 4] = [
    [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
    [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
    [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.011820, 0.042940, 0.968881],
    ],
    [
        [1.255528, -0.076749, -0.178779],
        [-0.078411, 0.930809, 0.147602],
        [0.004733, 0.691367, 0.303900],
    ],
];
const TO_LMS: Matrix = [
    [0.4122214708, 0.5363325363, 0.0514459929],
    [0.2119034982, 0.6806995451, 0.1073969566],
    [0.0883024619, 0.2817188376, 0.6299787005],
];
const TO_LAB: Matrix = [
    [0.2104542553, 0.7936177850, -0.0040720468],
    [1.9779984951, -2.4285922050, 0.4505937099],
    [0.0259040371, 0.7827717662, -0.8086757660],
];

fn linear(hex: &str) -> Rgb {
    [1, 3, 5].map(|i| {
        let c = f64::from(u8::from_str_radix(&hex[i..i + 2], 16).unwrap()) / 255.0;
        if c <= 0.04045 { c / 12.92 } else { libm::pow((c + 0.055) / 1.055, 2.4) }
    })
}

fn times(m: &Matrix, v: Rgb) -> Rgb {
    m.map(|row| row.iter().zip(v).map(|(a, b)| a * b).sum())
}

fn oklab(rgb: Rgb) -> Rgb {
    times(&TO_LAB, times(&TO_LMS, rgb).map(libm::cbrt))
}

fn seen(hex: &str, vision: &Matrix) -> Rgb {
    oklab(times(vision, linear(hex)).map(|c| c.clamp(0.0, 1.0)))
}

fn distance(a: Rgb, b: Rgb) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum::<f64>().sqrt()
}

fn luminance(hex: &str) -> f64 {
    let [r, g, b] = linear(hex);
    0.2126 * r + 0.7152 * g + 0.0722 * b
}

fn contrast(a: &str, b: &str) -> f64 {
    let (a, b) = (luminance(a), luminance(b));
    (a.max(b) + 0.05) / (a.min(b) + 0.05)
}

fn themes() -> [fn(Pair) -> &'static str; 2] {
    [|pair| pair.0, |pair| pair.1]
}

/// The smallest distance between any two colours, for any vision.
fn closest(colours: &[&str]) -> f64 {
    let pairs = (0..colours.len()).flat_map(|i| (0..i).map(move |j| (i, j)));
    let apart = |v: &Matrix, i: usize, j: usize| distance(seen(colours[i], v), seen(colours[j], v));
    pairs.flat_map(|(i, j)| VISIONS.iter().map(move |v| apart(v, i, j))).fold(1.0, f64::min)
}

#[test]
fn series_stay_apart_for_every_kind_of_vision() {
    // Okabe and Ito's own seven come to 0.076 by this measure.
    for side in themes() {
        let all = SERIES.map(side);
        assert!(closest(&all) > 0.10, "{}", closest(&all));
        assert!(closest(&all[..4]) > 0.13, "{}", closest(&all[..4]));
    }
}

#[test]
fn lines_and_text_stand_out_from_the_page() {
    for side in themes() {
        for pair in SERIES {
            assert!(contrast(side(pair), side(PAGE)) >= 2.5, "{}", side(pair));
        }
        // WCAG 2, success criterion 1.4.3: 4.5 for text.
        for pair in [TEXT, MUTED] {
            assert!(contrast(side(pair), side(PAGE)) >= 4.5, "{}", side(pair));
        }
    }
}

#[test]
fn the_load_ramp_moves_away_from_the_page_at_every_step() {
    for side in themes() {
        let contrasts = LOAD.map(|pair| contrast(side(pair), side(PAGE)));
        assert!(contrasts.windows(2).all(|w| w[1] > w[0] * 1.15), "{contrasts:?}");
    }
}

#[test]
fn a_name_keeps_its_slot() {
    let colours = Colours::of(["ECMP", "HULA", "ECMP", "CONGA"]);
    assert_eq!(["ECMP", "HULA", "CONGA", "new"].map(|n| colours.slot(n)), [0, 1, 2, 3]);
    assert_eq!([0, 6, 7, 14].map(dash_of), ["", "", "7 3", "2 2.5"]);
}

#[test]
fn load_steps_are_tenths() {
    let loads = [0.0, 0.09, 0.1, 0.55, 0.99, 1.0];
    assert_eq!(loads.map(load_step), [0, 0, 1, 5, 9, 9]);
}
