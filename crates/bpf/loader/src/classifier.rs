//! tc programs on network interfaces, by links of tcx (Linux 6.6).

use std::path::Path;

use aya::Ebpf;
use aya::programs::links::{FdLink, LinkOrder, PinnedLink};
use aya::programs::tc::{SchedClassifierLink, TcAttachOptions};
use aya::programs::{SchedClassifier, TcAttachType};

use crate::attach::{failed, is_orphan};
use crate::{Attached, Error};

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

/// Attaches a loaded tc program to an interface of this thread's network namespace, in front of other programs: by the link that is pinned
/// at `pin`, or by a new one to be pinned there; without a pin until the object is dropped. A pinned link whose interface is gone is replaced.
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
