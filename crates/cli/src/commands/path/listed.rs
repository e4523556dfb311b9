//! Listed paths as tables and as JSON, which has the terms of the path service.

use heddle_path_encoder::ListedPath;
use serde::Serialize;

/// A path and its number.
#[derive(Debug, Serialize)]
pub(crate) struct Listed<'a> {
    path: u64,
    nodes: &'a [String],
    next_hops: &'a [u16],
    out_of: &'a [u16],
}

impl<'a> Listed<'a> {
    pub(crate) fn new(path: &'a ListedPath) -> Listed<'a> {
        let ListedPath { number, nodes, next_hops, out_of } = path;
        Listed { path: *number, nodes, next_hops, out_of }
    }
}

/// The routers as `--via` takes them.
pub(crate) fn routers(path: &ListedPath) -> String {
    path.routers().join(",")
}

/// The choice at each router.
pub(crate) fn choices(path: &ListedPath) -> String {
    let each = path.next_hops.iter().zip(&path.out_of);
    each.map(|(next_hop, out_of)| choice(*next_hop, *out_of)).collect::<Vec<_>>().join(", ")
}

/// The note on numbering, below tables; JSON and `--path` count alike.
pub(crate) const NOTE: &str = "paths, next hops and digits are numbered from 0";

/// `1 of 0-3`; a dash where there is no choice.
pub(crate) fn choice(next_hop: u16, next_hops: u16) -> String {
    match next_hops {
        1 => "-".to_owned(),
        _ => format!("{next_hop} of 0-{}", next_hops.saturating_sub(1)),
    }
}
