//! The limits of a real kernel: keys that are refused if a scenario gives them, and defaults that
//! are replaced and said.

use heddle_config::{ConfigError, Problem};
use heddle_scenario::{
    Connections, Entropy, Event, Placing, Scenario, Scheme, Source, Transport, Workload,
};
use heddle_transport::mptcp::{Coupling, FullWindow, JoinTime, MptcpConfig, Scheduler};
use heddle_transport::{Control, MeasuredWindow, ReorderingWindow};
use heddle_units::{Bytes, Time};
use heddle_wire::Version;
use serde::Serialize;

use crate::plane::Kind;
use crate::settings;

/// A difference between the scenario as written and as run, in a sentence.
pub type Note = String;

/// A scenario as a kernel can run it.
#[derive(Clone, Debug, Serialize)]
pub struct Possible {
    /// The scenario.
    pub scenario: Scenario,
    /// The differences from the file.
    pub notes: Vec<Note>,
}

/// Subflows that Linux opens for a connection, the first included.
const MOST_SUBFLOWS: u8 = 8;

/// RACK's reordering window in the kernel.
const KERNELS_WINDOW: ReorderingWindow = ReorderingWindow::Measured(MeasuredWindow::Adaptive);

/// Shortest time between two samples that threads keep up with.
const LEAST_SAMPLING: Time = Time::millis(5);

/// Checks a scaled scenario against what a kernel and a data plane can do. `source` is the file
/// that it was read from.
///
/// # Errors
/// The first key that the file gives and a kernel cannot honour, with the fix.
pub fn check(source: &Source, scaled: &Scenario, plane: Kind) -> Result<Possible, ConfigError> {
    let document = heddle_scenario::document(source)?;
    let mut check = Check { given: &|key| document.contains(key), notes: Vec::new() };
    let possible = check.all(scaled, plane).map_err(|problem| document.locate(problem))?;
    Ok(Possible { scenario: possible, notes: check.notes })
}

/// Agents on hosts send one workload.
fn workload(workload: &Workload) -> Result<(), Problem> {
    match workload {
        Workload::Several(_) => Err(Problem::at(
            "workload",
            "the lab runs one workload, of the scenario's `[transport]`",
        )
        .help("a `[workload]` without `name` and `transport`")),
        Workload::Collective(_) | Workload::FlowGraph(_) | Workload::Requests(_) => {
            Err(Problem::at("workload.kind", "the lab's hosts send no flows that wait for others")
                .help("\"flows\", \"long\" or \"replay\""))
        }
        Workload::Flows(flows) => match flows.connections {
            Connections::Pool | Connections::ClosedLoop(_) => Err(Problem::at(
                "workload.connections",
                "the lab's hosts have neither pools nor closed loops",
            )
            .help("\"persistent\" or \"per-flow\"")),
            Connections::Persistent(_) | Connections::PerFlow => Ok(()),
        },
        _ => Ok(()),
    }
}

/// Links of the lab fail and recover.
fn events(events: &[Event]) -> Result<(), Problem> {
    match events.iter().position(|event| event.change.is_up().is_none()) {
        Some(index) => {
            Err(Problem::at(&format!("event.{index}"), "the lab's links are up or down")
                .help("`fail` and `recover`"))
        }
        None => Ok(()),
    }
}

/// Hosts of the lab leave the choice of paths to switches.
fn entropy(entropy: &Entropy) -> Result<(), Problem> {
    if *entropy == Entropy::Flow {
        return Ok(());
    }
    let message = "the lab's hosts choose no entropy values (Linux's PLB changes IPv6 flow labels, and they speak IPv4)";
    Err(Problem::at("entropy", message).help("`entropy = \"flow\"`"))
}

struct Check<'a> {
    /// True of a key that the file has.
    given: &'a dyn Fn(&str) -> bool,
    notes: Vec<Note>,
}

impl Check<'_> {
    fn all(&mut self, scaled: &Scenario, plane: Kind) -> Result<Scenario, Problem> {
        plane.check(scaled)?;
        workload(&scaled.workload)?;
        events(&scaled.events)?;
        entropy(&scaled.entropy)?;
        let mut possible = scaled.clone();
        self.steering(&mut possible)?;
        self.fabric(&mut possible)?;
        self.transport(&mut possible.transport)?;
        self.sampling(&mut possible)?;
        Ok(possible)
    }

    /// Refuses a key that the file gives; a default is replaced with a note.
    fn refuse(&mut self, key: &str, reason: &str, fix: &str) -> Result<(), Problem> {
        if (self.given)(key) {
            return Err(Problem::at(key, reason).help(fix));
        }
        self.notes.push(format!("{key}: {reason}"));
        Ok(())
    }

    fn fabric(&mut self, scenario: &mut Scenario) -> Result<(), Problem> {
        if scenario.fabric.graph.interfaces() > 1 {
            return Err(Problem::at("fabric.interfaces", "the lab's hosts have one interface")
                .help("--set fabric.interfaces=1 --set fabric.tors_per_host=1"));
        }
        if scenario.fabric.shared_buffer.is_some() {
            let message = "the lab's links have a buffer each, which their shaper holds";
            return Err(Problem::at("fabric.shared_buffer", message).help("`port_buffer`"));
        }
        if scenario.fabric.red.is_some() {
            let message = "this lab's links do not mark (they have no RED)";
            return Err(Problem::at("fabric.red", message).help("leave it out"));
        }
        if scenario.fabric.scale_buffers.is_some() {
            let message = "the lab's links have one buffer for all rates";
            return Err(Problem::at("fabric.scale_buffers", message).help("leave it out"));
        }
        if scenario.fabric.priority_bytes.is_some() {
            let message = "the lab's links have one queue each";
            return Err(Problem::at("fabric.priority_bytes", message).help("leave it out"));
        }
        if scenario.fabric.control_first {
            let message = "the lab's links have one queue each";
            return Err(Problem::at("fabric.control_first", message).help("leave it out"));
        }
        if scenario.fabric.non_minimal.is_some() {
            let message = "the lab's packets take minimal paths between groups";
            return Err(Problem::at("fabric.routing", message).help("--set fabric.routing=minimal"));
        }
        let marks = [scenario.fabric.port, scenario.fabric.host_port];
        if marks.iter().any(|port| port.mark_above.is_some()) {
            let fix = "take another control than \"dctcp\", and no `mark_above`";
            self.refuse(
                "fabric.mark_above",
                "this lab's links do not mark (they have no RED)",
                fix,
            )?;
            (scenario.fabric.port.mark_above, scenario.fabric.host_port.mark_above) = (None, None);
        }
        let longest = scenario.fabric.graph.links.iter().map(|link| link.delay).max();
        if let Some(delay) = longest.filter(|&delay| delay > Time::ZERO) {
            let reason = format!(
                "links here have no delay but the kernel's own, some tens of us a hop: {delay} cannot be kept (there is no netem)"
            );
            self.refuse("fabric.link_delay", &reason, "--set fabric.link_delay=0us")?;
            scenario.fabric.graph.links.iter_mut().for_each(|link| link.delay = Time::ZERO);
        }
        Ok(())
    }

    /// Agents place every connection, whatever it has to send, each for its own host.
    fn steering(&mut self, scenario: &mut Scenario) -> Result<(), Problem> {
        let Scheme::Cflb(cflb) = &mut scenario.scheme else { return Ok(()) };
        if cflb.elephants > Bytes(0) {
            let reason = "agents on the hosts place all connections of several subflows";
            self.refuse("scheme.elephants", reason, "elephants = \"0B\"")?;
            cflb.elephants = Bytes(0);
        }
        if cflb.placing != Placing::FewestFlows {
            let reason = "agents know no rates";
            self.refuse("scheme.placing", reason, "placing = \"fewest-flows\"")?;
            cflb.placing = Placing::FewestFlows;
        }
        self.notes.push(
            "scheme: the first subflow's path is that of the port that the kernel chose; agents place the others".into(),
        );
        Ok(())
    }

    fn transport(&mut self, transport: &mut Transport) -> Result<(), Problem> {
        if let Transport::Mptcp(mptcp) = transport {
            self.mptcp(mptcp)?;
        }
        let tcp = match transport {
            Transport::Tcp(tcp) => tcp,
            Transport::Mptcp(mptcp) => &mut mptcp.tcp,
            Transport::Uet(_) => {
                let message = "the lab's hosts speak the kernel's TCP and MPTCP";
                return Err(Problem::at("transport.kind", message).help("\"tcp\" or \"mptcp\""));
            }
        };
        if tcp.control == Control::Dctcp {
            let reason = "links here do not mark, which DCTCP needs";
            return Err(
                Problem::at("transport.control", reason).help("control = \"newreno\" or \"cubic\"")
            );
        }
        if tcp.pacing.is_some() {
            let message = "the lab's hosts do not pace (Linux does with `fq` or BBR)";
            return Err(Problem::at("transport.pacing", message).help("`pacing = false`"));
        }
        if tcp.output_limit.is_some() {
            let message = "the kernel limits its own queues (`net.ipv4.tcp_limit_output_bytes`)";
            return Err(Problem::at("transport.output_limit", message).help("leave it out"));
        }
        if tcp.reordering_window.is_some_and(|window| window != KERNELS_WINDOW) {
            let message = "the kernel has RFC 8985's";
            return Err(Problem::at("transport.reordering_window", message)
                .help("reordering_window = \"adaptive\""));
        }
        if tcp.preamble_and_gap {
            let message = "the lab's links count frames alone";
            return Err(Problem::at("transport.preamble_and_gap", message).help("leave it out"));
        }
        if tcp.delayed_ack.is_some() {
            let reason = "the kernel's delay of acknowledgements is its own";
            self.refuse(
                "transport.delayed_ack",
                reason,
                "leave it out: every segment is acknowledged",
            )?;
            tcp.delayed_ack = None;
        }
        let syn = Some(Time::secs(1));
        if tcp.initial_rto != syn {
            self.refuse("transport.initial_rto", "the kernel's is 1s", "initial_rto = \"1s\"")?;
            tcp.initial_rto = syn;
        }
        self.bounded("transport.min_rto", tcp.min_rto, settings::min_rto(tcp))?;
        tcp.min_rto = settings::min_rto(tcp);
        let max_rto = settings::max_rto(tcp);
        if (self.given)("transport.max_rto") {
            self.bounded("transport.max_rto", tcp.max_rto, max_rto)?;
        }
        tcp.max_rto = max_rto;
        Ok(())
    }

    /// Refuses a timeout that the kernel would bound.
    fn bounded(&mut self, key: &str, wanted: Time, kept: Time) -> Result<(), Problem> {
        if wanted == kept {
            return Ok(());
        }
        self.notes.push(format!("{key}: {wanted} after scaling; the kernel's bound is {kept}"));
        Ok(())
    }

    fn mptcp(&mut self, mptcp: &mut MptcpConfig) -> Result<(), Problem> {
        if mptcp.coupling != Coupling::Uncoupled {
            let reason = "Linux does not couple the windows of subflows";
            self.refuse("transport.coupling", reason, "coupling = \"uncoupled\"")?;
            mptcp.coupling = Coupling::Uncoupled;
        }
        if mptcp.scheduler != Scheduler::LowestRtt {
            let reason = "Linux has its default scheduler only, which is nearest to \"lowest-rtt\"";
            self.refuse("transport.scheduler", reason, "scheduler = \"lowest-rtt\"")?;
        }
        if mptcp.join != JoinTime::AfterData {
            let reason = "Linux opens further subflows after the first data";
            self.refuse("transport.join", reason, "join = \"after-data\"")?;
        }
        if mptcp.full_window != FullWindow::Wait {
            let reason = "Linux neither retransmits nor penalises when the receive window is full";
            self.refuse("transport.full_window", reason, "full_window = \"wait\"")?;
        }
        if mptcp.subflow_window.is_some() {
            let reason = "Linux has no window of a subflow beside the connection's";
            self.refuse("transport.subflow_window", reason, "leave it out")?;
        }
        if mptcp.version != Version::V1 {
            let reason = "Linux speaks RFC 8684 only";
            self.refuse("transport.version", reason, "version = 1")?;
        }
        if mptcp.subflows > MOST_SUBFLOWS {
            let reason = format!("Linux opens at most {MOST_SUBFLOWS}");
            self.refuse("transport.subflows", &reason, &format!("subflows = {MOST_SUBFLOWS}"))?;
        }
        Ok(())
    }

    fn sampling(&mut self, scenario: &mut Scenario) -> Result<(), Problem> {
        if scenario.measure.warm_up_limit.is_some() {
            let reason = "the lab's warm-up has a fixed length";
            return Err(Problem::at("measure.warm_up_limit", reason).help("leave it out"));
        }
        if scenario.measure.sample.is_some() {
            let reason = "the lab samples the links between switches";
            return Err(Problem::at("measure.sample", reason).help("leave it out"));
        }
        let Some(every) = scenario.measure.sample_every else { return Ok(()) };
        if every < LEAST_SAMPLING {
            self.notes.push(format!("measure.sample_every: {LEAST_SAMPLING} instead of {every}"));
            scenario.measure.sample_every = Some(LEAST_SAMPLING);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
