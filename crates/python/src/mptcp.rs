//! MPTCP's options and tokens (RFC 8684, RFC 6824).

use heddle_wire::mptcp::{CapableKeys, DataSeq, MpJoin, MptcpOption};
use heddle_wire::{Key, Version, tcp};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

/// The MPTCP options in the option area of a TCP header, in order: a dictionary each. Options of
/// other kinds are left out.
#[pyfunction]
pub(crate) fn mptcp_parse<'py>(
    py: Python<'py>,
    options: &[u8],
) -> PyResult<Vec<Bound<'py, PyDict>>> {
    tcp::options(options)
        .filter(|option| option.kind == tcp::MPTCP)
        .map(|option| {
            let parsed = MptcpOption::parse(option.bytes)
                .map_err(|error| PyValueError::new_err(error.to_string()))?;
            fields(py, &parsed)
        })
        .collect()
}

/// Token and initial data sequence number of a key of 8 bytes, under a version, 0 or 1.
#[pyfunction]
pub(crate) fn mptcp_token(key: [u8; 8], version: u8) -> PyResult<(u32, u64)> {
    let version = match version {
        0 => Version::V0,
        1 => Version::V1,
        other => {
            return Err(PyValueError::new_err(format!("MPTCP has versions 0 and 1, not {other}")));
        }
    };
    Ok((version.token(Key(key)).0, version.initial_data_seq(Key(key))))
}

/// An option's fields by name, with its name under `option`.
fn fields<'py>(py: Python<'py>, option: &MptcpOption) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    let key = |key: Key| PyBytes::new(py, &key.0);
    match option {
        MptcpOption::Capable(capable) => {
            dict.set_item("option", "mp_capable")?;
            dict.set_item("version", capable.version as u8)?;
            dict.set_item("flags", capable.flags.0)?;
            let (sender, receiver) = match capable.keys {
                CapableKeys::None => (None, None),
                CapableKeys::Sender(sender) => (Some(sender), None),
                CapableKeys::Both { sender, receiver }
                | CapableKeys::WithData { sender, receiver, .. } => (Some(sender), Some(receiver)),
            };
            dict.set_item("sender_key", sender.map(key))?;
            dict.set_item("receiver_key", receiver.map(key))?;
            if let CapableKeys::WithData { len, checksum, .. } = capable.keys {
                dict.set_item("len", len)?;
                dict.set_item("checksum", checksum)?;
            }
        }
        MptcpOption::Join(join) => set_join(&dict, join)?,
        MptcpOption::Dss(dss) => {
            let number = |seq: DataSeq| match seq {
                DataSeq::Short(low) => u64::from(low),
                DataSeq::Long(all) => all,
            };
            dict.set_item("option", "dss")?;
            dict.set_item("fin", dss.fin)?;
            dict.set_item("ack", dss.ack.map(number))?;
            let mapping = dss.mapping.as_ref();
            dict.set_item("data_seq", mapping.map(|mapping| number(mapping.data_seq)))?;
            dict.set_item("subflow_seq", mapping.map(|mapping| mapping.subflow_seq))?;
            dict.set_item("len", mapping.map(|mapping| mapping.len))?;
            dict.set_item("checksum", mapping.and_then(|mapping| mapping.checksum))?;
        }
        MptcpOption::AddAddr(add) => {
            dict.set_item("option", "add_addr")?;
            dict.set_item("id", add.id)?;
            dict.set_item("address", add.address.to_string())?;
            dict.set_item("port", add.port)?;
        }
        MptcpOption::RemoveAddr(remove) => {
            dict.set_item("option", "remove_addr")?;
            dict.set_item(
                "ids",
                remove.ids.as_slice().iter().copied().map(u32::from).collect::<Vec<_>>(),
            )?;
        }
        MptcpOption::Prio(prio) => {
            dict.set_item("option", "mp_prio")?;
            dict.set_item("backup", prio.backup)?;
            dict.set_item("address", prio.address)?;
        }
        MptcpOption::Fail(fail) => {
            dict.set_item("option", "mp_fail")?;
            dict.set_item("data_seq", fail.data_seq)?;
        }
        MptcpOption::FastClose(close) => {
            dict.set_item("option", "mp_fastclose")?;
            dict.set_item("receiver_key", key(close.receiver))?;
        }
        MptcpOption::Reset(reset) => {
            dict.set_item("option", "mp_tcprst")?;
            dict.set_item("flags", reset.flags.bits())?;
            dict.set_item("reason", reset.reason)?;
        }
    }
    Ok(dict)
}

fn set_join(dict: &Bound<'_, PyDict>, join: &MpJoin) -> PyResult<()> {
    dict.set_item("option", "mp_join")?;
    match *join {
        MpJoin::Syn { backup, address, token, nonce } => {
            dict.set_item("backup", backup)?;
            dict.set_item("address", address)?;
            dict.set_item("token", token.0)?;
            dict.set_item("nonce", nonce)
        }
        MpJoin::SynAck { backup, address, hmac, nonce } => {
            dict.set_item("backup", backup)?;
            dict.set_item("address", address)?;
            dict.set_item("hmac", PyBytes::new(dict.py(), &hmac.to_be_bytes()))?;
            dict.set_item("nonce", nonce)
        }
        MpJoin::Ack { hmac } => dict.set_item("hmac", PyBytes::new(dict.py(), &hmac)),
    }
}
