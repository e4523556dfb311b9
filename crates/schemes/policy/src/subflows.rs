//! MP-HULA's subflow mapping tables (section 2.5): the hop of each live subflow of an MPTCP
//! connection.
//!
//! The paper stores the hop itself in a table for each subflow number, and does not define the end
//! of a mapping. Without an end, dead subflows would block hops for ever. Here a mapping is the
//! subflow's slot in the flowlet table, and is valid while the flowlet there is live and owned by
//! the subflow: it ends with the flowlet, and packets of a running flowlet do not access it.
//!
//! Rows are selected by a hash of connection and destination ToR, without a key check. Connections
//! that collide overwrite each other's mappings, but the owner in the flowlet table distinguishes
//! them: at worst a subflow is not found.

use alloc::boxed::Box;

use bytemuck::{Zeroable, zeroed_slice_box};

use crate::{Digest, FlowletTable, Nanos, Port, Shim, Subflow, Tor, mix, table_size};

/// Owner of a flowlet: a subflow in the direction to a ToR.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FlowletOwner {
    pub shim: Shim,
    pub tor: Tor,
}

/// Owner in a flowlet's slot; all zero without one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Zeroable)]
pub(crate) struct SlotOwner {
    id: u64,
    tor: u16,
    subflow: u8,
}

impl From<Option<FlowletOwner>> for SlotOwner {
    #[inline]
    fn from(owner: Option<FlowletOwner>) -> SlotOwner {
        owner.map_or(SlotOwner::default(), |FlowletOwner { shim, tor }| SlotOwner {
            id: shim.id.0,
            tor: tor.0,
            subflow: shim.subflow.number(),
        })
    }
}

impl SlotOwner {
    /// For a digest: connection, subflow and ToR, all 0 without an owner.
    pub fn words(self) -> [u64; 3] {
        [self.id, self.subflow.into(), self.tor.into()]
    }
}

/// Flowlet table with owners.
pub(crate) type OwnedFlowlets = FlowletTable<SlotOwner>;

/// Switch bytes that an owner adds to a flowlet: MPTCP ID (8), destination ToR (2), subflow number
/// (1).
pub(crate) const BYTES_PER_OWNER: usize = 11;

/// Number of subflow numbers: columns of a row.
const SUBFLOWS: usize = Subflow::MAX as usize;

/// The flowlet slots of a connection's subflows, by subflow number: each slot's number and 1, or 0.
type Row = [u32; SUBFLOWS];

/// The slot number of an entry. Without one it is 0xffffffff, which no table has.
const fn slot_of(entry: u32) -> u32 {
    entry.wrapping_sub(1)
}

/// The mapping tables.
#[derive(Clone, Debug)]
pub(crate) struct SubflowTable {
    rows: Box<[Row]>,
}

impl SubflowTable {
    /// Tables with `rows` rows, rounded up to a power of two, at least 1. Rows take memory once
    /// they are used.
    pub fn new(rows: u32) -> SubflowTable {
        SubflowTable { rows: zeroed_slice_box(table_size(rows) as usize) }
    }

    /// Maps `owner` to its flowlet's `slot`.
    pub fn map(&mut self, owner: FlowletOwner, slot: u32) {
        let index = self.index(owner);
        self.rows[index][column(owner.shim.subflow)] = slot + 1;
    }

    /// The hops of the live flowlets of the connection's other subflows towards the same ToR.
    pub fn hops_of_others(
        &self,
        owner: FlowletOwner,
        flowlets: &OwnedFlowlets,
        now: Nanos,
    ) -> impl Iterator<Item = Port> + Clone {
        let others = (1..=Subflow::MAX).filter_map(Subflow::new);
        let row = &self.rows[self.index(owner)];
        others.filter(move |&other| other != owner.shim.subflow).filter_map(move |subflow| {
            let other = FlowletOwner { shim: Shim { subflow, ..owner.shim }, ..owner };
            flowlets.port_of(slot_of(row[column(subflow)]), Some(other).into(), now)
        })
    }

    /// Ends the live flowlets of the connection's other subflows towards the same ToR that are on
    /// `port`.
    pub fn end_others(
        &self,
        owner: FlowletOwner,
        flowlets: &mut OwnedFlowlets,
        now: Nanos,
        port: Port,
    ) {
        let row = &self.rows[self.index(owner)];
        for subflow in (1..=Subflow::MAX).filter_map(Subflow::new) {
            let other = FlowletOwner { shim: Shim { subflow, ..owner.shim }, ..owner };
            let slot = slot_of(row[column(subflow)]);
            if subflow != owner.shim.subflow
                && flowlets.port_of(slot, Some(other).into(), now) == Some(port)
            {
                flowlets.end(slot);
            }
        }
    }

    fn index(&self, owner: FlowletOwner) -> usize {
        let id = owner.shim.id.0;
        let hash = mix(mix((id >> 32) as u32, u32::from(owner.tor.0)), id as u32);
        hash as usize & (self.rows.len() - 1)
    }

    /// Adds the flowlet slots of each row, 0xffffffff where there is none.
    pub fn digest(&self, digest: &mut Digest) {
        self.rows.as_flattened().iter().for_each(|&entry| digest.word(slot_of(entry)));
    }

    /// Bytes that a switch needs for the tables: 4 per subflow number.
    pub fn state_bytes(&self) -> usize {
        self.rows.len() * size_of::<Row>()
    }
}

const fn column(subflow: Subflow) -> usize {
    subflow.number() as usize - 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::MptcpId;
    use heddle_units::Time;

    const UP: [Port; 3] = [Port(2), Port(3), Port(4)];
    const GAP: Nanos = 100_000;

    fn owner(id: u64, subflow: u8) -> FlowletOwner {
        let shim = Shim { id: MptcpId(id), subflow: Subflow::new(subflow).unwrap() };
        FlowletOwner { shim, tor: Tor(3) }
    }

    struct Rig {
        flowlets: OwnedFlowlets,
        table: SubflowTable,
    }

    impl Rig {
        fn new(rows: u32) -> Rig {
            Rig {
                flowlets: OwnedFlowlets::new(64, Time::nanos(GAP)),
                table: SubflowTable::new(rows),
            }
        }

        /// Starts a flowlet of `owner` on `port` with a packet of flow `hash`.
        fn start(&mut self, now: Nanos, hash: u32, owner: FlowletOwner, port: u16) {
            self.flowlets.touch(hash, now, &UP);
            self.flowlets.assign_to(hash, Port(port), Some(owner).into());
            self.table.map(owner, self.flowlets.slot_number(hash));
        }

        fn others(&self, now: Nanos, owner: FlowletOwner) -> alloc::vec::Vec<u16> {
            self.table.hops_of_others(owner, &self.flowlets, now).map(|port| port.0).collect()
        }
    }

    #[test]
    fn a_subflow_sees_the_others_of_its_connection_and_not_itself() {
        let mut rig = Rig::new(16);
        rig.start(0, 11, owner(7, 1), 2);
        rig.start(0, 12, owner(7, 2), 3);
        rig.start(0, 13, owner(8, 3), 4);
        assert_eq!(rig.others(0, owner(7, 1)), [3]);
        assert_eq!(rig.others(0, owner(7, 2)), [2]);
        assert_eq!(rig.others(0, owner(7, 16)), [2, 3]);
    }

    #[test]
    fn a_mapping_ends_with_its_flowlet() {
        let mut rig = Rig::new(16);
        rig.start(0, 11, owner(7, 1), 2);
        rig.flowlets.touch(11, 50_000, &UP);
        assert_eq!(rig.others(50_000 + GAP, owner(7, 2)), [2], "kept by the flowlet's own packets");
        assert!(rig.others(50_001 + GAP, owner(7, 2)).is_empty(), "silent for longer than the gap");
    }

    #[test]
    fn a_flowlet_that_takes_the_slot_ends_the_mapping() {
        let mut rig = Rig::new(16);
        rig.start(0, 11, owner(7, 1), 2);
        rig.start(GAP + 1, 11 + 64, owner(8, 1), 3);
        assert!(rig.others(GAP + 1, owner(7, 2)).is_empty());
    }

    #[test]
    fn connections_in_one_row_are_never_taken_for_each_other() {
        let mut rig = Rig::new(1);
        rig.start(0, 11, owner(7, 1), 2);
        rig.start(0, 12, owner(8, 2), 3);
        assert_eq!(rig.others(0, owner(7, 2)), [2]);
        assert_eq!(rig.others(0, owner(8, 1)), [3]);
        rig.start(0, 13, owner(8, 1), 4);
        assert!(rig.others(0, owner(7, 2)).is_empty(), "overwritten: not seen");
        assert_eq!(rig.others(0, owner(8, 2)), [4]);
    }

    #[test]
    fn the_two_directions_of_a_connection_do_not_see_each_other() {
        let mut rig = Rig::new(1);
        rig.start(0, 11, owner(7, 1), 2);
        assert!(rig.others(0, FlowletOwner { tor: Tor(0), ..owner(7, 2) }).is_empty());
    }

    #[test]
    fn it_holds_64_bytes_a_row() {
        assert_eq!(SubflowTable::new(0).state_bytes(), 64);
        assert_eq!(SubflowTable::new(1000).state_bytes(), 1024 * 64);
    }
}
