//! The default of `transport.reordering_window`: RFC 8985's, unless packets of one flow take several
//! paths at once.

use heddle_transport::{LossDetection, MeasuredWindow, ReorderingWindow};

use crate::{Entropy, Fabric, GroupDraw, Scheme, Transport, Workload};

/// Fills in the defaults of all protocols.
pub(super) fn complete(transport: &mut Transport, workload: &mut Workload, paths: &Paths<'_>) {
    if !paths.are_by_packet() {
        return;
    }
    fill(transport);
    if let Workload::Several(parts) = workload {
        parts.iter_mut().filter_map(|part| part.transport.as_mut()).for_each(fill);
    }
}

fn fill(transport: &mut Transport) {
    let tcp = match transport {
        Transport::Tcp(tcp) => tcp,
        Transport::Mptcp(mptcp) => &mut mptcp.tcp,
        Transport::Uet(_) => return,
    };
    if tcp.loss_detection == LossDetection::Rack {
        let whole = ReorderingWindow::Measured(MeasuredWindow::Srtt);
        tcp.reordering_window.get_or_insert(whole);
    }
}

/// The chooser of packets' paths.
pub(super) struct Paths<'a> {
    pub(super) scheme: &'a Scheme,
    pub(super) entropy: &'a Entropy,
    pub(super) fabric: &'a Fabric,
}

impl Paths<'_> {
    /// True if each packet has a path of its own.
    fn are_by_packet(&self) -> bool {
        let by_switches = matches!(self.scheme, Scheme::Spray | Scheme::Drill(_));
        let by_hosts = matches!(self.entropy, Entropy::Spray | Entropy::Bitmap | Entropy::Reps(_));
        let by_groups = self.fabric.non_minimal.is_some_and(|way| way.draw == GroupDraw::Packet);
        by_switches || by_hosts || by_groups
    }
}
