//! The maps that a balancer's programs share, and the shape of each that can be taken over from the
//! balancer before.

use std::path::Path;

use aya::maps::{Array, Map, MapData};
use heddle_bpf_loader::maps::{Shape, absent_as_none};

use crate::abi::{
    self, AccessLimit, AccessPrefix, AssignedKey, BUCKET_ENTRIES, COUNTERS, Candidate,
    ConnectionCount, ConnectionSource, Count, FlowKey, FragmentBucket, HEDDLE_ABI, JoinCount,
    JoinSource, MAGLEV_SIZE, PeerState, QuicServer, RING_SIZE, Settings, Target, TargetSigns, Vip,
    VipKey, WAITING_BYTES,
};
use crate::{Error, Sizes};

/// The name of the settings in the object, which are data there.
pub(super) const SETTINGS: &str = ".bss";

/// The shared maps of a balancer. What is not among them (traces, constants, what is left of
/// limits) each program has for itself.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PinnedMaps([Shape; 27]);

impl PinnedMaps {
    /// Their shapes at these sizes.
    pub fn new(sizes: &Sizes) -> Self {
        let maglev = sizes.maglev_tables.saturating_mul(MAGLEV_SIZE);
        let (flows, tokens) = (sizes.flow_buckets(), sizes.token_buckets().all());
        let counters = sizes.services.saturating_add(1).saturating_mul(COUNTERS);
        Self([
            Shape::of::<VipKey, Vip>("vips", sizes.vips),
            Shape::of::<u32, u32>("vips_changes", 1),
            Shape::of::<u32, Target>("targets", sizes.targets),
            Shape::of::<u32, u32>("target_ids", sizes.targets),
            Shape::of::<u32, u32>("group_targets", 2 * sizes.targets),
            Shape::of::<QuicServer, u32>("quic_servers", 2 * sizes.targets),
            Shape::of::<abi::Address, u32>("peers", sizes.peers),
            Shape::of::<u32, PeerState>("peer_states", sizes.targets),
            Shape::of::<u32, u32>("maglev", maglev),
            Shape::of::<u32, u32>("ring", 3 * RING_SIZE),
            Shape::of::<u32, [abi::Flow; BUCKET_ENTRIES as usize]>("flows", flows.all()),
            Shape::of::<u32, u32>("overflows", flows.main),
            Shape::of::<FlowKey, Candidate>("candidates", sizes.candidates),
            Shape::of::<u32, [abi::TokenEntry; BUCKET_ENTRIES as usize]>("tokens", tokens),
            Shape::of::<JoinSource, JoinCount>("join_counts", sizes.join_counts),
            Shape::of::<AccessPrefix, u32>("access_rules", sizes.access_rules),
            Shape::of::<u32, AccessLimit>("access_limits", sizes.services.saturating_add(1)),
            Shape::of::<ConnectionSource, ConnectionCount>(
                "connection_counts",
                sizes.access_sources,
            ),
            Shape::of::<u32, FragmentBucket>("fragments", 2 * sizes.fragment_buckets()),
            Shape::of::<(), ()>("waiting", WAITING_BYTES),
            Shape::of::<FlowKey, AssignedKey>("assigned", sizes.assigned),
            Shape::of::<(), AssignedKey>("ready_keys", sizes.ready_keys),
            Shape::of::<(), AssignedKey>("ready_keys_v1", sizes.ready_keys),
            Shape::of::<u32, Settings>("settings", 1),
            Shape::of::<u32, Count>("counters", counters),
            Shape::of::<u32, Count>("target_counts", sizes.targets),
            Shape::of::<u32, TargetSigns>("target_signs", sizes.targets),
        ])
    }

    /// The maps' shapes.
    pub fn shapes(&self) -> impl Iterator<Item = Shape> {
        self.0.into_iter()
    }

    /// Checks that the maps pinned in `directory` can be taken over.
    pub fn check(&self, directory: &Path) -> Result<(), Error> {
        check_abi(&directory.join("settings"))?;
        self.shapes().try_for_each(|shape| shape.check(&directory.join(shape.name)))
    }
}

/// The name of a pinned map in the object.
pub(crate) fn in_object(shape: &Shape) -> &'static str {
    if shape.name == "settings" { SETTINGS } else { shape.name }
}

/// Settings that no daemon has written yet have version 0.
fn check_abi(path: &Path) -> Result<(), Error> {
    match pinned_settings(path)?.abi {
        0 | HEDDLE_ABI => Ok(()),
        other => {
            let why = format!("it is of version {other}, this program of {HEDDLE_ABI}");
            Err(Error::Misfit { path: path.to_owned(), why })
        }
    }
}

/// The settings that are pinned at `path`; all zero if none are.
pub(crate) fn pinned_settings(path: &Path) -> Result<Settings, Error> {
    let Some(data) = absent_as_none(MapData::from_pin(path))? else {
        return Ok(Settings::default());
    };
    let map = Array::<_, Settings>::try_from(Map::Array(data)).map_err(|error| {
        let why = format!("it is of another version: {error}");
        Error::Misfit { path: path.to_owned(), why }
    })?;
    Ok(map.get(&0, 0)?)
}
