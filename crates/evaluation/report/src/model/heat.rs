//! Shares of many things over time, a row each: what a table of hundreds of rows cannot show.

use super::Mark;

/// Shares over time as colours.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HeatMap {
    /// The anchor of the map and the name of its files.
    pub id: String,
    /// The headline.
    pub title: String,
    /// Prose below the map; empty for none.
    pub caption: String,
    /// The ends of the spans over which values are averages, in seconds, ascending.
    pub times: Vec<f64>,
    /// Events meanwhile.
    pub marks: Vec<Mark>,
    /// The rows from top to bottom; neighbours of one group stand together.
    pub rows: Vec<HeatRow>,
}

/// A row of a heat map.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HeatRow {
    /// The group that it belongs to; its name stands beside it.
    pub group: String,
    /// Its own name.
    pub name: String,
    /// A share, 0 to 1, for each of [`HeatMap::times`]; NaN, or an entry that is missing, is not
    /// drawn.
    pub shares: Vec<f32>,
}

impl HeatMap {
    /// The means of each row over `columns` equal numbers of values or fewer, with the end of each.
    pub(crate) fn binned(&self, columns: usize) -> HeatMap {
        let each = self.times.len().div_ceil(columns.max(1)).max(1);
        let mean = |shares: &[f32]| {
            let known = shares.iter().copied().filter(|share| share.is_finite());
            let (sum, count) =
                known.fold((0.0, 0.0), |(sum, count), share| (sum + share, count + 1.0));
            if count > 0.0 { sum / count } else { f32::NAN }
        };
        let row = |row: &HeatRow| HeatRow {
            shares: row.shares.chunks(each).map(mean).collect(),
            ..row.clone()
        };
        HeatMap {
            times: self.times.chunks(each).filter_map(|chunk| chunk.last().copied()).collect(),
            rows: self.rows.iter().map(row).collect(),
            ..self.clone()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_means_of_what_is_known() {
        let shares = vec![0.2, f32::NAN, 0.4, 0.8, 1.0];
        let rows = vec![HeatRow { shares, ..HeatRow::default() }];
        let map = HeatMap { times: vec![1.0, 2.0, 3.0, 4.0, 5.0], rows, ..HeatMap::default() };
        let binned = map.binned(3);
        assert_eq!(binned.times, [2.0, 4.0, 5.0]);
        assert_eq!(binned.rows[0].shares, [0.2, 0.6, 1.0]);
        assert_eq!(map.binned(9).times, map.times);
    }
}
