//! REMOVE_ADDR (section 3.4.2): withdraws addresses.

use super::body::{Body, FIXED_BYTES};
use crate::bytes::{Reader, Writer};
use crate::{EmitError, ParseError, tcp};

/// REMOVE_ADDR: 3 bytes and one for each address. Both versions have the same format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RemoveAddr {
    /// The identifiers of the addresses.
    pub ids: AddressIds,
}

/// A list of address identifiers: at least one, at most as many as fit into a TCP header.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct AddressIds {
    /// Identifiers beyond `len` are 0.
    ids: [u8; AddressIds::MAX],
    len: u8,
}

impl AddressIds {
    /// The most identifiers.
    pub const MAX: usize = tcp::MAX_OPTION_BYTES - FIXED_BYTES;

    /// The list of `ids`; `None` if there is none, or more than [`AddressIds::MAX`].
    pub fn new(ids: &[u8]) -> Option<AddressIds> {
        let mut list = AddressIds { ids: [0; AddressIds::MAX], len: u8::try_from(ids.len()).ok()? };
        list.ids.get_mut(..ids.len())?.copy_from_slice(ids);
        (!ids.is_empty()).then_some(list)
    }

    /// The identifiers.
    pub fn as_slice(&self) -> &[u8] {
        self.ids.get(..usize::from(self.len)).unwrap_or_default()
    }
}

impl core::fmt::Debug for AddressIds {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        self.as_slice().fmt(f)
    }
}

impl RemoveAddr {
    pub(super) fn parse(fields: Reader<'_>) -> Result<Self, ParseError> {
        let ids = AddressIds::new(fields.rest()).ok_or(ParseError::Length)?;
        Ok(RemoveAddr { ids })
    }
}

impl Body for RemoveAddr {
    fn len(&self) -> usize {
        self.ids.as_slice().len()
    }

    fn emit(&self, to: &mut Writer<'_>) -> Result<(), EmitError> {
        to.put(self.ids.as_slice())
    }
}
