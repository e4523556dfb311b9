//! Serialisation of the transport's parameters, under the names that a scenario file gives them: the transport crate knows
//! no serde.

use heddle_transport::mptcp::{Coupling, FullWindow, JoinTime, MptcpConfig, Scheduler};
use heddle_transport::{Control, LossDetection, Pacing, Recovery, TcpConfig};
use heddle_units::{Bytes, Time};
use heddle_wire::Version;
use serde::{Serialize, Serializer};

#[derive(Serialize)]
#[serde(remote = "TcpConfig")]
pub(crate) struct TcpConfigDef {
    mss: u16,
    initial_window: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    initial_ssthresh: Option<u32>,
    #[serde(with = "ControlDef")]
    control: Control,
    #[serde(with = "RecoveryDef")]
    recovery: Recovery,
    #[serde(with = "LossDetectionDef")]
    loss_detection: LossDetection,
    min_rto: Time,
    max_rto: Time,
    initial_rto: Time,
    receive_window: Bytes,
    delayed_ack: Option<Time>,
    idle_restart: bool,
    dup_threshold: u32,
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "ratios")]
    pacing: Option<Pacing>,
}

#[derive(Serialize)]
#[serde(remote = "MptcpConfig")]
pub(crate) struct MptcpConfigDef {
    #[serde(flatten, with = "TcpConfigDef")]
    tcp: TcpConfig,
    #[serde(serialize_with = "number")]
    version: Version,
    subflows: u8,
    #[serde(with = "CouplingDef")]
    coupling: Coupling,
    #[serde(with = "SchedulerDef")]
    scheduler: Scheduler,
    #[serde(with = "JoinTimeDef")]
    join: JoinTime,
    #[serde(skip_serializing_if = "waits", with = "FullWindowDef")]
    full_window: FullWindow,
}

#[derive(Serialize)]
#[serde(remote = "Pacing")]
struct PacingDef {
    slow_start_ratio: u16,
    avoidance_ratio: u16,
}

/// Serialises the ratios of a pacing that is on.
fn ratios<S: Serializer>(pacing: &Option<Pacing>, to: S) -> Result<S::Ok, S::Error> {
    match pacing {
        Some(pacing) => PacingDef::serialize(pacing, to),
        None => to.serialize_none(),
    }
}

#[derive(Serialize)]
#[serde(remote = "Control", rename_all = "lowercase")]
enum ControlDef {
    NewReno,
    Cubic,
    Dctcp,
    Coupled,
}

#[derive(Serialize)]
#[serde(remote = "Recovery", rename_all = "lowercase")]
enum RecoveryDef {
    Sack,
    NewReno,
}

#[derive(Serialize)]
#[serde(remote = "LossDetection", rename_all = "kebab-case")]
enum LossDetectionDef {
    DupAck,
    Rack,
}

#[derive(Serialize)]
#[serde(remote = "Coupling", rename_all = "lowercase")]
enum CouplingDef {
    Uncoupled,
    Lia,
    Olia,
    Balia,
}

#[derive(Serialize)]
#[serde(remote = "Scheduler", rename_all = "kebab-case")]
enum SchedulerDef {
    LowestRtt,
    RoundRobin,
    Redundant,
}

#[derive(Serialize)]
#[serde(remote = "JoinTime", rename_all = "kebab-case")]
enum JoinTimeDef {
    AfterData,
    AtOnce,
}

#[derive(Serialize)]
#[serde(remote = "FullWindow", rename_all = "kebab-case")]
enum FullWindowDef {
    Wait,
    Retransmit,
    Penalise,
}

fn waits(full_window: &FullWindow) -> bool {
    *full_window == FullWindow::Wait
}

fn number<S: Serializer>(version: &Version, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_u8(match version {
        Version::V0 => 0,
        Version::V1 => 1,
    })
}
