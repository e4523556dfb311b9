//! The ids of balancers and backends in steering headers.

use std::num::NonZeroU32;

use heddle_config::Problem;

use super::super::raw;
use super::super::resolved::Member;
use crate::ids::WireId;

/// A balancer of the list, with the id that it is given or else that of its address.
pub(super) fn member(listed: &raw::Member) -> Member {
    let given = listed.id.and_then(NonZeroU32::new).map(WireId);
    Member {
        id: given.unwrap_or_else(|| WireId::of_balancer(listed.address)),
        name: listed.name.clone(),
        address: listed.address,
    }
}

/// Refuses 0, which in a steering header means "none".
pub(super) fn check_id(id: Option<u32>) -> Result<(), Problem> {
    match id {
        Some(0) => Err(Problem::at("id", "0 is not an id").help("1 to 4294967295")),
        _ => Ok(()),
    }
}
