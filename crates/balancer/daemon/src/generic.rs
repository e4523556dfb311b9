//! Requests to the kernel by generic netlink
//! (<https://docs.kernel.org/networking/generic_netlink.html>), of families that no crate speaks
//! for us.

use std::io;

use netlink_packet_core::{
    DecodeError, DefaultNla, Emitable, NLA_TYPE_MASK, NLM_F_REQUEST, NetlinkMessage,
    NetlinkPayload, Nla as _, NlasIterator, Parseable as _, ParseableParametrized,
};
use netlink_packet_generic::{GenlFamily, GenlHeader, GenlMessage};
use rustix::net::netlink::{GENERIC, SocketAddrNetlink};
use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketType, recv, sendto, socket};

/// The controller's own number, `GENL_ID_CTRL`.
const CONTROLLER: u16 = 0x10;
const CTRL_CMD_GETFAMILY: u8 = 3;
const CTRL_ATTR_FAMILY_ID: u16 = 1;
const CTRL_ATTR_FAMILY_NAME: u16 = 2;

/// The answer of the family of this name to a command, in the network namespace of the calling
/// thread. The kernel answers at once.
///
/// # Errors
/// The kernel's; [`io::ErrorKind::NotFound`] if it has no such family.
pub fn ask(family: &str, command: u8, list: Vec<DefaultNla>) -> io::Result<Attributes> {
    let name = [family.as_bytes(), b"\0"].concat();
    let name = DefaultNla::new(CTRL_ATTR_FAMILY_NAME, name);
    let found = request(CONTROLLER, Attributes { command: CTRL_CMD_GETFAMILY, list: vec![name] })?;
    let found = found.value(CTRL_ATTR_FAMILY_ID).map(u16::from_ne_bytes);
    request(found.ok_or(io::ErrorKind::InvalidData)?, Attributes { command, list })
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
    let mut answer = vec![0; 64 << 10];
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
pub struct Attributes {
    command: u8,
    list: Vec<DefaultNla>,
}

impl Attributes {
    /// The bytes of an attribute.
    pub fn bytes(&self, kind: u16) -> Option<Vec<u8>> {
        let attribute =
            self.list.iter().find(|attribute| attribute.kind() & NLA_TYPE_MASK == kind)?;
        let mut bytes = vec![0; attribute.value_len()];
        attribute.emit_value(&mut bytes);
        Some(bytes)
    }

    /// An attribute of `N` bytes.
    pub fn value<const N: usize>(&self, kind: u16) -> Option<[u8; N]> {
        self.bytes(kind)?.try_into().ok()
    }
}

impl GenlFamily for Attributes {
    /// Not used: the number is set.
    fn family_name() -> &'static str {
        ""
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
