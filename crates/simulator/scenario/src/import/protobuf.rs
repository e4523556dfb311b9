//! Protobuf's wire format (protobuf.dev, "Encoding"): messages behind their lengths, and fields of a
//! message by number.

/// A field's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Value<'a> {
    Varint(u64),
    Fixed64([u8; 8]),
    Fixed32([u8; 4]),
    /// A text, a message or packed numbers.
    Bytes(&'a [u8]),
}

impl<'a> Value<'a> {
    /// The bytes of a text, a message or packed numbers; of others none.
    pub(super) fn bytes(self) -> &'a [u8] {
        match self {
            Value::Bytes(bytes) => bytes,
            _ => &[],
        }
    }

    /// A text; what is no UTF-8 is replaced.
    pub(super) fn text(self) -> String {
        String::from_utf8_lossy(self.bytes()).into_owned()
    }

    /// Appends a repeated number: one, or several packed.
    pub(super) fn push_to(self, numbers: &mut Vec<u64>) -> Result<(), Malformed> {
        match self {
            Value::Varint(number) => numbers.push(number),
            Value::Bytes(mut packed) => {
                while !packed.is_empty() {
                    numbers.push(varint(&mut packed)?);
                }
            }
            Value::Fixed64(_) | Value::Fixed32(_) => return Err(Malformed::Type),
        }
        Ok(())
    }
}

/// Bytes that are no message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Malformed {
    /// They end within a value.
    Cut,
    /// A number of more than 64 bits.
    Long,
    /// A field of a type that no message has.
    Type,
}

impl Malformed {
    /// The fault in a message.
    pub(super) fn says(self) -> &'static str {
        match self {
            Malformed::Cut => "it is cut off",
            Malformed::Long => "a number in it has more than 64 bits",
            Malformed::Type => "a field in it has a type that protobuf does not have",
        }
    }
}

/// Takes a number from the front.
fn varint(bytes: &mut &[u8]) -> Result<u64, Malformed> {
    let mut number = 0u64;
    for shift in (0..70).step_by(7) {
        let (&byte, rest) = bytes.split_first().ok_or(Malformed::Cut)?;
        *bytes = rest;
        let part = u64::from(byte & 0x7f);
        if shift == 63 && part > 1 {
            return Err(Malformed::Long);
        }
        number |= part << shift;
        if byte & 0x80 == 0 {
            return Ok(number);
        }
    }
    Err(Malformed::Long)
}

fn take<'a>(bytes: &mut &'a [u8], count: u64) -> Result<&'a [u8], Malformed> {
    let count = usize::try_from(count).map_err(|_| Malformed::Cut)?;
    let (taken, rest) = bytes.split_at_checked(count).ok_or(Malformed::Cut)?;
    *bytes = rest;
    Ok(taken)
}

/// Takes `N` bytes from the front.
fn fixed<const N: usize>(bytes: &mut &[u8]) -> Result<[u8; N], Malformed> {
    take(bytes, N as u64)?.try_into().map_err(|_| Malformed::Cut)
}

/// Takes the next message of a file, which stands behind its length; `None` at the end.
pub(super) fn next_message<'a>(file: &mut &'a [u8]) -> Result<Option<&'a [u8]>, Malformed> {
    if file.is_empty() {
        return Ok(None);
    }
    let length = varint(file)?;
    take(file, length).map(Some)
}

/// Calls `field` with the number and value of each field of a message.
pub(super) fn for_each_field<'a>(
    mut message: &'a [u8],
    mut field: impl FnMut(u64, Value<'a>) -> Result<(), Malformed>,
) -> Result<(), Malformed> {
    let bytes = &mut message;
    while !bytes.is_empty() {
        let key = varint(bytes)?;
        let value = match key & 7 {
            0 => Value::Varint(varint(bytes)?),
            1 => Value::Fixed64(fixed(bytes)?),
            2 => {
                let length = varint(bytes)?;
                Value::Bytes(take(bytes, length)?)
            }
            5 => Value::Fixed32(fixed(bytes)?),
            _ => return Err(Malformed::Type),
        };
        field(key >> 3, value)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields(message: &[u8]) -> Result<Vec<(u64, Value<'_>)>, Malformed> {
        let mut found = Vec::new();
        for_each_field(message, |number, value| {
            found.push((number, value));
            Ok(())
        })?;
        Ok(found)
    }

    /// The examples of the page: 150 in field 1, "testing" in field 2, and packed 3, 270, 86942 in
    /// field 6.
    #[test]
    fn fields_are_those_of_the_specification() {
        assert_eq!(fields(&[0x08, 0x96, 0x01]), Ok(vec![(1, Value::Varint(150))]));
        let text = b"\x12\x07testing";
        assert_eq!(fields(text), Ok(vec![(2, Value::Bytes(b"testing"))]));
        let packed = fields(&[0x32, 6, 3, 0x8e, 2, 0x9e, 0xa7, 5]).unwrap();
        let mut numbers = vec![1];
        packed[0].1.push_to(&mut numbers).unwrap();
        Value::Varint(9).push_to(&mut numbers).unwrap();
        assert_eq!((packed[0].0, numbers), (6, vec![1, 3, 270, 86_942, 9]));
        let minus_one = [&[0xff; 9][..], &[1]].concat();
        assert_eq!(varint(&mut &minus_one[..]), Ok(u64::MAX));
        let fixed = fields(&[0x0d, 1, 0, 0, 0, 0x11, 2, 0, 0, 0, 0, 0, 0, 0]).unwrap();
        assert_eq!(fixed[0].1, Value::Fixed32([1, 0, 0, 0]));
        assert_eq!(fixed[1], (2, Value::Fixed64([2, 0, 0, 0, 0, 0, 0, 0])));
    }

    #[test]
    fn what_is_no_message_is_told() {
        for (bytes, wrong) in [
            (&[0x08][..], Malformed::Cut),
            (&[0x08, 0x96], Malformed::Cut),
            (&[0x12, 7, b't'], Malformed::Cut),
            (&[0x0b], Malformed::Type),
            (&[0x08, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2], Malformed::Long),
        ] {
            assert_eq!(fields(bytes), Err(wrong), "{bytes:?}");
        }
    }

    #[test]
    fn messages_stand_behind_their_lengths() {
        let mut file: &[u8] = &[2, 0x08, 1, 0, 3, 0x08];
        assert_eq!(next_message(&mut file), Ok(Some(&[0x08, 1][..])));
        assert_eq!(next_message(&mut file), Ok(Some(&[][..])));
        assert_eq!(next_message(&mut file), Err(Malformed::Cut));
        assert_eq!(next_message(&mut &[][..]), Ok(None));
    }
}
