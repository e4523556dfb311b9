//! DSS (section 3.3): the data sequence signal.

use super::body::Body;
use crate::bytes::{Reader, Writer};
use crate::{EmitError, ParseError};

/// DSS: 4 to 28 bytes. Both versions have the same formats.
///
/// The bits m and a, which give the length of a number, are 0 when written without that number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Dss {
    /// F: DATA_FIN, the mapping ends the sender's data.
    pub fin: bool,
    /// A: the next data sequence number expected.
    pub ack: Option<DataSeq>,
    /// M: the data sequence mapping.
    pub mapping: Option<Mapping>,
}

/// A data sequence number as it is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DataSeq {
    /// The low 32 bits: 4 bytes.
    Short(u32),
    /// All 64 bits: 8 bytes.
    Long(u64),
}

/// Maps a range of a subflow's bytes to the connection's data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Mapping {
    /// The data sequence number of the first byte.
    pub data_seq: DataSeq,
    /// Subflow sequence number of the first byte, relative to the initial one; 0 if only a DATA_FIN
    /// is mapped.
    pub subflow_seq: u32,
    /// Bytes mapped; a DATA_FIN counts as one.
    pub len: u16,
    /// The checksum of the data and this mapping, if checksums are in use.
    pub checksum: Option<u16>,
}

const FIN: u8 = 0x10;
const LONG_DATA_SEQ: u8 = 0x08;
const MAPPING: u8 = 0x04;
const LONG_ACK: u8 = 0x02;
const ACK: u8 = 0x01;

impl Dss {
    pub(super) fn parse(mut fields: Reader<'_>) -> Result<Self, ParseError> {
        let flags = fields.u8()?;
        let has = |flag| flags & flag != 0;
        let ack = has(ACK).then(|| DataSeq::parse(has(LONG_ACK), &mut fields)).transpose()?;
        let mapping =
            has(MAPPING).then(|| Mapping::parse(has(LONG_DATA_SEQ), &mut fields)).transpose()?;
        fields.end()?;
        Ok(Dss { fin: has(FIN), ack, mapping })
    }

    fn flags(&self) -> u8 {
        let ack = self.ack.map_or(0, |ack| ACK | ack.flag(LONG_ACK));
        let mapping = self.mapping.map_or(0, |map| MAPPING | map.data_seq.flag(LONG_DATA_SEQ));
        ack | mapping | if self.fin { FIN } else { 0 }
    }
}

impl DataSeq {
    fn parse(long: bool, fields: &mut Reader<'_>) -> Result<Self, ParseError> {
        if long { fields.u64().map(DataSeq::Long) } else { fields.u32().map(DataSeq::Short) }
    }

    const fn flag(self, long: u8) -> u8 {
        match self {
            DataSeq::Short(_) => 0,
            DataSeq::Long(_) => long,
        }
    }

    const fn len(self) -> usize {
        match self {
            DataSeq::Short(_) => 4,
            DataSeq::Long(_) => 8,
        }
    }

    fn emit(self, to: &mut Writer<'_>) -> Result<(), EmitError> {
        match self {
            DataSeq::Short(seq) => to.u32(seq),
            DataSeq::Long(seq) => to.u64(seq),
        }
    }
}

impl Mapping {
    /// Parses the last field of the option: the checksum is present if bytes remain for it.
    fn parse(long: bool, fields: &mut Reader<'_>) -> Result<Self, ParseError> {
        Ok(Mapping {
            data_seq: DataSeq::parse(long, fields)?,
            subflow_seq: fields.u32()?,
            len: fields.u16()?,
            checksum: fields.u16().ok(),
        })
    }

    const fn bytes(&self) -> usize {
        self.data_seq.len() + 6 + if self.checksum.is_some() { 2 } else { 0 }
    }

    fn emit(&self, to: &mut Writer<'_>) -> Result<(), EmitError> {
        self.data_seq.emit(to)?;
        to.u32(self.subflow_seq)?;
        to.u16(self.len)?;
        self.checksum.map_or(Ok(()), |checksum| to.u16(checksum))
    }
}

impl Body for Dss {
    fn len(&self) -> usize {
        1 + self.ack.map_or(0, DataSeq::len) + self.mapping.map_or(0, |mapping| mapping.bytes())
    }

    fn emit(&self, to: &mut Writer<'_>) -> Result<(), EmitError> {
        to.u8(self.flags())?;
        if let Some(ack) = self.ack {
            ack.emit(to)?;
        }
        self.mapping.map_or(Ok(()), |mapping| mapping.emit(to))
    }
}
