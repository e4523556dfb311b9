//! Emission of TCP options other than MPTCP's.

use super::{MAX_OPTION_BYTES, NO_OPERATION};
use crate::EmitError;
use crate::bytes::Writer;

/// An option that TCP has of old.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CommonOption<'a> {
    /// The largest payload of a segment (RFC 9293 section 3.2).
    MaxSegmentSize(u16),
    /// The shift of window fields (RFC 7323 section 2.2).
    WindowScale(u8),
    /// Selective acknowledgements are understood (RFC 2018 section 2).
    SackPermitted,
    /// Ranges received out of order, first byte and first byte after (RFC 2018 section 3): at
    /// most 4.
    Sack(&'a [(u32, u32)]),
    /// The sender's time stamp and the one that it echoes (RFC 7323 section 3.2).
    Timestamps {
        /// TSval.
        value: u32,
        /// TSecr.
        echo: u32,
    },
}

impl CommonOption<'_> {
    /// Bytes in a TCP header, kind and length included.
    #[expect(clippy::len_without_is_empty, reason = "no option is empty")]
    pub const fn len(&self) -> usize {
        match self {
            CommonOption::MaxSegmentSize(_) => 4,
            CommonOption::WindowScale(_) => 3,
            CommonOption::SackPermitted => 2,
            CommonOption::Sack(ranges) => 2 + 8 * ranges.len(),
            CommonOption::Timestamps { .. } => 10,
        }
    }

    /// Writes the whole option to the front of `out` and returns its length, [`CommonOption::len`].
    ///
    /// # Errors
    /// [`EmitError::NoRoom`], also for more ranges than a header holds.
    pub fn emit(&self, out: &mut [u8]) -> Result<usize, EmitError> {
        if self.len() > MAX_OPTION_BYTES {
            return Err(EmitError::NoRoom);
        }
        let mut to = Writer::new(out);
        let mut start = |kind: u8| to.put(&[kind, self.len() as u8]);
        match *self {
            CommonOption::MaxSegmentSize(bytes) => {
                start(2)?;
                to.u16(bytes)?;
            }
            CommonOption::WindowScale(shift) => {
                start(3)?;
                to.u8(shift)?;
            }
            CommonOption::SackPermitted => start(4)?,
            CommonOption::Sack(ranges) => {
                start(5)?;
                for (first, after) in ranges {
                    to.u32(*first)?;
                    to.u32(*after)?;
                }
            }
            CommonOption::Timestamps { value, echo } => {
                start(8)?;
                to.u32(value)?;
                to.u32(echo)?;
            }
        }
        Ok(to.written())
    }
}

/// Fills an option area of which `len` bytes are written with no-operations, up to a multiple of 4.
/// Returns its length.
///
/// # Errors
/// [`EmitError::NoRoom`].
pub fn pad(area: &mut [u8], len: usize) -> Result<usize, EmitError> {
    let padded = len.next_multiple_of(4);
    area.get_mut(len..padded).ok_or(EmitError::NoRoom)?.fill(NO_OPERATION);
    Ok(padded)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tcp::options;

    /// The bytes of each RFC's figure.
    #[test]
    fn options_have_the_bytes_of_their_rfcs() {
        let check = |option: CommonOption<'_>, bytes: &[u8]| {
            let mut out = [0; MAX_OPTION_BYTES];
            assert_eq!(option.emit(&mut out), Ok(bytes.len()));
            assert_eq!(&out[..bytes.len()], bytes);
            assert_eq!(option.emit(&mut out[..bytes.len() - 1]), Err(EmitError::NoRoom));
        };
        check(CommonOption::MaxSegmentSize(1460), &[2, 4, 0x05, 0xb4]);
        check(CommonOption::WindowScale(7), &[3, 3, 7]);
        check(CommonOption::SackPermitted, &[4, 2]);
        check(CommonOption::Sack(&[(1, 2)]), &[5, 10, 0, 0, 0, 1, 0, 0, 0, 2]);
        check(CommonOption::Timestamps { value: 1, echo: 2 }, &[8, 10, 0, 0, 0, 1, 0, 0, 0, 2]);
        let five = CommonOption::Sack(&[(0, 1); 5]);
        assert_eq!(five.emit(&mut [0; 64]), Err(EmitError::NoRoom));
    }

    #[test]
    fn an_area_is_padded_by_options_that_are_skipped() {
        let mut area = [0; 8];
        let len = CommonOption::WindowScale(3).emit(&mut area).unwrap();
        assert_eq!(pad(&mut area, len), Ok(4));
        assert_eq!(options(&area[..4]).count(), 1);
        assert_eq!(pad(&mut area, 8), Ok(8));
        assert_eq!(pad(&mut area[..6], 5), Err(EmitError::NoRoom));
    }
}
