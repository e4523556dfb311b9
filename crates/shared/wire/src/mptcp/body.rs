//! Common interface of the option types.

use crate::EmitError;
use crate::bytes::Writer;

/// Bytes of kind, length and subtype.
pub(super) const FIXED_BYTES: usize = 3;

/// Fields of an option after its subtype.
pub(super) trait Body {
    /// The four bits beside the subtype.
    fn nibble(&self) -> u8 {
        0
    }

    /// Bytes that follow.
    fn len(&self) -> usize;

    /// Writes the bytes that follow.
    fn emit(&self, to: &mut Writer<'_>) -> Result<(), EmitError>;
}
