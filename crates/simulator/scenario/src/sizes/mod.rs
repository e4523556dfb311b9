//! Distributions of flow sizes.
//!
//! Points are interpolated linearly, as by ns-2's `EmpiricalRandomVariable` with interpolation 1.

mod csv;

pub(crate) use csv::parse;

use heddle_config::Problem;
use heddle_units::Bytes;

use crate::SizeDistribution;
use crate::raw::Sizes;
use crate::source::Files;

/// Distributions that come with the crate, by name.
const BUILT_IN: [(&str, &str); 5] = [
    ("websearch", include_str!("../../data/websearch.csv")),
    ("websearch-bytes", include_str!("../../data/websearch-bytes.csv")),
    ("datamining", include_str!("../../data/datamining.csv")),
    ("hadoop", include_str!("../../data/hadoop.csv")),
    ("alistorage", include_str!("../../data/alistorage.csv")),
];

impl SizeDistribution {
    /// Mean size in bytes.
    pub fn mean(&self) -> f64 {
        let first = self.points.first().map_or(0.0, |&(bytes, cdf)| bytes * cdf);
        let rest = self.points.windows(2).map(|w| (w[0].0 + w[1].0) / 2.0 * (w[1].1 - w[0].1));
        first + rest.sum::<f64>()
    }

    /// The size in bytes that a share `u` of flows does not exceed: with `u` drawn evenly from 0 to
    /// 1, a random size.
    ///
    /// It need not be whole, and can be below 1. `u` outside 0 to 1 counts as the nearest end.
    pub fn quantile(&self, u: f64) -> f64 {
        let above = self.points.partition_point(|&(_, cdf)| cdf < u);
        let Some(&(bytes, cdf)) = self.points.get(above) else {
            return self.points.last().map_or(0.0, |&(bytes, _)| bytes);
        };
        match above.checked_sub(1).map(|below| self.points[below]) {
            // Rounding must not lead past the point.
            Some((low, from)) => (low + (bytes - low) * ((u - from) / (cdf - from))).min(bytes),
            None => bytes,
        }
    }
}

/// The distribution that `workload.sizes` names. Problems are those of its value, or of the file
/// that it names.
pub(crate) fn resolve(sizes: &Sizes, files: &dyn Files) -> Result<SizeDistribution, Problem> {
    match sizes {
        Sizes::Name(name) => named(name),
        Sizes::File(sizes) => {
            let unreadable =
                |error| Problem::at("file", format!("cannot read {}: {error}", sizes.file));
            let text = files.read(&sizes.file).map_err(unreadable)?;
            csv::parse(&sizes.file, &text)
        }
    }
}

fn named(name: &str) -> Result<SizeDistribution, Problem> {
    if let Some(size) = name.strip_prefix("fixed:") {
        return fixed(name, size);
    }
    match BUILT_IN.iter().find(|(known, _)| *known == name) {
        Some((known, text)) => csv::parse(known, text),
        None => {
            let known: Vec<&str> =
                BUILT_IN.iter().map(|(known, _)| *known).chain(["fixed:100KB"]).collect();
            let problem = Problem::new(format!("no distribution is called \"{name}\""));
            Err(match name.contains(['.', '/']) {
                true => problem.help(format!("a file is named as in {{ file = \"{name}\" }}")),
                false => problem.suggest(name, &known),
            })
        }
    }
}

fn fixed(name: &str, size: &str) -> Result<SizeDistribution, Problem> {
    let size: Bytes = size.parse().map_err(|error| Problem::of(&error))?;
    if size.0 == 0 {
        return Err(Problem::new("a flow of no bytes never ends").help("at least 1B"));
    }
    Ok(SizeDistribution { name: name.to_owned(), points: vec![(size.0 as f64, 1.0)] })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn load(name: &str) -> SizeDistribution {
        named(name).map_err(|_| ()).unwrap()
    }

    /// Means as the papers' simulators state them.
    #[test]
    fn means_are_those_of_the_papers() {
        for (name, mean) in
            [("websearch", 1.67e6), ("websearch-bytes", 1.71e6), ("datamining", 7.47e6)]
        {
            let found = load(name).mean();
            assert!((found / mean - 1.0).abs() < 0.005, "{name}: {found}");
        }
        assert_eq!((load("websearch").mean() / 1460.0).round(), 1141.0);
        assert_eq!((load("datamining").mean() / 1460.0).round(), 5117.0);
    }

    /// HULA section 6: half of the flows are one packet, and 80 % are under 10 KB (7 packets).
    #[test]
    fn data_mining_is_mostly_small_flows() {
        let sizes = load("datamining");
        assert_eq!(sizes.quantile(0.0), 1460.0);
        assert_eq!(sizes.quantile(0.5), 1460.0);
        assert!(sizes.quantile(0.8) <= 7.0 * 1460.0 + 1e-6);
        assert_eq!(sizes.quantile(1.0), 666_667.0 * 1460.0);
    }

    #[test]
    fn quantiles_lie_on_the_line_between_points() {
        let points = vec![(10.0, 0.2), (20.0, 0.6), (40.0, 1.0)];
        let sizes = SizeDistribution { name: "x".into(), points };
        for (u, bytes) in [
            (-1.0, 10.0),
            (0.1, 10.0),
            (0.2, 10.0),
            (0.4, 15.0),
            (0.6, 20.0),
            (0.8, 30.0),
            (2.0, 40.0),
        ] {
            assert!((sizes.quantile(u) - bytes).abs() < 1e-9, "{u}");
        }
        assert_eq!(load("fixed:100KB").quantile(0.3), 100_000.0);
    }
}
