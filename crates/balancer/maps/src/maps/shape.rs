//! Which maps a balancer's programs share, and what each must look like to be taken over from the balancer before.

use std::io;
use std::path::Path;

use aya::maps::{Array, Map, MapData, MapError, MapInfo};

use crate::abi::{
    self, AssignedKey, BUCKET_ENTRIES, COUNTERS, Count, FlowKey, Fragment, FragmentKey, HEDDLE_ABI,
    MAGLEV_SIZE, RING_SIZE, Settings, Target, Vip, VipKey,
};
use crate::{Error, Sizes};

/// What the object calls the settings, which are data there.
pub(super) const SETTINGS: &str = ".bss";

/// A map's name, its keys' and values' bytes, and its entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shape {
    pub name: &'static str,
    key: u32,
    value: u32,
    pub entries: u32,
}

/// The shared maps of a balancer. What is not among them (traces, constants, what is left of limits) each program has for
/// itself.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PinnedMaps([Shape; 14]);

impl PinnedMaps {
    /// Their shapes at these sizes.
    pub fn new(sizes: &Sizes) -> Self {
        let maglev = sizes.maglev_tables.saturating_mul(MAGLEV_SIZE);
        let (flows, tokens) = (sizes.flow_buckets().all(), sizes.token_buckets().all());
        let counters = sizes.services.saturating_add(1).saturating_mul(COUNTERS);
        Self([
            shape::<VipKey, Vip>("vips", sizes.vips),
            shape::<u32, Target>("targets", sizes.targets),
            shape::<u32, u32>("target_ids", sizes.targets),
            shape::<abi::Address, u32>("peers", sizes.peers),
            shape::<u32, u32>("maglev", maglev),
            shape::<u32, u32>("ring", 3 * RING_SIZE),
            shape::<u32, [abi::Flow; BUCKET_ENTRIES as usize]>("flows", flows),
            shape::<u32, [abi::TokenEntry; BUCKET_ENTRIES as usize]>("tokens", tokens),
            shape::<FragmentKey, Fragment>("fragments", sizes.fragments),
            shape::<FlowKey, AssignedKey>("assigned", sizes.assigned),
            shape::<(), AssignedKey>("ready_keys", sizes.ready_keys),
            shape::<u32, Settings>("settings", 1),
            shape::<u32, Count>("counters", counters),
            shape::<u32, Count>("target_counts", sizes.targets),
        ])
    }

    /// The maps' shapes.
    pub fn shapes(&self) -> impl Iterator<Item = Shape> {
        self.0.into_iter()
    }

    /// Whether what is pinned in `directory` can be taken over.
    pub fn check(&self, directory: &Path) -> Result<(), Error> {
        check_abi(&directory.join("settings"))?;
        self.shapes().try_for_each(|shape| shape.check(&directory.join(shape.name)))
    }
}

fn shape<K, V>(name: &'static str, entries: u32) -> Shape {
    Shape { name, key: size_of::<K>() as u32, value: size_of::<V>() as u32, entries }
}

impl Shape {
    /// What the object calls it.
    pub fn in_object(&self) -> &'static str {
        if self.name == "settings" { SETTINGS } else { self.name }
    }

    fn check(&self, path: &Path) -> Result<(), Error> {
        let Some(found) = absent_as_none(MapInfo::from_pin(path))? else { return Ok(()) };
        let pairs = [
            ("bytes of key", found.key_size(), self.key),
            ("bytes of value", found.value_size(), self.value),
            ("entries", found.max_entries(), self.entries),
        ];
        match pairs.iter().find(|(_, found, wanted)| found != wanted) {
            None => Ok(()),
            Some((what, found, wanted)) => {
                let why = format!("it has {found} {what}, this balancer is to have {wanted}");
                Err(Error::Misfit { path: path.to_owned(), why })
            }
        }
    }
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

fn absent_as_none<T>(opened: Result<T, MapError>) -> Result<Option<T>, Error> {
    match opened {
        Ok(found) => Ok(Some(found)),
        Err(error) if is_absence(&error) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

fn is_absence(error: &MapError) -> bool {
    let mut source: Option<&dyn std::error::Error> = Some(error);
    while let Some(current) = source {
        if let Some(error) = current.downcast_ref::<io::Error>() {
            return error.kind() == io::ErrorKind::NotFound;
        }
        source = current.source();
    }
    false
}
