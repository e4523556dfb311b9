//! How TCP's parameters are written out: the transport crate knows no serde.

use heddle_transport::{Control, Recovery, TcpConfig};
use heddle_units::{Bytes, Time};
use serde::Serialize;

#[derive(Serialize)]
#[serde(remote = "TcpConfig")]
pub(crate) struct TcpForm {
    mss: u16,
    initial_window: u32,
    #[serde(with = "ControlForm")]
    control: Control,
    #[serde(with = "RecoveryForm")]
    recovery: Recovery,
    min_rto: Time,
    max_rto: Time,
    initial_rto: Time,
    receive_window: Bytes,
    delayed_ack: Option<Time>,
    idle_restart: bool,
    dup_threshold: u32,
}

#[derive(Serialize)]
#[serde(remote = "Control", rename_all = "lowercase")]
enum ControlForm {
    NewReno,
    Cubic,
    Dctcp,
}

#[derive(Serialize)]
#[serde(remote = "Recovery", rename_all = "lowercase")]
enum RecoveryForm {
    Sack,
    NewReno,
}
