//! Tables of a switch that tells the subflows of MPTCP connections apart (MP-HULA sections 2.2, 2.4
//! and 2.5): a ToR's association tables, flowlets with owners, and the subflow mappings.
//! [`crate::MpHula`] and [`crate::Shuttle`] select hops by them, each by its own rule.

use crate::{
    Counters, Digest, Flowlet, Handshake, Header, HulaConfig, Ingress, MptcpTablesConfig, Nanos,
    Port, SwitchInfo,
    association::Association,
    mix,
    subflows::{BYTES_PER_OWNER, FlowletOwner, OwnedFlowlets, SlotOwner, SubflowTable},
};

/// The tables.
#[derive(Clone, Debug)]
pub(crate) struct MptcpTables {
    salt: u32,
    flowlets: OwnedFlowlets,
    subflows: SubflowTable,
    /// At a ToR only.
    association: Option<Association>,
    shims: u64,
}

/// Owner of a packet's flowlet, if the packet has a shim.
#[inline]
pub(crate) fn owner(packet: &Header) -> Option<FlowletOwner> {
    packet.shim.map(|shim| FlowletOwner { shim, tor: packet.dst_tor })
}

impl MptcpTables {
    /// Empty tables.
    pub fn new(info: &SwitchInfo, hula: &HulaConfig, tables: &MptcpTablesConfig) -> MptcpTables {
        MptcpTables {
            salt: info.salt,
            flowlets: OwnedFlowlets::new(hula.flowlet_slots, hula.flowlet_gap),
            subflows: SubflowTable::new(tables.mapping_rows),
            association: info.tor.map(|_| Association::new(tables, info.salt)),
            shims: 0,
        }
    }

    /// Learns from a packet of a handshake or teardown at a ToR.
    pub fn observe(&mut self, now: Nanos, packet: &Handshake<'_>) {
        if let Some(association) = &mut self.association {
            association.observe(now, packet);
        }
    }

    /// Adds the shim of its subflow to a packet from a host, if the connection has more than one
    /// subflow.
    #[inline]
    pub fn add_shim(&mut self, now: Nanos, packet: &mut Header) {
        if let (Ingress::Host, Some(association)) = (packet.ingress, &mut self.association) {
            packet.shim = association.shim(now, packet.flow_hash);
            self.shims += u64::from(packet.shim.is_some());
        }
    }

    /// The hash of a packet's flow at this switch.
    #[inline]
    pub fn hash(&self, packet: &Header) -> u32 {
        mix(packet.flow_hash, self.salt)
    }

    /// Looks up the flowlet of a packet with `hash`, and restarts its idle time.
    #[inline]
    pub fn touch(&mut self, hash: u32, now: Nanos, next_hops: &[Port]) -> Flowlet {
        self.flowlets.touch(hash, now, next_hops)
    }

    /// Sets port and owner of the flowlet of `hash`.
    pub fn assign(&mut self, hash: u32, port: Port, owner: Option<FlowletOwner>) {
        self.flowlets.assign_to(hash, port, owner.into());
        if let Some(owner) = owner {
            self.map(hash, owner);
        }
    }

    /// Assigns a running flowlet that started without a shim to the packet's subflow. Returns the
    /// owner if it has one now.
    #[inline]
    pub fn adopt(&mut self, hash: u32, packet: &Header) -> Option<FlowletOwner> {
        let owner = owner(packet)?;
        if !self.flowlets.adopt(hash, Some(owner).into()) {
            return None;
        }
        self.map(hash, owner);
        Some(owner)
    }

    fn map(&mut self, hash: u32, owner: FlowletOwner) {
        self.subflows.map(owner, self.flowlets.slot_number(hash));
    }

    /// The hops of the live flowlets of the connection's other subflows towards the same ToR.
    pub fn hops_of_others(
        &self,
        owner: FlowletOwner,
        now: Nanos,
    ) -> impl Iterator<Item = Port> + Clone {
        self.subflows.hops_of_others(owner, &self.flowlets, now)
    }

    /// Ends the live flowlets of the connection's other subflows towards the same ToR that are on
    /// `port`.
    pub fn end_others(&mut self, owner: FlowletOwner, now: Nanos, port: Port) {
        self.subflows.end_others(owner, &mut self.flowlets, now, port);
    }

    /// Bytes that a switch needs for the tables.
    pub fn state_bytes(&self) -> usize {
        let owners = self.flowlets.slots() * BYTES_PER_OWNER;
        let association = self.association.as_ref().map_or(0, Association::state_bytes);
        self.flowlets.state_bytes() + owners + self.subflows.state_bytes() + association
    }

    /// The tables' counters; the others are 0.
    pub fn counters(&self) -> Counters {
        let association = self.association.as_ref().map(Association::counters).unwrap_or_default();
        Counters { association, shims: self.shims, ..self.flowlets.counters() }
    }

    /// Adds flowlets with their owners, mappings, and a ToR's association tables.
    pub fn digest(&self, digest: &mut Digest) {
        self.flowlets.digest(digest, SlotOwner::words);
        self.subflows.digest(digest);
        if let Some(association) = &self.association {
            association.digest(digest);
        }
    }

    /// Ends all flowlets.
    #[cfg(test)]
    pub fn forget_flowlets(&mut self, hula: &HulaConfig) {
        self.flowlets = OwnedFlowlets::new(hula.flowlet_slots, hula.flowlet_gap);
    }
}
