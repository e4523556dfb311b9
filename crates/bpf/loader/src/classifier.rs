//! tc programs on network interfaces, by links of tcx (Linux 6.6).

use std::path::Path;

use aya::Ebpf;
use aya::programs::links::{FdLink, LinkOrder, PinnedLink};
use aya::programs::tc::{SchedClassifierLink, TcAttachOptions};
use aya::programs::{SchedClassifier, TcAttachType, TestRun, TestRunOptions};

use crate::attach::is_orphan;
use crate::error::failed;
use crate::program::GROWTH;
use crate::{Action, Attached, Error, Run};

/// The side of an interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TcDirection {
    /// Packets that the interface has received.
    Ingress,
    /// Packets that it is to send, before its queue.
    Egress,
}

impl From<TcDirection> for TcAttachType {
    fn from(direction: TcDirection) -> TcAttachType {
        match direction {
            TcDirection::Ingress => TcAttachType::Ingress,
            TcDirection::Egress => TcAttachType::Egress,
        }
    }
}

/// Attaches a loaded tc program to an interface of this thread's network namespace, in front of
/// other programs: by the link that is pinned at `pin`, or by a new one to be pinned there; without
/// a pin until the object is dropped. A pinned link whose interface is gone is replaced.
///
/// # Errors
/// [`Error::Program`] if the kernel refuses, [`Error::Link`] if the link cannot be pinned.
pub fn attach_tc(
    object: &mut Ebpf,
    name: &'static str,
    interface: &str,
    direction: TcDirection,
    pin: Option<&Path>,
) -> Result<Attached, Error> {
    let program = object.program_mut(name).ok_or(Error::Missing(name))?;
    let program: &mut SchedClassifier = program.try_into()?;
    if let Some(path) = pin.filter(|path| path.exists()) {
        let pinned = PinnedLink::from_pin(path).map_err(failed)?;
        let link = SchedClassifierLink::try_from(FdLink::from(pinned)).map_err(failed)?;
        match program.attach_to_link(link) {
            Ok(_) => return Ok(Attached::InPlace),
            Err(error) if is_orphan(&error) => std::fs::remove_file(path).map_err(failed)?,
            Err(error) => return Err(error.into()),
        }
    }
    let options = TcAttachOptions::TcxOrder(LinkOrder::first());
    let id = program.attach_with_options(interface, direction.into(), options)?;
    if let Some(path) = pin {
        let link: FdLink = program.take_link(id)?.try_into().map_err(failed)?;
        link.pin(path).map_err(failed)?;
    }
    Ok(Attached::Afresh)
}

/// Runs a loaded tc program `repeat` times on a frame (14 bytes or more), in this thread, as if lo
/// had received it. A redirected frame goes nowhere; clones that the program makes are sent. From
/// the second round on a program meets its own output.
///
/// # Errors
/// [`Error::Missing`] if the object has no such program, [`Error::Program`] if the kernel refuses
/// the frame.
pub fn run_tc(object: &Ebpf, name: &'static str, frame: &[u8], repeat: u32) -> Result<Run, Error> {
    let program = object.program(name).ok_or(Error::Missing(name))?;
    let mut data = vec![0; frame.len() + GROWTH];
    let mut options = TestRunOptions::new();
    options.data_in = Some(frame);
    options.data_out = Some(&mut data);
    options.repeat = repeat;
    let result = <&SchedClassifier>::try_from(program)?.test_run(options)?;
    data.truncate(result.data_size_out as usize);
    Ok(Run { action: action_of(result.return_value), data, duration: result.duration })
}

/// A verdict of tc (linux/bpf.h, `enum tcx_action_base`).
fn action_of(verdict: u32) -> Action {
    match verdict {
        0 | u32::MAX => Action::Pass,
        2 => Action::Drop,
        7 => Action::Redirect,
        other => Action::Unknown(other),
    }
}
