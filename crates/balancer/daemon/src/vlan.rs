//! VLAN interfaces (IEEE Std 802.1Q): their tag, and the device below, which is where XDP gets
//! their frames.

use netlink_packet_route::link::{
    InfoData, InfoKind, InfoVlan, LinkAttribute, LinkInfo, LinkMessage, VlanProtocol,
};

/// A VLAN interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Vlan {
    /// The interface below it.
    pub lower: u32,
    /// The id in its frames' tags.
    pub id: u16,
}

/// The reasons why frames of a VLAN cannot be served below it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unusable {
    /// Its tag is 802.1ad's.
    #[error("it is a VLAN of 802.1ad, and only 802.1Q's tags are read")]
    ServiceTag,
    /// Its frames have two tags.
    #[error("it is a VLAN on a VLAN, and only one tag is read")]
    Nested,
    /// The device below is in another network namespace.
    #[error("the device below it is in another network namespace")]
    OtherNamespace,
}

impl Vlan {
    /// The VLAN of an interface; none of one that is no VLAN.
    ///
    /// # Errors
    /// [`Unusable`], but for [`Unusable::Nested`]: that needs the interface below.
    pub fn of(link: &LinkMessage) -> Result<Option<Vlan>, Unusable> {
        let (mut lower, mut elsewhere) = (None, false);
        let mut info = &[][..];
        for attribute in &link.attributes {
            match attribute {
                LinkAttribute::Link(index) => lower = Some(*index),
                LinkAttribute::LinkNetNsId(_) => elsewhere = true,
                LinkAttribute::LinkInfo(infos) => info = infos,
                _ => {}
            }
        }
        if !info.contains(&LinkInfo::Kind(InfoKind::Vlan)) {
            return Ok(None);
        }
        match (lower, id(info)) {
            (_, None) => Err(Unusable::ServiceTag),
            (Some(lower), Some(id)) if !elsewhere => Ok(Some(Vlan { lower, id })),
            _ => Err(Unusable::OtherNamespace),
        }
    }
}

/// The id of an 802.1Q VLAN.
fn id(info: &[LinkInfo]) -> Option<u16> {
    let data = info.iter().filter_map(|info| match info {
        LinkInfo::Data(InfoData::Vlan(data)) => Some(data),
        _ => None,
    });
    let mut id = None;
    for one in data.flatten() {
        match one {
            InfoVlan::Id(found) => id = Some(*found),
            InfoVlan::Protocol(VlanProtocol::Ieee8021Ad) => return None,
            _ => {}
        }
    }
    id
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As the kernel describes `eth0.100`, on interface 2.
    fn link(protocol: VlanProtocol, further: Vec<LinkAttribute>) -> LinkMessage {
        let data = vec![InfoVlan::Protocol(protocol), InfoVlan::Id(100)];
        let info = vec![LinkInfo::Kind(InfoKind::Vlan), LinkInfo::Data(InfoData::Vlan(data))];
        let mut link = LinkMessage::default();
        link.attributes = vec![LinkAttribute::Link(2), LinkAttribute::LinkInfo(info)];
        link.attributes.extend(further);
        link
    }

    #[test]
    fn a_vlan_has_an_id_and_a_device_below() {
        let vlan = Vlan::of(&link(VlanProtocol::Ieee8021Q, vec![]));
        assert_eq!(vlan, Ok(Some(Vlan { lower: 2, id: 100 })));
    }

    #[test]
    fn the_far_end_of_a_veth_device_is_not_below_it() {
        let mut link = LinkMessage::default();
        let info = LinkAttribute::LinkInfo(vec![LinkInfo::Kind(InfoKind::Veth)]);
        link.attributes = vec![LinkAttribute::Link(2), info];
        assert_eq!(Vlan::of(&link), Ok(None));
        assert_eq!(Vlan::of(&LinkMessage::default()), Ok(None));
    }

    #[test]
    fn other_tags_and_devices_of_other_namespaces_are_told() {
        let vlan = |protocol, further| Vlan::of(&link(protocol, further));
        assert_eq!(vlan(VlanProtocol::Ieee8021Ad, vec![]), Err(Unusable::ServiceTag));
        let elsewhere = vec![LinkAttribute::LinkNetNsId(0)];
        assert_eq!(vlan(VlanProtocol::Ieee8021Q, elsewhere), Err(Unusable::OtherNamespace));
    }
}
