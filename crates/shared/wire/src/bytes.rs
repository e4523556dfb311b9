//! Reading and writing fields in network byte order, checked.

use crate::{Key, error::EmitError, error::ParseError};

/// Reader over the bytes that are not read yet.
#[derive(Clone, Copy)]
pub(crate) struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    pub(crate) const fn new(bytes: &'a [u8]) -> Self {
        Reader(bytes)
    }

    pub(crate) const fn left(&self) -> usize {
        self.0.len()
    }

    pub(crate) const fn rest(self) -> &'a [u8] {
        self.0
    }

    pub(crate) fn array<const N: usize>(&mut self) -> Result<[u8; N], ParseError> {
        let (field, rest) = self.0.split_first_chunk().ok_or(ParseError::Length)?;
        self.0 = rest;
        Ok(*field)
    }

    pub(crate) fn u8(&mut self) -> Result<u8, ParseError> {
        self.array().map(u8::from_be_bytes)
    }

    pub(crate) fn u16(&mut self) -> Result<u16, ParseError> {
        self.array().map(u16::from_be_bytes)
    }

    pub(crate) fn u32(&mut self) -> Result<u32, ParseError> {
        self.array().map(u32::from_be_bytes)
    }

    pub(crate) fn u64(&mut self) -> Result<u64, ParseError> {
        self.array().map(u64::from_be_bytes)
    }

    pub(crate) fn key(&mut self) -> Result<Key, ParseError> {
        self.array().map(Key)
    }

    /// Checks that all bytes are read.
    pub(crate) const fn end(&self) -> Result<(), ParseError> {
        if self.0.is_empty() { Ok(()) } else { Err(ParseError::Length) }
    }
}

/// Writer into a buffer.
pub(crate) struct Writer<'a> {
    out: &'a mut [u8],
    written: usize,
}

impl<'a> Writer<'a> {
    pub(crate) const fn new(out: &'a mut [u8]) -> Self {
        Writer { out, written: 0 }
    }

    pub(crate) const fn written(&self) -> usize {
        self.written
    }

    pub(crate) fn put(&mut self, field: &[u8]) -> Result<(), EmitError> {
        let free = self.out.get_mut(self.written..).unwrap_or_default();
        free.get_mut(..field.len()).ok_or(EmitError::NoRoom)?.copy_from_slice(field);
        self.written += field.len();
        Ok(())
    }

    pub(crate) fn u8(&mut self, field: u8) -> Result<(), EmitError> {
        self.put(&[field])
    }

    pub(crate) fn u16(&mut self, field: u16) -> Result<(), EmitError> {
        self.put(&field.to_be_bytes())
    }

    pub(crate) fn u32(&mut self, field: u32) -> Result<(), EmitError> {
        self.put(&field.to_be_bytes())
    }

    pub(crate) fn u64(&mut self, field: u64) -> Result<(), EmitError> {
        self.put(&field.to_be_bytes())
    }
}
