//! CONGA's fields in the overlay header (section 3.1 of the paper): 14 bits, and two valid bits.
//!
//! | bit   | 15    | 14-11 | 10-8 | 7        | 6-3      | 2-0       |
//! |-------|-------|-------|------|----------|----------|-----------|
//! | field | valid | LBTag | CE   | FB valid | FB_LBTag | FB_Metric |

/// Bits of a congestion metric in the header.
pub(super) const METRIC_BITS: u32 = 3;

/// Number of LBTags.
pub(super) const LBTAGS: usize = 16;

/// Congestion metric of the path by one uplink.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PathMetric {
    /// The source leaf's uplink, below [`LBTAGS`].
    pub lbtag: u8,
    /// 0 to 7.
    pub metric: u8,
}

impl PathMetric {
    const VALID: u16 = 0x80;

    fn encode(self) -> u16 {
        PathMetric::VALID | u16::from(self.lbtag & 15) << 3 | u16::from(self.metric & 7)
    }

    fn decode(bits: u16) -> Option<PathMetric> {
        let reading = PathMetric { lbtag: (bits >> 3 & 15) as u8, metric: (bits & 7) as u8 };
        (bits & PathMetric::VALID != 0).then_some(reading)
    }
}

/// CONGA's fields of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Tag {
    /// LBTag and CE: the path that this packet takes.
    pub path: Option<PathMetric>,
    /// FB_LBTag and FB_Metric: a path from its receiver to its sender.
    pub feedback: Option<PathMetric>,
}

impl Tag {
    pub fn encode(self) -> u16 {
        let half = |reading: Option<PathMetric>| reading.map_or(0, PathMetric::encode);
        half(self.path) << 8 | half(self.feedback)
    }

    pub fn decode(bits: u16) -> Tag {
        Tag { path: PathMetric::decode(bits >> 8), feedback: PathMetric::decode(bits) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_layout_is_as_drawn() {
        let path = Some(PathMetric { lbtag: 0b1010, metric: 0b011 });
        let feedback = Some(PathMetric { lbtag: 0b0110, metric: 0b101 });
        assert_eq!(Tag { path, feedback }.encode(), 0b1101_0011_1011_0101);
        assert_eq!(Tag { path: None, feedback: None }.encode(), 0, "as from a host");
    }

    #[test]
    fn every_encoded_value_is_decoded() {
        for bits in 0..=u16::MAX {
            let tag = Tag::decode(bits);
            assert_eq!(Tag::decode(tag.encode()), tag);
            if bits & 0x8080 == 0x8080 {
                assert_eq!(tag.encode(), bits);
            }
        }
    }
}
