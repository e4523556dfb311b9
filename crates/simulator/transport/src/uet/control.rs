//! Bytes that a sender may have in flight, and send.

use super::nscc::{Acknowledged, Nscc, Trimmed};
use super::rccc::{Credit, full_packet};
use super::{UetParameters, WindowControl};

/// A window, credit, or both: a packet needs room in the one and some of the other.
///
/// With both (rules of the public uet-htsim) credit is asked for up to the window and a packet, and a
/// packet that was trimmed at the last hop, where credit acts, leaves the window as it is.
#[derive(Clone, Debug)]
pub(super) struct Control {
    window: Window,
    credit: Option<Credit>,
}

#[derive(Clone, Debug)]
enum Window {
    Nscc(Nscc),
    Fixed(u64),
    Open,
}

impl Control {
    pub(super) fn new(parameters: &UetParameters) -> Control {
        let window = match parameters.control {
            WindowControl::Nscc | WindowControl::NsccRccc => Window::Nscc(Nscc::new(parameters)),
            WindowControl::Fixed => Window::Fixed(parameters.window),
            WindowControl::Rccc => Window::Open,
        };
        let credit = parameters.control.grants_credit().then(|| Credit::new(parameters));
        Control { window, credit }
    }

    pub(super) fn credit(&self) -> Option<&Credit> {
        self.credit.as_ref()
    }

    pub(super) fn credit_mut(&mut self) -> Option<&mut Credit> {
        self.credit.as_mut()
    }

    /// Bytes on the wire that may be in flight; with credit alone, that may be sent.
    #[inline]
    pub(super) fn window(&self) -> u64 {
        match &self.window {
            Window::Nscc(nscc) => nscc.window(),
            Window::Fixed(window) => *window,
            Window::Open => self.credit.as_ref().map_or(u64::MAX, Credit::left),
        }
    }

    /// True if a packet may be sent. Of a window one may be in flight in any case.
    #[inline]
    pub(super) fn allows(&self, size: u64, in_flight: u64) -> bool {
        let has_room = match &self.window {
            Window::Open => true,
            _ => in_flight == 0 || in_flight + size <= self.window(),
        };
        has_room && self.credit.as_ref().is_none_or(|credit| credit.left() > 0)
    }

    /// Bytes for which credit is asked, where so many wait to be sent.
    pub(super) fn wanted(&self, parameters: &UetParameters, waiting: u64) -> u64 {
        match &self.window {
            Window::Open => waiting,
            _ => waiting.min(self.window() + full_packet(parameters)),
        }
    }

    pub(super) fn on_ack(&mut self, parameters: &UetParameters, ack: &Acknowledged) {
        if let Window::Nscc(nscc) = &mut self.window {
            nscc.on_ack(parameters, ack);
        }
        self.end_speculation();
    }

    /// A packet was trimmed; `at_last_hop` if by the switch of its receiver.
    pub(super) fn on_nack(
        &mut self,
        parameters: &UetParameters,
        trimmed: &Trimmed,
        at_last_hop: bool,
    ) {
        if let Window::Nscc(nscc) = &mut self.window {
            let is_spared = at_last_hop && self.credit.is_some();
            nscc.on_nack(parameters, trimmed, is_spared);
        }
        self.end_speculation();
    }

    fn end_speculation(&mut self) {
        if let Some(credit) = &mut self.credit {
            credit.end_speculation();
        }
    }

    /// A packet of so many bytes was not answered in time.
    pub(super) fn on_timeout(&mut self, parameters: &UetParameters, size: u64) {
        if let Window::Nscc(nscc) = &mut self.window {
            nscc.on_timeout(parameters, size);
        }
    }
}
