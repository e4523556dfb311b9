//! The maps that a balancer's programs share, and the shape of each that can be taken over from the
//! balancer before.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use aya::maps::{Array, Map, MapData};
use heddle_bpf_loader::maps::{Shape, absent_as_none};

use crate::abi::{
    self, AccessLimit, AccessPrefix, AssignedKey, BUCKET_ENTRIES, COUNTERS, Candidate,
    ConnectionCount, ConnectionSource, Count, FlowKey, FragmentBucket, HEDDLE_ABI, JoinCount,
    JoinSource, MAGLEV_STRIDE, MaglevPair, PeerState, QuicServer, RING_SIZE, Settings, Target,
    TargetSigns, Vip, VipKey, WAITING_BYTES,
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
        let maglev = sizes.maglev_tables.saturating_mul(MAGLEV_STRIDE / 2);
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
            Shape::of::<u32, MaglevPair>("maglev", maglev),
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

    /// The maps pinned in `directory`, if they cannot be taken over.
    ///
    /// # Errors
    /// [`Error::Misfit`] if one is another program's, [`Error::Map`] if one cannot be opened.
    pub fn misfits(&self, directory: &Path) -> Result<Option<Replaced>, Error> {
        let (mut has_other_layout, mut entries) = (false, BTreeMap::new());
        for wanted in self.shapes() {
            let (path, names) = (directory.join(wanted.name), [wanted.name, in_object(&wanted)]);
            let Some(found) = wanted.found(&path, &names)? else { continue };
            entries.insert(found.name, found.entries);
            has_other_layout |= !found.has_layout_of(&wanted);
        }
        let has_other_layout = has_other_layout || has_other_abi(&directory.join("settings"))?;
        let fits = self
            .shapes()
            .all(|wanted| entries.get(wanted.name).is_none_or(|found| *found == wanted.entries));
        Ok((has_other_layout || !fits).then_some(Replaced { has_other_layout, entries }))
    }

    /// Moves the maps' pins from one directory to another, in the place of those that are there.
    /// Maps that fit are moved first, `settings` last: if this process is killed in between, the next
    /// one still finds a map that does not fit, and makes all of them afresh.
    ///
    /// # Errors
    /// [`Error::Pins`] if one cannot be moved.
    pub fn move_pins(&self, from: &Path, to: &Path, replaced: &Replaced) -> Result<(), Error> {
        let mut shapes: Vec<Shape> = self.shapes().collect();
        let fits = |shape: &Shape| replaced.entries.get(shape.name) == Some(&shape.entries);
        shapes.sort_by_key(|shape| (shape.name == "settings", !fits(shape)));
        shapes.into_iter().try_for_each(|shape| {
            let path = to.join(shape.name);
            let moved = fs::rename(from.join(shape.name), &path);
            moved.map_err(|error| Error::Pins { path, error })
        })
    }
}

/// Maps of a balancer before, which the next one could not go on with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replaced {
    /// True if they are of another version of the program.
    pub has_other_layout: bool,
    /// The entries of each, by name.
    pub entries: BTreeMap<&'static str, u32>,
}

impl Sizes {
    /// The entries of each map, by name; of tables with buckets the buckets.
    pub fn entries(&self) -> BTreeMap<&'static str, u32> {
        PinnedMaps::new(self).shapes().map(|shape| (shape.name, shape.entries)).collect()
    }
}

/// The name of a pinned map in the object.
pub(crate) fn in_object(shape: &Shape) -> &'static str {
    if shape.name == "settings" { SETTINGS } else { shape.name }
}

/// Settings that no daemon has written yet have version 0.
fn has_other_abi(path: &Path) -> Result<bool, Error> {
    Ok(!matches!(pinned_settings(path)?.abi, 0 | HEDDLE_ABI))
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
