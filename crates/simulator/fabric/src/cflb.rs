//! A fabric's paths as CFLB's codec takes them.

use heddle_policy::cflb::RouterChoice;

use crate::{Hop, Path};

/// The choices along a path, as the codec takes them.
pub fn router_choices(path: &Path) -> Vec<RouterChoice> {
    let choice = |(hop, at): (usize, &Hop)| RouterChoice {
        hop: hop as u8,
        next_hop: at.next_hop,
        next_hops: at.next_hops,
    };
    path.hops.iter().enumerate().map(choice).collect()
}
