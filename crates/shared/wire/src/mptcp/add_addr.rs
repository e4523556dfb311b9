//! ADD_ADDR (section 3.4.1): offers an address for further subflows.

use core::net::IpAddr;

use super::body::Body;
use crate::bytes::{Reader, Writer};
use crate::{EmitError, ParseError};

/// ADD_ADDR: 8 to 30 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct AddAddr {
    /// Identifies the address.
    pub id: u8,
    /// The address.
    pub address: IpAddr,
    /// The port to join at, if not the connection's.
    pub port: Option<u16>,
    /// Form, which differs between the versions.
    pub form: AddAddrForm,
}

/// The forms of an ADD_ADDR.
///
/// They are distinguished by their fields: a truncated HMAC makes the option longer, and an echo
/// sets the lowest of the four bits beside the subtype, where version 0 has the address family, 4
/// or 6.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AddAddrForm {
    /// Version 0: without an HMAC.
    V0,
    /// Version 1: the last 64 bits of the sender's HMAC ([`crate::key::add_addr_hmac`]).
    Hmac(u64),
    /// Version 1, bit E: sent back by the receiver.
    Echo,
}

const ECHO: u8 = 1;

impl AddAddr {
    pub(super) fn parse(nibble: u8, mut fields: Reader<'_>) -> Result<Self, ParseError> {
        let id = fields.u8()?;
        let address = parse_address(&mut fields)?;
        let port = matches!(fields.left(), 2 | 10).then(|| fields.u16()).transpose()?;
        let form = match (fields.left(), nibble & ECHO != 0) {
            (8, false) => AddAddrForm::Hmac(fields.u64()?),
            (0, true) => AddAddrForm::Echo,
            (0, false) if nibble == family(address) => AddAddrForm::V0,
            (0, false) => return Err(ParseError::AddressFamily),
            _ => return Err(ParseError::Length),
        };
        Ok(AddAddr { id, address, port, form })
    }
}

/// The address, whose family follows from the bytes left: a port (2) and an HMAC (8) may come after
/// it.
fn parse_address(fields: &mut Reader<'_>) -> Result<IpAddr, ParseError> {
    match fields.left() {
        4 | 6 | 12 | 14 => fields.array::<4>().map(IpAddr::from),
        16 | 18 | 24 | 26 => fields.array::<16>().map(IpAddr::from),
        _ => Err(ParseError::Length),
    }
}

/// Version 0's field for it.
const fn family(address: IpAddr) -> u8 {
    match address {
        IpAddr::V4(_) => 4,
        IpAddr::V6(_) => 6,
    }
}

impl Body for AddAddr {
    fn nibble(&self) -> u8 {
        match self.form {
            AddAddrForm::V0 => family(self.address),
            AddAddrForm::Hmac(_) => 0,
            AddAddrForm::Echo => ECHO,
        }
    }

    fn len(&self) -> usize {
        let address = if self.address.is_ipv4() { 4 } else { 16 };
        let port = if self.port.is_some() { 2 } else { 0 };
        let hmac = if matches!(self.form, AddAddrForm::Hmac(_)) { 8 } else { 0 };
        1 + address + port + hmac
    }

    fn emit(&self, to: &mut Writer<'_>) -> Result<(), EmitError> {
        to.u8(self.id)?;
        match self.address {
            IpAddr::V4(address) => to.put(&address.octets())?,
            IpAddr::V6(address) => to.put(&address.octets())?,
        }
        if let Some(port) = self.port {
            to.u16(port)?;
        }
        match self.form {
            AddAddrForm::Hmac(hmac) => to.u64(hmac),
            AddAddrForm::V0 | AddAddrForm::Echo => Ok(()),
        }
    }
}
