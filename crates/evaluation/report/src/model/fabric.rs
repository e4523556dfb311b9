//! A network drawn in tiers, and how busy its links were over time.

/// Utilisation of every link of a network over time, for one scheme or several.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FabricMap {
    /// The anchor of the map and the name of its files.
    pub id: String,
    /// The headline.
    pub title: String,
    /// Prose below the map; empty for none.
    pub caption: String,
    /// The names of the tiers from the bottom up: "Hosts", "ToR", "Aggregation", "Core".
    pub tiers: Vec<String>,
    /// Hosts and switches.
    pub nodes: Vec<Node>,
    /// Links between them.
    pub links: Vec<Link>,
    /// The instants of the frames, in seconds, ascending.
    pub times: Vec<f64>,
    /// Events meanwhile, in order of time.
    pub marks: Vec<Mark>,
    /// Measured utilisation, one entry a scheme.
    pub runs: Vec<Run>,
}

/// Something that happened at a time, as the failure of a link.
#[derive(Clone, Debug, PartialEq)]
pub struct Mark {
    /// Time, in seconds.
    pub at: f64,
    /// The event, in a few words.
    pub label: String,
}

/// A host or a switch.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// Its name.
    pub name: String,
    /// Its tier, an index into [`FabricMap::tiers`].
    pub tier: usize,
    /// Its place from left (0) to right (1). `None` spaces a tier evenly.
    pub x: Option<f64>,
}

/// A link with two directions. One that names a node which does not exist is not drawn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    /// One end, an index into [`FabricMap::nodes`].
    pub a: usize,
    /// The other end.
    pub b: usize,
    /// The name of the link; empty to name it by its ends.
    pub name: String,
    /// Its rate as text ("40 Gbps"); empty for none.
    pub rate: String,
}

/// Utilisation of the network under one scheme.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Run {
    /// The scheme.
    pub name: String,
    /// One frame for each of [`FabricMap::times`]; in it one entry for each of
    /// [`FabricMap::links`], the utilisation (0 to 1) from `a` to `b` and from `b` to `a`, kept to
    /// 1/250.
    /// NaN says that the link was down; so does an entry that is missing.
    pub frames: Vec<Vec<[f32; 2]>>,
}

impl FabricMap {
    /// The utilisation of a link in a direction (0: a to b, 1: b to a), if it was up and known.
    pub(crate) fn load(run: &Run, frame: usize, link: usize, direction: usize) -> Option<f32> {
        let value = *run.frames.get(frame)?.get(link)?.get(direction)?;
        value.is_finite().then_some(value.clamp(0.0, 1.0))
    }

    /// The frame in which an instant lies: frames are averages up to their own. The last one for
    /// what comes after all.
    pub(crate) fn frame_of(&self, at: f64) -> usize {
        let last = self.times.len().saturating_sub(1);
        self.times.partition_point(|&end| end < at).min(last)
    }

    /// The mean of [`FabricMap::load`] over the frames in which the link was up.
    pub(crate) fn mean_load(&self, run: &Run, link: usize, direction: usize) -> Option<f32> {
        let frames = 0..self.times.len();
        let (sum, count) = frames
            .filter_map(|frame| FabricMap::load(run, frame, link, direction))
            .fold((0.0_f64, 0_u32), |(sum, count), load| (sum + f64::from(load), count + 1));
        (count > 0).then(|| (sum / f64::from(count)) as f32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_that_was_down_has_no_load_and_does_not_spoil_the_mean() {
        let frames = vec![vec![[0.2, f32::NAN]], vec![[0.6, f32::NAN]], vec![[f32::NAN, 7.0]]];
        let run = Run { name: "ECMP".into(), frames };
        let map = FabricMap { times: vec![0.0, 1.0, 2.0, 3.0], ..FabricMap::default() };

        assert_eq!(FabricMap::load(&run, 0, 0, 0), Some(0.2));
        assert_eq!(FabricMap::load(&run, 0, 0, 1), None);
        assert_eq!(FabricMap::load(&run, 2, 0, 1), Some(1.0)); // above 1 reads as full
        assert_eq!(FabricMap::load(&run, 3, 0, 0), None); // no such frame
        assert_eq!(map.mean_load(&run, 0, 0), Some(0.4));
        assert_eq!(map.mean_load(&run, 1, 0), None); // no such link
        assert_eq!([0.0, 0.5, 1.0, 9.0].map(|at| map.frame_of(at)), [0, 1, 1, 3]);
    }
}
