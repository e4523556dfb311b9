//! The end of a run: counters are read, and become results.

use std::time::Duration;

use heddle_claims::stats::quantile;
use heddle_sim::PathUse;
use heddle_units::Time;

use super::Run;
use crate::EmulationError;
use crate::host::Order;
use crate::outcome::{Counted, LabOutcome, TcpCounters, outcome};

/// Longest time that a host takes for an answer.
const ANSWER: Duration = Duration::from_secs(60);

impl Run<'_> {
    pub(super) fn finish(mut self, before: TcpCounters) -> Result<LabOutcome, EmulationError> {
        let end = self.now();
        self.count()?;
        let (before_window, delivered) = self.flows.delivered();
        let tcp = TcpCounters::read(self.network, &self.hosts)?.since(before);
        let path_use = self.path_use(end);
        let plane = self.plane.counters(self.network)?;
        let paths = self.plane.paths(self.network, self.start)?;
        let sampled = self.sampler.finish()?;
        self.late.sort_by(f64::total_cmp);
        self.facts.late_median = quantile(&self.late, 0.5).unwrap_or(0.0);
        self.facts.late_p99 = quantile(&self.late, 0.99).unwrap_or(0.0);
        let counted = Counted {
            started: self.flows.started_until(end),
            end,
            window: end.saturating_sub(self.flows.measured_from()),
            delivered,
            delivered_in_window: delivered - before_window,
            unfinished: self.flows.unfinished(),
            long_flows: self.flows.long(end),
            path_use,
        };
        let finished = self.flows.finished();
        let outcome = outcome(self.network, &self.routes, finished, counted, tcp, sampled, plane);
        for warning in self.facts.warnings() {
            self.monitor.warning(&warning);
        }
        let Run { facts, start, cuts, .. } = self;
        Ok(LabOutcome { outcome, facts, start, paths, cuts })
    }

    /// Counts the bytes that all hosts have received.
    fn count(&mut self) -> Result<(), EmulationError> {
        if self.agenda.is_warming_up() {
            self.hosts.order_all(&Order::Count)?;
        }
        self.hosts.order_all(&Order::Count)?;
        while !self.flows.are_counted() {
            let Some((host, report)) = self.hosts.next(ANSWER)? else {
                let (host, what) = ("a host".into(), "does not answer".into());
                return Err(EmulationError::Host { host, what });
            };
            self.take(host, report);
        }
        Ok(())
    }

    fn path_use(&mut self, end: Time) -> Option<PathUse> {
        let observed = self.observer.take()?.finish();
        let every = self.network.scenario.measure.sample_every?.as_nanos() / 1_000_000;
        let millis = |at: Time| (self.start + at.as_nanos()) / 1_000_000;
        let window = (millis(self.flows.measured_from()), millis(end));
        Some(observed.path_use(&self.network.scenario.fabric.graph, every, window))
    }
}
