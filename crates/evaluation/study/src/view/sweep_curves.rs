//! Curves of a sweep: the axis that makes the abscissa, and a curve for each setting of the others.

use heddle_report::{Axis as PlotAxis, Unit};
use heddle_units::{Bytes, Rate, Time};

use super::plots::Curve;
use crate::sweep::{Axis, Row};

/// Abscissas at which distributions are drawn.
const MOST_PLACES: usize = 4;

/// The curves over the last axis of a sweep whose values all are quantities of one kind.
pub(super) struct SweepCurves {
    /// Its key.
    pub key: String,
    /// The axis of plots.
    pub axis: PlotAxis,
    /// Its values as they were given, each at its abscissa, ascending.
    pub places: Vec<(f64, String)>,
    /// A curve for each setting of the other axes.
    pub curves: Vec<Curve>,
}

impl SweepCurves {
    /// `None` of a sweep over words alone.
    pub fn of(axes: &[Axis], rows: &[Row]) -> Option<SweepCurves> {
        let of_axis = |(index, axis)| Some((index, quantities(axis)?));
        let (index, (unit, values)) = axes.iter().enumerate().rev().find_map(of_axis)?;
        let axis = &axes[index];
        let mut curves: Vec<Curve> = Vec::new();
        for row in rows {
            let others = row.settings.iter().enumerate().filter(|(i, _)| *i != index);
            let name = others.map(|(_, value)| value.as_str()).collect::<Vec<_>>().join(" ");
            let name = if name.is_empty() { "all".to_owned() } else { name };
            let place = axis.values.iter().position(|value| *value == row.settings[index])?;
            let point = (values[place], row.runs.clone());
            match curves.iter_mut().find(|curve| curve.name == name) {
                Some(curve) => curve.points.push(point),
                None => curves.push(Curve { name, points: vec![point] }),
            }
        }
        curves.iter_mut().for_each(|curve| curve.points.sort_by(|a, b| a.0.total_cmp(&b.0)));
        let mut places: Vec<(f64, String)> = values.into_iter().zip(axis.values.clone()).collect();
        places.sort_by(|a, b| a.0.total_cmp(&b.0));
        let key = axis.key.clone();
        Some(SweepCurves { axis: PlotAxis::new(in_words(&key), unit), key, places, curves })
    }

    /// The places at which distributions are drawn: all of a few, else the first, the last, and
    /// some between.
    pub fn drawn_places(&self) -> Vec<&(f64, String)> {
        let last = self.places.len().saturating_sub(1);
        if self.places.len() <= MOST_PLACES {
            return self.places.iter().collect();
        }
        (0..MOST_PLACES).map(|step| &self.places[step * last / (MOST_PLACES - 1)]).collect()
    }
}

/// The last part of a key in words: "Flowlet gap" of `scheme.flowlet_gap`.
fn in_words(key: &str) -> String {
    let words = key.rsplit('.').next().unwrap_or(key).replace('_', " ");
    let first = words.chars().next().map_or(0, char::len_utf8);
    words[..first].to_uppercase() + &words[first..]
}

/// The values of an axis in one unit, if all are quantities of one kind: bare numbers, times, rates
/// or sizes.
fn quantities(axis: &Axis) -> Option<(Unit, Vec<f64>)> {
    if !axis.variants.is_empty() {
        return None;
    }
    let all = |of: fn(&str) -> Option<f64>| -> Option<Vec<f64>> {
        axis.values.iter().map(|value| of(value.trim().trim_matches('"'))).collect()
    };
    let number = all(|value| value.parse().ok().filter(|number: &f64| number.is_finite()));
    let time = || all(|value| value.parse().ok().map(Time::as_secs_f64));
    let rate = || all(|value| value.parse().ok().map(|Rate(bps)| bps as f64));
    let size = || all(|value| value.parse().ok().map(|Bytes(bytes)| bytes as f64));
    number
        .map(|values| (Unit::None, values))
        .or_else(|| Some((Unit::si("s"), time()?)))
        .or_else(|| Some((Unit::si("bps"), rate()?)))
        .or_else(|| Some((Unit::si("B"), size()?)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 500 us lie before 1 ms, whichever digits they have.
    #[test]
    fn values_with_units_are_quantities() {
        let of = |values: &str| quantities(&Axis::new("key", values));
        assert_eq!(of("500us, 1ms"), Some((Unit::si("s"), vec![5e-4, 1e-3])));
        assert_eq!(of("\"10Gbps\", 400Mbps"), Some((Unit::si("bps"), vec![1e10, 4e8])));
        assert_eq!(of("64KB"), Some((Unit::si("B"), vec![64e3])));
        assert_eq!(of("0.2,1"), Some((Unit::None, vec![0.2, 1.0])));
        assert_eq!([of("ecmp,hula"), of("1ms,0.5")], [None, None]);
    }

    #[test]
    fn an_axis_is_named_in_words() {
        assert_eq!(in_words("scheme.flowlet_gap"), "Flowlet gap");
        assert_eq!([in_words("workload.load"), in_words("")], ["Load", ""]);
    }

    #[test]
    fn distributions_are_drawn_at_a_few_places() {
        let of = |values: &str| {
            let curves = SweepCurves::of(&[Axis::new("load", values)], &[]).unwrap();
            curves.drawn_places().into_iter().map(|(x, _)| *x).collect::<Vec<_>>()
        };
        assert_eq!(of("0.4,0.2"), [0.2, 0.4]);
        assert_eq!(of("0.1,0.2,0.3,0.4,0.5,0.6,0.7"), [0.1, 0.3, 0.5, 0.7]);
    }
}
