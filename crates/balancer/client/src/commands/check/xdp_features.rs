//! The XDP features of a driver, from the generic netlink family `netdev` (include/uapi/linux/netdev.h, Linux 6.3 or later).

use std::io;

use netlink_packet_core::{
    DecodeError, DefaultNla, Emitable, NLM_F_REQUEST, NetlinkMessage, NetlinkPayload, Nla as _,
    NlasIterator, Parseable as _, ParseableParametrized,
};
use netlink_packet_generic::{GenlFamily, GenlHeader, GenlMessage};
use rustix::net::netlink::{GENERIC, SocketAddrNetlink};
use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketType, recv, sendto, socket};

/// The controller's own number, `GENL_ID_CTRL`.
const CONTROLLER: u16 = 0x10;
const CTRL_CMD_GETFAMILY: u8 = 3;
const CTRL_ATTR_FAMILY_ID: u16 = 1;
const CTRL_ATTR_FAMILY_NAME: u16 = 2;
const NETDEV_CMD_DEV_GET: u8 = 1;
const NETDEV_A_DEV_IFINDEX: u16 = 1;
const NETDEV_A_DEV_XDP_FEATURES: u16 = 3;

/// The driver's features, `enum netdev_xdp_act`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Features(pub(crate) u64);

impl Features {
    /// `NETDEV_XDP_ACT_BASIC`: programs run in the driver.
    pub(crate) fn basic(self) -> bool {
        self.0 & 1 != 0
    }

    /// `NETDEV_XDP_ACT_REDIRECT`: packets can leave by another device.
    pub(crate) fn redirects(self) -> bool {
        self.0 & 2 != 0
    }
}

/// The features of an interface, by its index, in the network namespace of the caller.
///
/// # Errors
/// The kernel's; [`io::ErrorKind::NotFound`] before Linux 6.3.
pub(crate) fn of(interface: u32) -> io::Result<Features> {
    let name = DefaultNla::new(CTRL_ATTR_FAMILY_NAME, b"netdev\0".to_vec());
    let family = request(CONTROLLER, Attributes { command: CTRL_CMD_GETFAMILY, list: vec![name] })?;
    let family = family
        .value(CTRL_ATTR_FAMILY_ID)
        .map(u16::from_ne_bytes)
        .ok_or(io::ErrorKind::InvalidData)?;
    let index = DefaultNla::new(NETDEV_A_DEV_IFINDEX, interface.to_ne_bytes().to_vec());
    let device = request(family, Attributes { command: NETDEV_CMD_DEV_GET, list: vec![index] })?;
    let features = device.value(NETDEV_A_DEV_XDP_FEATURES).map(u64::from_ne_bytes);
    features.map(Features).ok_or_else(|| io::ErrorKind::InvalidData.into())
}

/// Sends a command to a family, and waits for the kernel's answer, which comes at once.
fn request(family: u16, command: Attributes) -> io::Result<Attributes> {
    let kernel = socket(AddressFamily::NETLINK, SocketType::DGRAM, Some(GENERIC))?;
    let mut message = GenlMessage::from_payload(command);
    message.set_resolved_family_id(family);
    let mut message = NetlinkMessage::from(message);
    message.header.flags = NLM_F_REQUEST;
    message.finalize();
    let mut bytes = vec![0; message.buffer_len()];
    message.serialize(&mut bytes);
    sendto(&kernel, &bytes, SendFlags::empty(), &SocketAddrNetlink::new(0, 0))?;
    let mut answer = vec![0; 16 << 10];
    let (length, _) = recv(&kernel, &mut answer, RecvFlags::empty())?;
    let invalid = |_| io::Error::from(io::ErrorKind::InvalidData);
    match NetlinkMessage::<GenlMessage<Attributes>>::deserialize(&answer[..length])
        .map_err(invalid)?
        .payload
    {
        NetlinkPayload::InnerMessage(message) => Ok(message.payload),
        NetlinkPayload::Error(error) => Err(error.to_io()),
        _ => Err(io::ErrorKind::InvalidData.into()),
    }
}

/// A command with its attributes.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Attributes {
    command: u8,
    list: Vec<DefaultNla>,
}

impl Attributes {
    /// An attribute of `N` bytes.
    fn value<const N: usize>(&self, kind: u16) -> Option<[u8; N]> {
        let attribute = self.list.iter().find(|attribute| attribute.kind() == kind)?;
        let mut bytes = vec![0; attribute.value_len()];
        attribute.emit_value(&mut bytes);
        bytes.try_into().ok()
    }
}

impl GenlFamily for Attributes {
    fn family_name() -> &'static str {
        "netdev"
    }

    fn command(&self) -> u8 {
        self.command
    }

    fn version(&self) -> u8 {
        1
    }
}

impl Emitable for Attributes {
    fn buffer_len(&self) -> usize {
        self.list.as_slice().buffer_len()
    }

    fn emit(&self, buffer: &mut [u8]) {
        self.list.as_slice().emit(buffer);
    }
}

impl ParseableParametrized<[u8], GenlHeader> for Attributes {
    fn parse_with_param(bytes: &[u8], header: GenlHeader) -> Result<Self, DecodeError> {
        let list = NlasIterator::new(bytes).map(|one| one.and_then(|one| DefaultNla::parse(&one)));
        Ok(Attributes { command: header.cmd, list: list.collect::<Result<_, _>>()? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The loopback device is in every namespace and has no native XDP.
    #[test]
    fn the_kernel_answers_for_the_loopback_device() {
        match of(1) {
            Ok(features) => assert!(!features.basic(), "{features:?}"),
            Err(error) => assert_eq!(error.kind(), io::ErrorKind::NotFound, "before Linux 6.3"),
        }
    }

    #[test]
    fn an_index_of_no_interface_is_an_error() {
        of(u32::MAX >> 1).unwrap_err();
    }
}
