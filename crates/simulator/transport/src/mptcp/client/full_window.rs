//! A full receive window: data of a slow subflow is missing at its left edge, and a faster subflow
//! could send. Opportunistic retransmission and penalising of slow subflows (Raiciu et al., How
//! hard can it be? Designing and implementing a deployable multipath TCP, NSDI 2012, section 4.2),
//! with the conditions of the default scheduler of multipath-tcp.org's Linux (0.9x,
//! net/mptcp/mptcp_sched.c).

use core::ops::Range;

use super::Client;
use crate::Segment;
use crate::mptcp::{Context, FullWindow};

/// A slower subflow's segment is sent again if its round-trip time is more than this many times the
/// faster one's...
const SLOWER: u64 = 4;

/// ... or if its congestion window has at most so many segments.
const SMALL_WINDOW: u64 = 4;

impl Client {
    /// The first missing segment, once more on the fastest subflow that could send, if the receive
    /// window has no room for new data.
    #[inline]
    pub(super) fn next_past_full_window(&mut self, cx: &Context) -> Option<(usize, Segment)> {
        if cx.config.full_window == FullWindow::Wait || !self.is_window_full(cx) {
            return None;
        }
        self.pass_full_window(cx)
    }

    fn is_window_full(&self, cx: &Context) -> bool {
        let end = self.written.min(self.nxt.saturating_add(u64::from(cx.subflow.mss)));
        self.nxt < self.written && end > self.window_end
    }

    #[cold]
    fn pass_full_window(&mut self, cx: &Context) -> Option<(usize, Segment)> {
        let path = (0..self.subflows.len())
            .filter(|path| self.subflows.status(*path).can_send)
            .min_by_key(|path| self.subflows.status(*path).srtt)?;
        if cx.config.full_window == FullWindow::Penalise {
            self.penalise_slower(cx, path);
        }
        let data = self.missing_for(cx, path)?;
        self.reinjected += data.end - data.start;
        let segment = self
            .subflows
            .update(cx.subflow, path, |subflow| subflow.send(cx.subflow, cx.now, data))?;
        Some((path, segment))
    }

    /// Halves the windows of slower subflows that carry the first missing byte and recover from no
    /// loss, once in a round-trip time of `fast`.
    fn penalise_slower(&mut self, cx: &Context, fast: usize) {
        let (srtt, last) = (self.subflows.status(fast).srtt, self.subflows.get(fast).penalised_at);
        if cx.now.saturating_sub(last) < srtt {
            return;
        }
        for path in 0..self.subflows.len() {
            let is_slower = self.subflows.status(path).srtt > srtt;
            let is_recovering = self.subflows.get(path).sender.is_recovering();
            if path == fast || !is_slower || is_recovering || self.missing_on(cx, path).is_none() {
                continue;
            }
            self.penalties += 1;
            let (path_states, coupling) = (&mut self.path_states, cx.config.coupling);
            self.subflows.update(cx.subflow, path, |subflow| {
                subflow.sender.penalise(u64::from(cx.subflow.mss));
                path_states.update(coupling, path, &subflow.sender);
            });
            self.subflows.update(cx.subflow, fast, |subflow| subflow.penalised_at = cx.now);
        }
    }

    /// The first missing segment, if `fast` has not carried it and all subflows that have are much
    /// slower, or have small windows.
    fn missing_for(&self, cx: &Context, fast: usize) -> Option<Range<u64>> {
        if self.missing_on(cx, fast).is_some() {
            return None;
        }
        let limit = self.subflows.status(fast).srtt * SLOWER;
        let small = SMALL_WINDOW * u64::from(cx.subflow.mss);
        let mut missing = None;
        for path in 0..self.subflows.len() {
            let Some(data) = self.missing_on(cx, path) else { continue };
            if self.subflows.get(path).sender.cwnd() > small
                && self.subflows.status(path).srtt <= limit
            {
                return None;
            }
            missing = missing.or(Some(data));
        }
        missing
    }

    /// The connection's first unacknowledged bytes, at most a segment, if a subflow has them in
    /// flight.
    fn missing_on(&self, cx: &Context, path: usize) -> Option<Range<u64>> {
        let subflow = self.subflows.get(path);
        let in_flight = subflow.sender.acked()..subflow.sender.written();
        let found = subflow.mappings.ranges(in_flight).find(|data| data.contains(&self.una))?;
        Some(self.una..found.end.min(self.una + u64::from(cx.subflow.mss)))
    }
}
