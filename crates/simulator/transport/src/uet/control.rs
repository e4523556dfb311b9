//! Bytes that a sender may have in flight.

use heddle_units::Time;

use super::nscc::{Acknowledged, Nscc};
use super::rccc::Credit;
use super::{UetParameters, WindowControl};

/// A window, or credit.
#[derive(Clone, Debug)]
pub(super) enum Control {
    Nscc(Nscc),
    Fixed(u64),
    Rccc(Credit),
}

impl Control {
    pub(super) fn new(parameters: &UetParameters) -> Control {
        match parameters.control {
            WindowControl::Nscc => Control::Nscc(Nscc::new(parameters)),
            WindowControl::Fixed => Control::Fixed(parameters.window),
            WindowControl::Rccc => Control::Rccc(Credit::new(parameters)),
        }
    }

    /// Bytes on the wire that may be in flight; with credit, that may be sent.
    #[inline]
    pub(super) fn window(&self) -> u64 {
        match self {
            Control::Nscc(nscc) => nscc.window(),
            Control::Fixed(window) => *window,
            Control::Rccc(credit) => credit.left(),
        }
    }

    /// True if a packet may be sent. Of a window one may be in flight in any case.
    #[inline]
    pub(super) fn allows(&self, size: u64, in_flight: u64) -> bool {
        match self {
            Control::Rccc(credit) => credit.left() > 0,
            _ => in_flight == 0 || in_flight + size <= self.window(),
        }
    }

    pub(super) fn on_ack(&mut self, parameters: &UetParameters, ack: &Acknowledged) {
        match self {
            Control::Nscc(nscc) => nscc.on_ack(parameters, ack),
            Control::Fixed(_) => {}
            Control::Rccc(credit) => credit.end_speculation(),
        }
    }

    /// A packet of so many bytes was trimmed, with so many in flight before.
    pub(super) fn on_nack(
        &mut self,
        parameters: &UetParameters,
        now: Time,
        size: u64,
        in_flight: u64,
    ) {
        match self {
            Control::Nscc(nscc) => nscc.on_nack(parameters, now, size, in_flight),
            Control::Fixed(_) => {}
            Control::Rccc(credit) => credit.end_speculation(),
        }
    }

    /// A packet of so many bytes was not answered in time.
    pub(super) fn on_timeout(&mut self, parameters: &UetParameters, size: u64) {
        if let Control::Nscc(nscc) = self {
            nscc.on_timeout(parameters, size);
        }
    }
}
