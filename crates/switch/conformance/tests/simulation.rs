//! Whole simulations of the papers' scenarios, with the policy in Rust and with the policy in C: the same events.
#![allow(clippy::unwrap_used, reason = "tests")]

use heddle_policy::{
    AssociationConfig, Counters, DreShift, Handshake, Header, HulaConfig, Ingress, LongFlows,
    MpHulaConfig, Nanos, Port, Ports, Probe, ProbeArrival, Scheme, Step, SwitchInfo, Tor, Update,
};
use heddle_scenario::{Scenario, Source, load};
use heddle_sim::{Next, Outcome, hula_config, mp_hula_config, simulate, simulate_with};
use heddle_switch_conformance::abi::{self, StepInput, StepKind, StepOutput};
use heddle_switch_conformance::{Native, convert, native};
use heddle_vectors as vectors;
use heddle_vectors::Target;

/// A switch of a simulation that runs the C.
struct InC(Native);

impl InC {
    fn new(info: &SwitchInfo, config: &vectors::Config) -> InC {
        let SwitchInfo { salt, tor, ports, tors, .. } = *info;
        let switch = vectors::SwitchInfo { salt, tor: tor.map(|tor| tor.0), ports, tors };
        InC(native(&switch, config).unwrap())
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
        let output = self.0.run(&StepInput {
            flow_hash: packet.flow_hash,
            dst_tor: packet.dst_tor.0,
            hops: convert::next_hops(next_hops.iter().map(|port| port.0)),
            up,
            shim: convert::shim(packet.shim.map(vectors::Shim::of)),
            from_host: (packet.ingress == Ingress::Host).into(),
            ..input(step, StepKind::Packet)
        });
        packet.shim = shim(output.shim);
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
        self.0.run(&convert::input(step.now, &vectors::Input::Handshake(packet)));
    }

    fn egress(&mut self, step: Step, packet: &mut Header) {
        let shim_in = convert::shim(packet.shim.map(vectors::Shim::of));
        let output = self.0.run(&StepInput { shim: shim_in, ..input(step, StepKind::Egress) });
        packet.shim = shim(output.shim);
    }

    fn originate(&mut self, step: Step) -> Option<Probe> {
        probe(&self.0.run(&input(step, StepKind::Originate)))
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
        probe(&self.0.run(&StepInput { probe: arrival, ..input(step, StepKind::Probe) }))
    }
}

fn input(step: Step, kind: StepKind) -> StepInput {
    StepInput { now: step.now, kind: kind as u32, ..StepInput::default() }
}

fn probe(output: &StepOutput) -> Option<Probe> {
    let abi::ProbeResult { tor, util, forward, .. } = output.probe;
    (forward != 0).then_some(Probe { tor: Tor(tor), util })
}

fn shim(shim: abi::Shim) -> Option<heddle_policy::Shim> {
    vectors::Shim { id: shim.id, subflow: shim.subflow }.policy()
}

/// Implements [`Scheme`] by the C with the parameters that `$config` makes of the policy's.
macro_rules! in_c {
    ($name:ident, $policy:ty, $config:path, $rust:ty, $handshakes:literal) => {
        struct $name(InC);

        impl Scheme for $name {
            type Config = $policy;
            const NEEDS_UTILISATION: bool = true;
            const READS_HANDSHAKES: bool = $handshakes;
            const USES_SHIM: bool = $handshakes;

            fn new(config: &$policy, info: &SwitchInfo) -> $name {
                $name(InC::new(info, &$config(config)))
            }

            fn dre_shift(config: &$policy) -> DreShift {
                <$rust>::dre_shift(config)
            }

            fn probe_period(config: &$policy) -> Option<Nanos> {
                <$rust>::probe_period(config)
            }

            fn forward(
                &mut self,
                step: Step,
                packet: &mut Header,
                next_hops: &[Port],
                ports: &mut impl Ports,
            ) -> Port {
                self.0.forward(step, packet, next_hops, ports)
            }

            fn handshake(&mut self, step: Step, packet: &Handshake<'_>) {
                self.0.handshake(step, packet);
            }

            fn egress(&mut self, step: Step, packet: &mut Header) {
                self.0.egress(step, packet);
            }

            fn originate(&mut self, step: Step) -> Option<Probe> {
                self.0.originate(step)
            }

            fn probe(
                &mut self,
                step: Step,
                arrival: &ProbeArrival,
                ports: &mut impl Ports,
            ) -> Option<Probe> {
                self.0.probe(step, arrival, ports)
            }

            fn state_bytes(&self) -> usize {
                0
            }

            fn counters(&self) -> Counters {
                self.0.0.counters()
            }
        }
    };
}

in_c!(HulaInC, HulaConfig, hula, heddle_policy::Hula, false);
in_c!(MpHulaInC, MpHulaConfig, mp_hula, heddle_policy::MpHula, true);

fn parameters(config: &HulaConfig) -> vectors::HulaParameters {
    vectors::HulaParameters {
        probe_period: config.probe_period,
        fail_after: config.fail_after,
        flowlet_gap: config.flowlet_gap,
        flowlet_slots: config.flowlet_slots as u32,
        util_bits: config.util_bits,
        update: match config.update {
            Update::Refresh => vectors::UpdateRule::Refresh,
            Update::Listing => vectors::UpdateRule::Listing,
        },
        local_detection: config.local_detection,
    }
}

fn hula(config: &HulaConfig) -> vectors::Config {
    vectors::Config::Hula(parameters(config))
}

fn mp_hula(config: &MpHulaConfig) -> vectors::Config {
    let AssociationConfig { slots, idle_after } = config.association;
    vectors::Config::MpHula(vectors::MpHulaParameters {
        hula: parameters(&config.hula),
        best_k: config.best_k as u32,
        mapping_rows: config.mapping_rows as u32,
        association: vectors::AssociationSizes { slots: slots as u32, idle_after },
        long_flows: match config.long_flows {
            LongFlows::Alike => vectors::LongFlowsRule::Alike,
            LongFlows::YieldBest => vectors::LongFlowsRule::YieldBest,
            LongFlows::Apart => vectors::LongFlowsRule::Apart,
        },
    })
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

fn assert_same(rust: &Outcome, c: &Outcome) {
    assert_eq!(rust.digest, c.digest, "events");
    assert_eq!(rust.flows, c.flows);
    assert_eq!(rust.scheme, c.scheme);
    assert!(rust.scheme.flowlets > 1_000 && rust.scheme.moves > 100, "{:?}", rust.scheme);
}

#[test]
fn hulas_scenario_has_the_same_events_in_c() {
    let scenario = scenario(include_str!("../../../../scenarios/hula-fig6.toml"), &[]);
    let heddle_scenario::Scheme::Hula(parameters) = &scenario.scheme else { panic!() };
    let rust = simulate(&scenario, 1, &mut |_| Next::Continue).unwrap();
    let config = hula_config(parameters);
    let c = simulate_with::<HulaInC>(&scenario, config, 1, &mut |_| Next::Continue).unwrap();
    assert_same(&rust, &c);
}

#[test]
fn mp_hulas_scenario_has_the_same_events_in_c() {
    let tables = [("scheme.association_slots", "4096"), ("scheme.mapping_rows", "4096")];
    let scenario = scenario(include_str!("../../../../scenarios/mp-hula-fig8.toml"), &tables);
    let heddle_scenario::Scheme::MpHula(parameters) = &scenario.scheme else { panic!() };
    let rust = simulate(&scenario, 1, &mut |_| Next::Continue).unwrap();
    let config = mp_hula_config(parameters);
    let c = simulate_with::<MpHulaInC>(&scenario, config, 1, &mut |_| Next::Continue).unwrap();
    assert_same(&rust, &c);
    assert!(rust.scheme.shims > 0 && rust.scheme.association.joins > 0, "{:?}", rust.scheme);
}
