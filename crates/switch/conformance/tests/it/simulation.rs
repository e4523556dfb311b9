//! Whole simulations of the papers' scenarios, with the policy in Rust and with the policy in C:
//! the same events.

use std::marker::PhantomData;

use heddle_policy::{
    Conga, Counters, DreShift, Handshake, Header, Hula, Ingress, LetItFlow, MpHula, Nanos, Port,
    Ports, Probe, ProbeArrival, Scheme, Shuttle, Step, SwitchInfo, Tor,
};
use heddle_scenario::{Scenario, Source, load};
use heddle_sim::{Next, Outcome, simulate, simulate_with};
use heddle_switch_conformance::abi::{self, StepInput, StepKind, StepOutput};
use heddle_switch_conformance::{Native, convert};
use heddle_switch_maps::Parameters;
use heddle_switch_maps::abi::SwitchScheme;
use heddle_vectors::{self as vectors, Target as _};

/// A switch of a simulation that runs the scheme `S` in C.
struct InC<S> {
    native: Native,
    /// Ports whose load the scheme reads: all or none.
    loaded: u16,
    of: PhantomData<S>,
}

impl<S> InC<S> {
    /// The load of the switch's ports now.
    fn load(&self, ports: &mut impl Ports) -> [abi::PortLoad; 64] {
        let mut load = [abi::PortLoad::default(); 64];
        for (port, to) in (0..self.loaded).map(Port).zip(&mut load) {
            let (queue, util) = (ports.queue_bytes(port), ports.tx_util(port));
            *to = abi::PortLoad { queue, util, pad: 0 };
        }
        load
    }
}

impl<S: Scheme> Scheme for InC<S>
where
    Parameters: for<'a> From<&'a S::Config>,
{
    type Config = S::Config;
    const NEEDS_RANDOM: bool = S::NEEDS_RANDOM;
    const NEEDS_UTILISATION: bool = true;
    const READS_HANDSHAKES: bool = S::READS_HANDSHAKES;
    const USES_SHIM: bool = S::USES_SHIM;

    fn new(config: &S::Config, info: &SwitchInfo) -> InC<S> {
        let SwitchInfo { salt, tor, ports, tors, .. } = *info;
        let switch = vectors::SwitchInfo { salt, tor: tor.map(|tor| tor.0), ports, tors };
        let parameters = Parameters::from(config);
        let reads = matches!(parameters.scheme, SwitchScheme::Shuttle | SwitchScheme::Conga);
        let native = Native::new(convert::step_config(&switch, &parameters).unwrap()).unwrap();
        InC { native, loaded: if reads { ports } else { 0 }, of: PhantomData }
    }

    fn dre_shift(config: &S::Config) -> DreShift {
        S::dre_shift(config)
    }

    fn probe_period(config: &S::Config) -> Option<Nanos> {
        S::probe_period(config)
    }

    fn forward(
        &mut self,
        step: Step,
        packet: &mut Header,
        next_hops: &[Port],
        ports: &mut impl Ports,
    ) -> Port {
        let up = next_hops
            .iter()
            .filter(|&&port| ports.is_up(port))
            .fold(0, |up, port| up | 1 << port.0);
        let load = self.load(ports);
        let output = self.native.run(&StepInput {
            flow_hash: packet.flow_hash,
            dst_tor: packet.dst_tor.0,
            hops: convert::next_hops(next_hops.iter().map(|port| port.0)),
            up,
            shim: convert::shim(packet.shim.map(vectors::Shim::of)),
            tag: packet.tag,
            from_host: (packet.ingress == Ingress::Host).into(),
            load,
            ..input(step, StepKind::Packet)
        });
        packet.shim = shim(output.shim);
        packet.tag = output.tag;
        Port(output.port)
    }

    fn handshake(&mut self, step: Step, packet: &Handshake<'_>) {
        let from = match packet.ingress {
            Ingress::Host => vectors::Side::Host,
            Ingress::Fabric => vectors::Side::Fabric,
        };
        let packet = vectors::HandshakePacket {
            out_hash: packet.out_hash,
            from,
            flags: packet.flags.0,
            options: packet.options.to_vec(),
        };
        self.native.run(&convert::input(step.now, step.rnd, &vectors::Input::Handshake(packet)));
    }

    fn egress(&mut self, step: Step, packet: &mut Header) {
        let shim_in = convert::shim(packet.shim.map(vectors::Shim::of));
        let output = self.native.run(&StepInput {
            shim: shim_in,
            src_tor: packet.src_tor.0,
            tag: packet.tag,
            ..input(step, StepKind::Egress)
        });
        packet.shim = shim(output.shim);
        packet.tag = 0;
    }

    fn originate(&mut self, step: Step) -> Option<Probe> {
        probe(&self.native.run(&input(step, StepKind::Originate)))
    }

    fn probe(
        &mut self,
        step: Step,
        arrival: &ProbeArrival,
        ports: &mut impl Ports,
    ) -> Option<Probe> {
        let arrival = abi::ProbeArrival {
            port: arrival.port.0,
            tor: arrival.probe.tor.0,
            util: arrival.probe.util,
            link_util: ports.tx_util(arrival.port),
            next_hop: arrival.is_next_hop.into(),
            ..abi::ProbeArrival::default()
        };
        let load = self.load(ports);
        probe(&self.native.run(&StepInput { probe: arrival, load, ..input(step, StepKind::Probe) }))
    }

    fn state_bytes(&self) -> usize {
        0
    }

    fn counters(&self) -> Counters {
        self.native.counters()
    }
}

fn input(step: Step, kind: StepKind) -> StepInput {
    StepInput { now: step.now, random: step.rnd, kind: kind as u32, ..StepInput::default() }
}

fn probe(output: &StepOutput) -> Option<Probe> {
    let abi::ProbeResult { tor, util, forward, .. } = output.probe;
    (forward != 0).then_some(Probe { tor: Tor(tor), util })
}

fn shim(shim: abi::Shim) -> Option<heddle_policy::Shim> {
    vectors::Shim { id: shim.id, subflow: shim.subflow }.policy()
}

/// A scenario of the papers, shorter, and with tables of a size that the C has in tests.
fn scenario(text: &'static str, tables: &[(&str, &str)]) -> Scenario {
    let short =
        [("measure.flows", "300"), ("measure.warm_up", "2ms"), ("scheme.flowlet_slots", "4096")];
    let source = short
        .iter()
        .chain(tables)
        .fold(Source::new("scenario.toml", text), |source, (key, value)| source.with(*key, *value));
    let no_files = |path: &str| Err(std::io::Error::other(path.to_owned()));
    load(&source, &no_files).unwrap()
}

/// Simulates the scenario with the scheme `S` in Rust and in C: the same events.
fn same<S: Scheme>(scenario: &Scenario, config: S::Config) -> Outcome
where
    Parameters: for<'a> From<&'a S::Config>,
{
    let rust = simulate(scenario, 1, &mut |_| Next::Continue).unwrap();
    let c = simulate_with::<InC<S>>(scenario, config, 1, &mut |_| Next::Continue).unwrap();
    assert_eq!(rust.digest, c.digest, "events");
    assert_eq!(rust.flows, c.flows);
    assert_eq!(rust.scheme, c.scheme);
    assert!(rust.scheme.flowlets > 1_000 && rust.scheme.moves > 100, "{:?}", rust.scheme);
    rust
}

#[test]
fn hulas_scenario_has_the_same_events_in_c() {
    let scenario = scenario(include_str!("../../../../../scenarios/hula-fig6.toml"), &[]);
    let heddle_scenario::Scheme::Hula(config) = scenario.scheme else { panic!() };
    same::<Hula>(&scenario, config);
}

#[test]
fn let_it_flow_on_hulas_scenario_has_the_same_events_in_c() {
    let tables = [("scheme", "{ kind = \"letitflow\" }"), ("scheme.flowlet_slots", "4096")];
    let scenario = scenario(include_str!("../../../../../scenarios/hula-fig6.toml"), &tables);
    let heddle_scenario::Scheme::LetItFlow(config) = scenario.scheme else { panic!() };
    same::<LetItFlow>(&scenario, config);
}

/// Two leaves with 8 hosts each and 4 spines, one of whose links has half the rate of the others.
#[test]
fn conga_has_the_same_events_in_c() {
    let tables = [
        ("scheme", "{ kind = \"conga\" }"),
        ("scheme.flowlet_slots", "4096"),
        (
            "fabric",
            "{ kind = \"leaf-spine\", hosts_per_leaf = 8, link = [{ between = \"leaf-1 spine-1\", rate = \"5Gbps\" }] }",
        ),
        ("event", "[]"),
        ("workload.load", "0.4"),
        ("measure.flows", "900"),
    ];
    let scenario = scenario(include_str!("../../../../../scenarios/hula-fig6.toml"), &tables);
    let heddle_scenario::Scheme::Conga(config) = scenario.scheme else { panic!() };
    same::<Conga>(&scenario, config);
}

#[test]
fn mp_hulas_scenario_has_the_same_events_in_c() {
    let tables = [("scheme.association_slots", "4096"), ("scheme.mapping_rows", "4096")];
    let scenario = scenario(include_str!("../../../../../scenarios/mp-hula-fig8.toml"), &tables);
    let heddle_scenario::Scheme::MpHula(config) = scenario.scheme else { panic!() };
    let rust = same::<MpHula>(&scenario, config);
    assert!(rust.scheme.shims > 0 && rust.scheme.association.joins > 0, "{:?}", rust.scheme);
}

/// Loads are inputs as the simulated ports have them: the queue at the instant of a decision, too.
#[test]
fn shuttle_on_mp_hulas_scenario_has_the_same_events_in_c() {
    for scheme in ["{ kind = \"shuttle\" }", "{ kind = \"shuttle\", draws = 2 }"] {
        let tables = [
            ("scheme", scheme),
            ("scheme.flowlet_slots", "4096"),
            ("scheme.association_slots", "4096"),
            ("scheme.mapping_rows", "4096"),
        ];
        let scenario =
            scenario(include_str!("../../../../../scenarios/mp-hula-fig8.toml"), &tables);
        let heddle_scenario::Scheme::Shuttle(config) = scenario.scheme else { panic!() };
        let rust = same::<Shuttle>(&scenario, config);
        assert!(rust.scheme.shims > 0 && rust.scheme.association.joins > 0, "{:?}", rust.scheme);
    }
}
